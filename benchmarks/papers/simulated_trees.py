"""Latent tree models to sample from (equation 1 and assumption 1 of Parikh, Cohen and Xing 2014), for experiments.

A shape is an unlabelled binary tree: a leaf is the position of its word, an inner node the pair of its children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Shape = int | tuple
Span = tuple[int, int]


def random_shape(start: int, end: int, rng: np.random.Generator) -> Shape:
    """Draw a binary tree over the words [start, end) by uniformly distributed splits from the top."""
    if end - start == 1:
        return start
    split = int(rng.integers(start + 1, end))
    return (random_shape(start, split, rng), random_shape(split, end, rng))


def leaves(shape: Shape) -> list[int]:
    """Return the words of a shape from left to right."""
    return [shape] if isinstance(shape, int) else leaves(shape[0]) + leaves(shape[1])


def spans(shape: Shape) -> list[Span]:
    """Return the spans of two or more words in pre-order."""
    if isinstance(shape, int):
        return []
    inside = leaves(shape)
    return [(inside[0], inside[-1] + 1), *spans(shape[0]), *spans(shape[1])]


class LatentModel(NamedTuple):
    """A linear Gaussian latent tree model: each latent vector is a linear map of the one above it with noise.

    shape (Shape): The tree.
    maps (dict of float64, (m, m)): For every span the linear map from the latent vector above to the one of the span.
    emissions (list of float64, (p, m)): For every word the linear map from the latent vector above it.
    noise (float): Standard deviation of the noise in word vectors.
    """

    shape: Shape
    maps: dict[Span, np.ndarray]
    emissions: list[np.ndarray]
    noise: float

    @classmethod
    def random(cls, shape: Shape, m: int, p: int, noise: float, rng: np.random.Generator) -> LatentModel:
        """Draw a model with random parameters for every node."""
        maps = {span: random_map(m, rng) for span in spans(shape)}
        return cls(shape, maps, [random_emission(m, p, rng) for _ in leaves(shape)], noise)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the word vectors of n sentences, float64 (n, n_words, p)."""
        p, m = self.emissions[0].shape
        out = np.zeros((n, len(self.emissions), p))

        def visit(node: Shape, above: np.ndarray) -> None:
            if isinstance(node, int):
                out[:, node] = above @ self.emissions[node].T + self.noise * rng.normal(size=(n, p))
                return
            latent = above @ self.maps[spans(node)[0]].T + 0.5 * rng.normal(size=(n, m))
            visit(node[0], latent)
            visit(node[1], latent)

        visit(self.shape, rng.normal(size=(n, m)))
        return out


def random_map(m: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a map between latent vectors, of full rank and contracting."""
    return np.linalg.qr(rng.normal(size=(m, m)))[0] * rng.uniform(0.6, 0.9, size=m)


def random_emission(m: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a map from latent vectors to word vectors."""
    return rng.normal(size=(p, m)) / np.sqrt(m)


def sequence_covariances(vectors: np.ndarray) -> np.ndarray:
    """Return the covariances of sentences with one tag sequence, float64 (n, n, p, p): the consistent estimate.

    vectors (float, (N, n, p)): Word vectors of N sentences of n words.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    return np.einsum("sip,sjq->ijpq", vectors, vectors, optimize=True) / len(vectors)
