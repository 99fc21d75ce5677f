"""Learner of a parser from raw text: several grammars with their own word classes learn from their joint trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from spacy_lpcfg.bracketing.binary_trees import Span, best_tree
from spacy_lpcfg.bracketing.bracketer import bracketed_tree
from spacy_lpcfg.bracketing.extensions.induced_tags import InducedTags, is_mark, learn_tags
from spacy_lpcfg.bracketing.learner import SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.checks import COUNT, SEED, make_tuples
from spacy_lpcfg.induced.model import Induced, InducedGrammar
from spacy_lpcfg.induced.reestimation import Reestimation
from spacy_lpcfg.learning.base import ModelLearned, OnStep

Words = Sequence[str]
_SAMPLE = 5_000  # maximum number of sentences from which grammars learn, if only one text is given


@dataclass(frozen=True)
class Unsupervised:
    """Learner of a parser from raw text.

    For each number of word classes it learns a bracketer, and from the bracketer's trees a grammar. Then each grammar
    learns anew from the trees that all of them choose together (Shayegh, Cao, Zhu, Cheung and Mou 2024, "Ensemble
    distillation for unsupervised constituency parsing").

    n_classes (sequence of int): Numbers of word classes, one for each grammar.
    n_rounds (int): Rounds of learning: the first from the trees of the bracketers, each later one from the trees that
        all grammars of the round before choose together (largest sum of mean span posteriors).
    reestimation (Reestimation): Learner of the grammars; its seed is replaced by `seed`.
    seed (int): Seed of bracketers and grammars. Word classes are learned without randomness: seed 0 uses all of the
        text, any other seed leaves out the tenth of the sentences that its last digit selects.
    RAISES (ValueError): If `n_classes` is empty, or another setting is out of range.
    """

    n_classes: Sequence[int] = (32, 64, 128)
    n_rounds: int = 2
    reestimation: Reestimation = Reestimation()
    seed: int = 0

    def __post_init__(self) -> None:
        make_tuples(self, "n_classes")
        SEED(seed=self.seed)
        COUNT(n_rounds=self.n_rounds)
        if not self.n_classes:
            raise ValueError("Expected a number of word classes for each grammar, got none.")

    def fit(
        self, text: Iterable[Words], grammar_text: Iterable[Words] | None = None, *, on_step: OnStep | None = None
    ) -> Induced:
        """Learn from sentences of words without punctuation, such as `without_marks` yields.

        text (iterable of sequence of str): Sentences for word classes and bracketers, a million words or more.
        grammar_text (iterable of sequence of str or None): Sentences for grammars, a few thousand that resemble the
            sentences to parse; None for a sample of at most 5,000 sentences of `text`. Only sentences of 3 to
            `reestimation.max_words` words are used.
        on_step (callable or None): Called with a `ModelLearned` after each grammar of each round.
        RAISES (ValueError): If there is too little text, see `learn_tags` and `Reestimation`.
        """
        sentences = list(text)
        step = -(-len(sentences) // _SAMPLE) or 1
        sample = sentences[::step] if grammar_text is None else grammar_text
        sample = [words for words in sample if 2 < len(words) <= self.reestimation.max_words]
        starts = [self._start(n_classes, sentences, sample) for n_classes in self.n_classes]
        n_grammars, model = 0, None
        reestimation = replace(self.reestimation, seed=self.seed)
        for _ in range(self.n_rounds):
            spans_of_all = None if model is None else [best_tree(spans) for spans in model.posteriors(sample)]
            members = []
            for tags, first in starts:
                trees = map(bracketed_tree, sample, map(tags.fine, sample), spans_of_all or first)
                members.append(InducedGrammar(tags, reestimation.fit(list(trees))))
                n_grammars += 1
                if on_step:
                    on_step(ModelLearned(n_grammars, self.n_rounds * len(starts)))
            model = Induced(tuple(members))
        assert model is not None
        return model

    def _start(self, n_classes: int, text: Sequence[Words], sample: Sequence[Words]) -> _Start:
        """Learn tags and a bracketer from a text; return the tags, and the bracketer's spans of the sample.

        n_classes (int): Number of word classes.
        text (sequence of sentences): The text.
        sample (sequence of sentences): The sentences from which grammars learn.
        """
        tag_text = (words for number, words in enumerate(text) if not self.seed or number % 10 != self.seed % 10)
        tags = learn_tags(tag_text, n_classes)
        tagged = [TaggedSentence(tuple(words), tags.tags(words)) for words in text]
        bracketer = SpectralBracketer().fit(lambda: tagged, seed=self.seed)
        return _Start(tags, [bracketer.bracket(words, tags.tags(words)).spans for words in sample])


class _Start(NamedTuple):
    """The tags and trees from which a grammar learns in the first round.

    tags (InducedTags): Tags of words.
    spans (list of sequence of (start, end)): The spans that the bracketer predicts for each sentence.
    """

    tags: InducedTags
    spans: list[Sequence[Span]]


def without_marks(text: Iterable[Words]) -> Iterator[tuple[str, ...]]:
    """Yield sentences without their punctuation; sentences of nothing but punctuation are left out."""
    for words in text:
        plain = tuple(word for word in words if not is_mark(word))
        if plain:
            yield plain
