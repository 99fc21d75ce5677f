"""Word vectors for covariances: learned by CCA (canonical correlation analysis) of words and contexts, or given.

Each learner has `fit(chunks) -> Embedding`. Words are lower-cased; rare and unknown words are represented by their
universal tag.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack
from scipy.sparse.linalg import svds

from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Chunk
from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.words.brown import neighbours


class EmbeddingVocabulary:
    """The words that have vectors, with ids from N_UNIVERSAL on; any other word has the id of its universal tag.

    words (sequence of str): Distinct lower-case words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: number for number, word in enumerate(self.words, start=N_UNIVERSAL)}

    def __len__(self) -> int:
        return N_UNIVERSAL + len(self.words)

    @classmethod
    def learn(cls, chunks: Iterable[Chunk], *, min_count: int, size: int) -> "EmbeddingVocabulary":
        """Collect the `size` most frequent words of a text, among the words that occur `min_count` times or more."""
        counts: Counter[str] = Counter()
        for chunk in chunks:
            counts.update(chunk.words)
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            lower[word.lower()] += count
        frequent = sorted((-count, word) for word, count in lower.items() if count >= min_count)
        return cls([word for _, word in frequent[:size]])

    def ids(self, chunk: Chunk) -> np.ndarray:
        """Return the ids of the words in a chunk, int32 (n,); an unknown word has the id of its universal tag."""
        ids, lower = self._ids, {}
        for word in set(chunk.words):
            lower[word] = ids.get(word.lower(), -1)
        ids_of_words = np.array([lower[word] for word in chunk.words], dtype=np.int32)
        return np.where(ids_of_words < 0, chunk.universal, ids_of_words).astype(np.int32)


class Embedding(NamedTuple):
    """Word vectors with their vocabulary.

    vocabulary (EmbeddingVocabulary): The words.
    vectors (float32, (len(vocabulary), p)): Vectors of the universal tags, then of the words.
    """

    vocabulary: EmbeddingVocabulary
    vectors: np.ndarray


Chunks = Callable[[], Iterable[Chunk]]


@runtime_checkable
class Embedder(Protocol):
    """Interface of learners of word vectors, such as `CCA`, `Brown` and `GivenVectors`."""

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Learn word vectors from text.

        chunks (callable): Returns an iterable of the text, anew at every call.
        seed (int): Seed of all random choices.
        """
        ...


_VOCABULARY_SIZE = 40_000  # most words with a vector
MIN_COUNT = 3  # words that occur less often have none


@dataclass(frozen=True)
class CCA:
    """Learner of word vectors by one-step CCA of words and the words on either side (OSCCA; Dhillon et al. 2012).

    CCA is canonical correlation analysis. By default the square roots of counts are decomposed instead of the counts
    (Stratos, Collins and Hsu 2015), which gains several points of F1. Rows are scaled by the singular values and then
    to length 1.

    size (int): Dimension p of the vectors.
    window (int): Number of context words on either side.
    roots (bool): Whether square roots of counts are decomposed.
    RAISES (ValueError): If `size` or `window` is below 1.
    """

    size: int = 50
    window: int = 2
    roots: bool = True

    def __post_init__(self) -> None:
        COUNT(size=self.size, window=self.window)

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Learn word vectors from text.

        chunks (callable): Returns an iterable of the text, anew at every call.
        seed (int): Seed of the singular value decomposition.
        RAISES (ValueError): If the number of frequent words is not larger than the number of dimensions.
        """
        vocabulary = EmbeddingVocabulary.learn(chunks(), min_count=MIN_COUNT, size=_VOCABULARY_SIZE)
        n = len(vocabulary) + 1  # the last id is the sentence boundary
        counts = context_counts(chunks(), vocabulary, self.window)
        if len(vocabulary.words) <= self.size:
            raise ValueError(
                f"Expected more than {self.size} different words that occur {MIN_COUNT} times or more, for "
                f"vectors of {self.size} numbers; got {len(vocabulary.words)}. Give more text, or a smaller `size`."
            )
        blocks = [block for matrix in counts for block in (matrix, matrix.T.tocsr())]
        scaled = hstack([_correlation(block, self.roots) for block in blocks], format="csr")
        start = np.random.default_rng(seed).normal(size=n)
        left, values, _ = svds(scaled, k=self.size, v0=start)
        return Embedding(vocabulary, _unit_rows(left[:-1] * values).astype(np.float32))


@dataclass(frozen=True, eq=False)
class GivenVectors:
    """Word vectors that the user has, such as the vectors of a pipeline's vocabulary.

    words (sequence of str): Words; among words that are equal in lower case the first one counts.
    vectors (float, (len(words), p)): The vector of each word.
    size (int): Number of principal dimensions, weighted by word frequency, to project to; 0 for no projection.
    """

    words: Sequence[str]
    vectors: np.ndarray
    size: int = 50

    @classmethod
    def of(cls, vectors: Mapping[str, Sequence[float]], size: int = 50) -> "GivenVectors":
        """Create given vectors from a mapping of words to vectors.

        size (int): Number of principal dimensions to project to; 0 for no projection.
        """
        return cls(tuple(vectors), np.array(list(vectors.values()), dtype=np.float32), size)

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Select the vectors of the words in a text; the vector of a tag is the mean over its tokens with a vector.

        chunks (callable): Returns an iterable of the text, anew at every call.
        seed (int): Ignored.
        RAISES (ValueError): If the numbers of vectors and words differ, a number is not finite, or too few words of the
            text have a vector.
        """
        vectors = np.asarray(self.vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(self.words):
            raise ValueError(f"Expected a vector for each of {len(self.words)} words, got shape {vectors.shape}.")
        if not np.all(np.isfinite(vectors)):
            raise ValueError("Expected vectors of finite numbers.")
        position: dict[str, int] = {}
        for number, word in enumerate(self.words):
            position.setdefault(word.lower(), number)
        known = [
            word for word in EmbeddingVocabulary.learn(chunks(), min_count=1, size=10**9).words if word in position
        ]
        size = min(self.size or vectors.shape[1], vectors.shape[1])
        if len(known) <= size:
            raise ValueError(
                f"Expected more than {size} words of the text that have a vector, got {len(known)}. "
                "Are these the vectors of the text's language?"
            )
        vocabulary = EmbeddingVocabulary(known)
        rows = np.concatenate([np.zeros((N_UNIVERSAL, vectors.shape[1])), vectors[[position[word] for word in known]]])
        sums, counts = _usage(chunks(), vocabulary)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (sums @ rows[N_UNIVERSAL:]) / sums.sum(axis=1)[:, None]
        overall = counts @ rows[N_UNIVERSAL:] / counts.sum()
        rows[:N_UNIVERSAL] = np.where(np.isfinite(means), means, overall)
        weights = np.concatenate([np.full(N_UNIVERSAL, 1e-9), counts])
        return Embedding(vocabulary, _unit_rows(_principal(rows, weights, size)).astype(np.float32))


def context_counts(chunks: Iterable[Chunk], vocabulary: EmbeddingVocabulary, window: int) -> list[csr_array]:
    """Count the pairs of words at each distance from 1 to `window`.

    chunks (iterable of Chunk): The text.
    vocabulary (EmbeddingVocabulary): The V ids of words and tags; id V is the sentence boundary.
    window (int): The largest distance.
    RETURNS (list of csr_array, (V + 1, V + 1)): The counts at each distance.
    """
    n = len(vocabulary)
    counts = [csr_array((n + 1, n + 1), dtype=np.float64) for _ in range(window)]
    for chunk in chunks:
        ids = vocabulary.ids(chunk)
        for position in range(window):
            counts[position] += neighbours(ids, chunk.offsets, n, position + 1)
    return counts


def _correlation(counts: csr_array, roots: bool) -> csr_array:
    """Scale counts (or their square roots) by the square roots of the margins; the largest singular value is near 1."""
    scaled = counts.sqrt() if roots else counts
    rows, columns = (np.maximum(counts.sum(axis=axis), 1) ** (0.25 if roots else 0.5) for axis in (1, 0))
    return diags_array(1 / rows) @ scaled @ diags_array(1 / columns)


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _usage(chunks: Iterable[Chunk], vocabulary: EmbeddingVocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Count how often each known word has each tag, float64 (N_UNIVERSAL, n_words), and in all, float64 (n_words,)."""
    n = len(vocabulary)
    counts = np.zeros(N_UNIVERSAL * n)
    for chunk in chunks:
        counts += np.bincount(chunk.universal.astype(np.int64) * n + vocabulary.ids(chunk), minlength=N_UNIVERSAL * n)
    by_tag = counts.reshape(N_UNIVERSAL, n)[:, N_UNIVERSAL:]
    return by_tag, by_tag.sum(axis=0)


def _principal(rows: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Project rows on the `size` leading eigenvectors of their weighted second moments, float (n, size).

    rows (float, (n, p)), weights (float, (n,)): The rows and their weights.
    """
    moments = (rows * weights[:, None]).T @ rows
    _, directions = np.linalg.eigh(moments)
    return rows @ directions[:, ::-1][:, :size]
