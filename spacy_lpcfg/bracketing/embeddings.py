"""Vectors of words, from which covariances are taken: by CCA of words and their contexts, or from outside.

Each kind has `fit(chunks) -> Embedding`. All of them know words by their lower-case form, and rare and unknown words by
their universal tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack
from scipy.sparse.linalg import svds

from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Chunk
from spacy_lpcfg.words.brown import neighbours


class EmbeddingError(ValueError):
    """Too little text, or vectors that cannot be used."""


class EmbeddingVocabulary:
    """Words with ids from N_UNIVERSAL on; smaller ids are the universal tags of all other words.

    words (sequence of str): lower-case, without repetition.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: number for number, word in enumerate(self.words, start=N_UNIVERSAL)}

    def __len__(self) -> int:
        return N_UNIVERSAL + len(self.words)

    @classmethod
    def learn(cls, chunks: Iterable[Chunk], *, min_count: int, size: int) -> EmbeddingVocabulary:
        """Returns the `size` most frequent words of a text, each seen `min_count` times or more."""
        counts: Counter[str] = Counter()
        for chunk in chunks:
            counts.update(chunk.words)
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            lower[word.lower()] += count
        frequent = sorted((-count, word) for word, count in lower.items() if count >= min_count)
        return cls([word for _, word in frequent[:size]])

    def ids(self, chunk: Chunk) -> np.ndarray:
        """Ids of the words of a chunk, int32 (n,)."""
        ids, lower = self._ids, {}
        for word in set(chunk.words):
            lower[word] = ids.get(word.lower(), -1)
        found = np.array([lower[word] for word in chunk.words], dtype=np.int32)
        return np.where(found < 0, chunk.universal, found).astype(np.int32)


class Embedding(NamedTuple):
    """Vectors of a vocabulary.

    vocabulary (EmbeddingVocabulary): the words.
    vectors (float32, (len(vocabulary), p)): of the tags and the words.
    """

    vocabulary: EmbeddingVocabulary
    vectors: np.ndarray

    def rows(self, chunk: Chunk) -> np.ndarray:
        """Vectors of the words of a chunk, float32 (n, p)."""
        return self.vectors[self.vocabulary.ids(chunk)]


Chunks = Callable[[], Iterable[Chunk]]


class Embedder(Protocol):
    """A way to get vectors from text."""

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """chunks (callable): gives the text anew at every call."""
        ...


@dataclass(frozen=True)
class CCA:
    """One-step canonical correlation analysis of words and the two words on either side (OSCCA; Dhillon et al. 2012).

    By default the square roots of counts are decomposed instead of the counts (Stratos, Collins and Hsu 2015), which is
    worth several points. Rows are scaled by the singular values and then have length 1.

    size (int): of the vectors (p).
    window (int): words on either side.
    min_count (int): of a word; vocabulary_size (int): the maximum number of words with a vector.
    roots (bool): whether square roots of counts are decomposed.
    """

    size: int = 50
    window: int = 2
    min_count: int = 3
    vocabulary_size: int = 40_000
    roots: bool = True

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Learn from text.

        RAISES (EmbeddingError): If there are not as many words as a vector has numbers.
        """
        vocabulary = EmbeddingVocabulary.learn(chunks(), min_count=self.min_count, size=self.vocabulary_size)
        n = len(vocabulary) + 1  # the last one stands for the sentence's boundaries
        counts = context_counts(chunks(), vocabulary, self.window)
        if len(vocabulary.words) <= self.size:
            raise EmbeddingError(
                f"Expected more than {self.size} different words that occur {self.min_count} times or more, for "
                f"vectors of {self.size} numbers; got {len(vocabulary.words)}. Give more text, or a smaller `size`."
            )
        blocks = [block for matrix in counts for block in (matrix, matrix.T.tocsr())]
        scaled = hstack([_correlation(block, self.roots) for block in blocks], format="csr")
        start = np.random.default_rng(seed).normal(size=n)
        left, values, _ = svds(scaled, k=self.size, v0=start)
        return Embedding(vocabulary, _unit_rows(left[:-1] * values).astype(np.float32))


@dataclass(frozen=True, eq=False)
class GivenVectors:
    """Vectors from outside, such as those of a pipeline's vocabulary.

    words (sequence of str); vectors (float, (len(words), p)): a form's first occurrence counts, in lower case.
    size (int): they are projected to so many dimensions, weighted by the words' frequency; 0 to keep all.
    """

    words: Sequence[str]
    vectors: np.ndarray
    size: int = 50

    @classmethod
    def of(cls, vectors: Mapping[str, Sequence[float]], size: int = 50) -> GivenVectors:
        """Of a dict."""
        return cls(tuple(vectors), np.array(list(vectors.values()), dtype=np.float32), size)

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """The vectors of the text's words; those of a tag are the mean of its known words.

        RAISES (EmbeddingError): If the vectors do not fit the words, or the text has too few of them.
        """
        vectors = np.asarray(self.vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(self.words):
            raise EmbeddingError(f"Expected a vector for each of {len(self.words)} words, got shape {vectors.shape}.")
        if not np.all(np.isfinite(vectors)):
            raise EmbeddingError("Expected vectors of finite numbers.")
        place: dict[str, int] = {}
        for number, word in enumerate(self.words):
            place.setdefault(word.lower(), number)
        known = [word for word in EmbeddingVocabulary.learn(chunks(), min_count=1, size=10**9).words if word in place]
        size = min(self.size or vectors.shape[1], vectors.shape[1])
        if len(known) <= size:
            raise EmbeddingError(
                f"Expected more than {size} words of the text that have a vector, got {len(known)}. "
                "Are these the vectors of the text's language?"
            )
        vocabulary = EmbeddingVocabulary(known)
        rows = np.concatenate([np.zeros((N_UNIVERSAL, vectors.shape[1])), vectors[[place[word] for word in known]]])
        sums, counts = _usage(chunks(), vocabulary)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (sums @ rows[N_UNIVERSAL:]) / sums.sum(axis=1)[:, None]
        overall = counts @ rows[N_UNIVERSAL:] / counts.sum()
        rows[:N_UNIVERSAL] = np.where(np.isfinite(means), means, overall)
        weights = np.concatenate([np.full(N_UNIVERSAL, 1e-9), counts])
        return Embedding(vocabulary, _unit_rows(_principal(rows, weights, size)).astype(np.float32))


def context_counts(chunks: Iterable[Chunk], vocabulary: EmbeddingVocabulary, window: int) -> list[csr_array]:
    """How often each word stands 1, 2, ... `window` words before each other, (V + 1, V + 1); the last is no word."""
    n = len(vocabulary)
    counts = [csr_array((n + 1, n + 1), dtype=np.float64) for _ in range(window)]
    for chunk in chunks:
        ids = vocabulary.ids(chunk)
        for place in range(window):
            counts[place] += neighbours(ids, chunk.offsets, n, place + 1)
    return counts


def _correlation(counts: csr_array, roots: bool) -> csr_array:
    """Counts scaled by the roots of their margins, or the roots of these; the largest singular value is near 1."""
    scaled = counts.sqrt() if roots else counts
    rows, columns = (np.maximum(counts.sum(axis=axis), 1) ** (0.25 if roots else 0.5) for axis in (1, 0))
    return diags_array(1 / rows) @ scaled @ diags_array(1 / columns)


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _usage(chunks: Iterable[Chunk], vocabulary: EmbeddingVocabulary) -> tuple[np.ndarray, np.ndarray]:
    """How often each known word had each tag, (N_UNIVERSAL, n_words), and the sum over tags."""
    n = len(vocabulary)
    counts = np.zeros(N_UNIVERSAL * n)
    for chunk in chunks:
        counts += np.bincount(chunk.universal.astype(np.int64) * n + vocabulary.ids(chunk), minlength=N_UNIVERSAL * n)
    by_tag = counts.reshape(N_UNIVERSAL, n)[:, N_UNIVERSAL:]
    return by_tag, by_tag.sum(axis=0)


def _principal(rows: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Projection on the `size` leading eigenvectors of the weighted second moments."""
    moments = (rows * weights[:, None]).T @ rows
    _, directions = np.linalg.eigh(moments)
    return rows @ directions[:, ::-1][:, :size]
