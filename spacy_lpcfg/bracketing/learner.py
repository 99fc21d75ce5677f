"""Learning a bracketer from tagged text (algorithm 1 of Parikh, Cohen and Xing 2014)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spacy_lpcfg.bracketing.anchors import coarse_anchors
from spacy_lpcfg.bracketing.bracketer import Bracketer
from spacy_lpcfg.bracketing.covariances import covariances
from spacy_lpcfg.bracketing.embeddings import CCA, Embedder
from spacy_lpcfg.bracketing.metric import distance_table
from spacy_lpcfg.bracketing.sentences import Chunk, Sentence, chunks

Sentences = Callable[[], Iterable[Sentence]]
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class SpectralBracketer:
    """Learner of a bracketer.

    embedding (Embedder): of the words: `CCA`, `Brown`, `GivenVectors`.
    m (int): singular values that make a distance.
    gamma (float): bandwidth of the kernel.
    n_distances (int): larger distances between words are taken for this one.
    """

    embedding: Embedder = field(default_factory=CCA)
    m: int = 7
    gamma: float = 0.4
    n_distances: int = 40

    @classmethod
    def preset(cls, name: str, **settings: Any) -> SpectralBracketer:
        """The settings of the paper (`paper`), or the best ones (`default`); `settings` change single ones.

        RAISES (ValueError): For another name.
        """
        if name not in ("paper", "default"):
            raise ValueError(f"Expected the preset 'paper' or 'default', got {name!r}.")
        return cls(**settings)

    def fit(self, sentences: Sentences, *, seed: int = 0, progress: Progress | None = None) -> Bracketer:
        """Learn from tagged text.

        sentences (callable): gives (words, tags) of all sentences, anew at every call, so that none are kept.
        seed (int): of all that is random.
        progress (callable or None): called with the name of a step and the number of sentences it has read.
        RAISES (ValueError): On too little text for the settings, with how much is needed.
        """

        def read(step: str) -> Iterator[Chunk]:
            n = 0
            for chunk in chunks(sentences()):
                yield chunk
                n += len(chunk.offsets) - 1
                if progress is not None:
                    progress(step, n)

        groups = coarse_anchors()
        embedding = self.embedding.fit(lambda: read("vectors"), seed=seed)
        table = covariances(read("covariances"), embedding, groups, int(self.n_distances * 1.5))
        distances = distance_table(table, m=self.m, gamma=self.gamma, n_distances=self.n_distances)
        meta = {"method": "spectral", "m": self.m, "gamma": self.gamma, "pairs": float(table.counts.sum())}
        return Bracketer(groups, distances, meta)
