"""Latent tree models to sample from: the data that the bracketer's theory speaks of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Shape = int | tuple  # a leaf, or a pair of shapes


def random_shape(start: int, end: int, rng: np.random.Generator) -> Shape:
    """A binary tree over the leaves [start, end), split anywhere with the same probability."""
    if end - start == 1:
        return start
    split = int(rng.integers(start + 1, end))
    return (random_shape(start, split, rng), random_shape(split, end, rng))


def leaves(shape: Shape) -> list[int]:
    return [shape] if isinstance(shape, int) else leaves(shape[0]) + leaves(shape[1])


def spans(shape: Shape) -> list[tuple[int, int]]:
    """Spans of two or more leaves in pre-order."""
    if isinstance(shape, int):
        return []
    inside = leaves(shape)
    return [(inside[0], inside[-1] + 1), *spans(shape[0]), *spans(shape[1])]


class LatentModel(NamedTuple):
    """Gaussian latent vectors along a tree, with linear means (assumption 1), and noisy vectors of words below.

    shape: the tree; maps: for every node below the root but leaves, (m, m); emissions: for every leaf, (p, m).
    """

    shape: Shape
    maps: dict[Shape, np.ndarray]
    emissions: dict[int, np.ndarray]
    noise: float

    @classmethod
    def random(cls, shape: Shape, m: int, p: int, noise: float, rng: np.random.Generator) -> LatentModel:
        maps: dict[Shape, np.ndarray] = {}
        emissions: dict[int, np.ndarray] = {}

        def visit(node: Shape) -> None:
            if isinstance(node, int):
                emissions[node] = rng.normal(size=(p, m)) / np.sqrt(m)
                return
            rotation = np.linalg.qr(rng.normal(size=(m, m)))[0]
            maps[node] = rotation * rng.uniform(0.6, 0.9, size=m)
            visit(node[0])
            visit(node[1])

        visit(shape)
        return cls(shape, maps, emissions, noise)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Vectors of the words of n sentences, (n, n_leaves, p)."""
        m = next(iter(self.maps.values())).shape[0]
        p = self.emissions[0].shape[0]
        out = np.zeros((n, len(leaves(self.shape)), p))

        def visit(node: Shape, above: np.ndarray) -> None:
            if isinstance(node, int):
                out[:, node] = above @ self.emissions[node].T + self.noise * rng.normal(size=(n, p))
                return
            latent = above @ self.maps[node].T + 0.5 * rng.normal(size=(n, m))
            visit(node[0], latent)
            visit(node[1], latent)

        visit(self.shape, rng.normal(size=(n, m)))
        return out
