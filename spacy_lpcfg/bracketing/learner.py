"""Learner of bracketers from tagged text: algorithm 1 of Parikh, Cohen and Xing (2014), followed by self-training.

The default variant goes beyond the paper: coarser anchors (groups of tags), more singular values, a distance for
punctuation, square roots of counts in the CCA, and self-training. The variant "2014" (also called "paper") has none of
these, and the paper's m = 7 and gamma = 0.4 (section 4.1).

Differs from the paper in all variants:

1. The kernel takes the absolute value of the difference of two distances (`metric.py`).
2. A covariance of smaller rank than m backs off to the covariance of all tags.
3. Distances are clipped to `n_distances`, in the paper's variant 60, the greatest length of a piece of a sentence.
4. Covariances are collected for distances up to 1.5 times `n_distances`, where the paper's kernel reaches 2.3 times as
   far.
5. The CCA is learned from the text itself, for words that occur three times or more; other words are represented by
   their tag.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.bracketing.bracketer import Bracketer
from spacy_lpcfg.bracketing.extensions.groups import TagGroups
from spacy_lpcfg.bracketing.extensions.learned_top import learn_top
from spacy_lpcfg.bracketing.extensions.sampling import sample
from spacy_lpcfg.bracketing.extensions.self_training import MAX_SENTENCES, SelfTraining, Text, train, tree_mask
from spacy_lpcfg.bracketing.extensions.span_model import SpanModel
from spacy_lpcfg.bracketing.extensions.symbols import Symbols
from spacy_lpcfg.bracketing.paper.anchors import PaperAnchors, TagAnchors
from spacy_lpcfg.bracketing.paper.covariances import covariances
from spacy_lpcfg.bracketing.paper.embeddings import CCA, Embedder
from spacy_lpcfg.bracketing.paper.metric import distance_table
from spacy_lpcfg.bracketing.paper.metric_model import MetricModel
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import Chunk, Plain, Sentence, chunks, plain
from spacy_lpcfg.checks import COUNT, POSITIVE, at_least
from spacy_lpcfg.variants import Variants

Sentences = Callable[[], Iterable[Sentence]]
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class SpectralBracketer(Variants):
    """Learner of a bracketer. The defaults are the most accurate; `variant("paper")` is the paper's algorithm.

    embedding (Embedder): Learner of word vectors: `CCA`, `Brown` or `GivenVectors`.
    anchors (TagAnchors): Grouping of tags; positions with equal groups share covariances.
    m (int): Number of singular values of a covariance matrix that a distance uses.
    gamma (float): Bandwidth of the kernel.
    n_distances (int): Distances between words are clipped to this number.
    min_pairs (float): Pairs of anchors with fewer word pairs at a distance back off to the covariance of all tags.
    apart (float): Distance that is added if there is punctuation between two words.
    self_training (SelfTraining or bool): Settings of self-training on the spectral trees; True for the defaults, False
        for none.
    n_jobs (int or None): Number of joblib workers that sum covariances; None for the number of
        `joblib.parallel_config`, or 1. The result does not depend on it.
    RAISES (ValueError): If a setting is out of range.
    """

    embedding: Embedder = CCA()
    anchors: TagAnchors = TagGroups()
    m: int = 10
    gamma: float = 0.4
    n_distances: int = 40
    min_pairs: float = 50.0
    apart: float = 10.0
    self_training: SelfTraining | bool = True
    n_jobs: int | None = None

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "2014": {
                "embedding": CCA(roots=False),
                "anchors": PaperAnchors(),
                "m": 7,
                "n_distances": 60,
                "min_pairs": 0.0,
                "apart": 0.0,
                "self_training": False,
            }
        }
    )

    def __post_init__(self) -> None:
        if self.self_training is True:
            object.__setattr__(self, "self_training", SelfTraining())
        at_least(0)(min_pairs=self.min_pairs)
        COUNT(m=self.m, n_distances=self.n_distances)
        POSITIVE(gamma=self.gamma)

    def fit(self, sentences: Sentences, *, seed: int = 0, progress: Progress | None = None) -> Bracketer:
        """Learn a bracketer from tagged text.

        sentences (callable): Returns an iterable of (words, tags) of all sentences, anew at every call, so that only a
            sample for self-training is kept in memory.
        seed (int): Seed of all random choices.
        progress (callable or None): Called with the name of a step, and the number of sentences or rounds done so far.
        RAISES (ValueError): If there is too little text for the settings; the message says how much is needed.
        """
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="blas"):  # makes sums reproducible on any machine
            return self._fit(sentences, seed, progress or (lambda step, n: None))

    def _fit(self, sentences: Sentences, seed: int, say: Progress) -> Bracketer:
        metric = self._metric(sentences, seed, say)
        meta: dict[str, Any] = {"embedding": type(self.embedding).__name__, "m": self.m, "gamma": self.gamma}
        meta |= {"groups": metric.groups.tolist(), "apart": self.apart, "rounds": 0}
        if not isinstance(self.self_training, SelfTraining):
            return Bracketer(metric, None, meta)
        spans, n_sentences = self._span_model(sentences, metric, self.self_training, seed, say)
        meta |= {"rounds": self.self_training.n_rounds, "trees": n_sentences}
        return Bracketer(metric, spans, meta)

    def _metric(self, sentences: Sentences, seed: int, say: Progress) -> MetricModel:
        def read(step: str) -> Iterator[Chunk]:
            n = 0
            for chunk in chunks(sentences()):
                yield chunk
                n += len(chunk.offsets) - 1
                say(step, n)
            if n == 0:
                raise ValueError("Expected tagged text with at least one word, got none.")

        groups = self.anchors.fit(lambda: read("anchors"))
        embedding = self.embedding.fit(lambda: read("vectors"), seed=seed)
        table = covariances(read("covariances"), embedding, groups, int(1.5 * self.n_distances), self.n_jobs)
        distances = distance_table(
            table, m=self.m, gamma=self.gamma, n_distances=self.n_distances, min_pairs=self.min_pairs
        )
        return MetricModel(groups, distances, self.apart)

    def _span_model(
        self, sentences: Sentences, metric: MetricModel, settings: SelfTraining, seed: int, say: Progress
    ) -> tuple[SpanModel, int]:
        """Train a span model on a sample of the text; return it and the size of the sample."""
        sentences_in_sample = sample(
            sentences(), MAX_SENTENCES, seed=seed, lengths=range(3, settings.max_length + 1), progress=say
        )
        if not sentences_in_sample:
            raise ValueError(
                f"Expected sentences of 3 to {settings.max_length} words to make trees of, got none. Give more text, "
                "or a larger `max_length`."
            )
        symbols = Symbols.learn(sentences_in_sample, settings.n_words)
        plain_sentences = [(words, plain(words, tags)) for words, tags in sentences_in_sample]
        encoded = [(sentence, symbols.encode(words, sentence)) for words, sentence in plain_sentences]
        text = _text(encoded)
        trees = tree_mask(
            text.lengths, [_tree(metric, s, split) for (s, _), split in zip(encoded, text.splits, strict=True)]
        )
        table = train(text, trees, settings, lambda done: say("rounds", done))
        top = None if settings.first_verb is None else learn_top(encoded, first=settings.first_verb)
        return SpanModel(symbols, *table, top, settings.is_flat), len(sentences_in_sample)


def _text(encoded: list[tuple[Plain, bytes]]) -> Text:
    return Text(
        np.array([len(sentence.positions) for sentence, _ in encoded], dtype=np.int32),
        np.frombuffer(b"".join(symbols for _, symbols in encoded), dtype=np.uint8),
        np.array([segment for sentence, _ in encoded for segment in sentence.segments], dtype=np.int32),
        np.array([heuristic_split(sentence) for sentence, _ in encoded], dtype=np.int32),
    )


def _tree(metric: MetricModel, sentence: Plain, split: int) -> np.ndarray:
    tags, segments = (np.array(ids, dtype=np.int32) for ids in (sentence.universal, sentence.segments))
    return metric.tree(tags, segments, int(split))[0]
