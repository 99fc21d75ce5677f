"""The parameter tensors of binary rules, stored exactly or by a truncated Tucker decomposition.

A tensor estimated from n occurrences of its rule and smoothed as Cohen et al. (2013) has at most n + 1 independent
slices along each mode. Keeping a basis of those (De Lathauwer et al. 2000, "A multilinear singular value
decomposition") makes the tensors of rare rules, which are most, small; the frequent ones lose only noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

TOLERANCE = 0.02
_ALIGNED = 4  # padded ranks are multiples of this, for the kernels' vector instructions


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Starts of consecutive blocks of the given sizes, and the end of the last, int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


class Layout(NamedTuple):
    """Tensors as the kernels read them: factored ones with ranks padded by zeros, all in one buffer.

    data (float32, (.,)): cores (p, q, r), scales included, and factors A (m_a, p), B (m_b, q), C (m_c, r).
    ranks (int32, (n_rules, 3)): padded p, q, r; zeros for exact tensors.
    starts (int64, (n_rules, 4)): where core, A, B and C of each rule begin; of an exact tensor only the first counts.
    """

    data: np.ndarray
    ranks: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True, eq=False)
class Tensors:
    """One tensor (m_a, m_b, m_c) a rule, each exact or factored as scale * core x_1 A x_2 B x_3 C.

    shapes (int32, (n_rules, 3)): states of the three symbols.
    ranks (int32, (n_rules, 3)): of the cores; zeros for tensors that are stored exactly.
    exact (float32, (.,)): the exact tensors, one after the other, in C order.
    factors (float16, (.,)): core (p, q, r), A (m_a, p), B (m_b, q), C (m_c, r) of each factored tensor.
    scales (float32, (n_rules,)): of the factored tensors.
    """

    shapes: np.ndarray
    ranks: np.ndarray
    exact: np.ndarray
    factors: np.ndarray
    scales: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each rule's tensor begins in `dense`, int64 (n_rules + 1,)."""
        return offsets(self.shapes.astype(np.int64).prod(axis=1))

    @cached_property
    def dense(self) -> np.ndarray:
        """All tensors, one after the other, in C order, float32."""
        dense = np.empty(self.offsets[-1], dtype=np.float32)
        dense[np.repeat(self.is_exact, np.diff(self.offsets))] = self.exact
        for rules, core, a, b, c in self._factored():
            full = np.einsum("nxyz,nix,njy,nkz->nijk", core, a, b, c, optimize=True)
            dense[self.offsets[rules][:, None] + np.arange(full[0].size)] = full.reshape(len(rules), -1)
        return dense

    @property
    def is_exact(self) -> np.ndarray:
        """Whether a tensor is stored exactly, bool (n_rules,)."""
        return self.ranks[:, 0] == 0

    def layout(self) -> Layout:
        """The tensors as the kernels read them."""
        ranks = -(-self.ranks // _ALIGNED) * _ALIGNED
        sizes = _factor_sizes(self.shapes, ranks)
        sizes[self.is_exact, 0] = np.diff(self.offsets)[self.is_exact]
        ends = np.cumsum(sizes.ravel()).reshape(sizes.shape)
        starts = ends - sizes
        data = np.zeros(int(sizes.sum()), dtype=np.float32)
        exact = np.flatnonzero(self.is_exact)
        data[_ranges(starts[exact, 0], sizes[exact, 0])] = self.exact
        for rules, *parts in self._factored():
            for k, part in enumerate(parts):
                wide = np.zeros((len(rules), *_padded(part.shape[1:], k)), dtype=np.float32)
                wide[tuple(slice(size) for size in part.shape)] = part
                data[starts[rules, k][:, None] + np.arange(wide[0].size)] = wide.reshape(len(rules), -1)
        return Layout(data, ranks, starts)

    def _factored(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Rules of equal form with their cores (n, p, q, r), scales included, and factors (n, m, p) and so on."""
        starts = offsets(_factor_sizes(self.shapes, self.ranks).sum(axis=1))
        for shape, ranks, rules in _groups(self.shapes, self.ranks):
            if ranks[0] > 0:
                size = starts[rules[0] + 1] - starts[rules[0]]
                block = self.factors[starts[rules][:, None] + np.arange(size)].astype(np.float32)
                core, *factors = _split(block, shape, ranks)
                yield rules, core * self.scales[rules][:, None, None, None], *factors

    @classmethod
    def from_dense(cls, dense: np.ndarray, shapes: np.ndarray) -> Tensors:
        """Tensors kept exactly.

        dense (float, (sum of sizes,)): in C order, rule after rule; shapes (int, (n_rules, 3)).
        """
        n = len(shapes)
        return cls(
            shapes=np.asarray(shapes, dtype=np.int32),
            ranks=np.zeros((n, 3), dtype=np.int32),
            exact=np.asarray(dense, dtype=np.float32),
            factors=np.empty(0, dtype=np.float16),
            scales=np.ones(n, dtype=np.float32),
        )

    @classmethod
    def factorize(cls, dense: np.ndarray, shapes: np.ndarray, tolerance: float = TOLERANCE) -> Tensors:
        """Tensors to a relative error of `tolerance` in the Frobenius norm, each in its smaller form.

        The rounding to float16 adds about 0.001.

        dense (float, (sum of sizes,)): in C order, rule after rule; shapes (int, (n_rules, 3)).
        """
        shapes = np.asarray(shapes, dtype=np.int32)
        starts = offsets(shapes.astype(np.int64).prod(axis=1))
        ranks = np.zeros_like(shapes)
        scales = np.ones(len(shapes), dtype=np.float32)
        packed: list[np.ndarray] = [np.empty(0, dtype=np.float16)] * len(shapes)
        for shape, _, rules in _groups(shapes, np.zeros_like(shapes)):
            block = dense[starts[rules][:, None] + np.arange(shape.prod())].reshape(-1, *shape).astype(np.float64)
            bases = [_basis(block, mode, tolerance) for mode in range(3)]
            for k, rule in enumerate(rules):
                a, b, c = (vectors[k][:, -rank[k] :] for vectors, rank in bases)
                if a.size + b.size + c.size + a.shape[1] * b.shape[1] * c.shape[1] >= block[k].size:
                    continue
                core = np.einsum("ijk,ix,jy,kz->xyz", block[k], a, b, c, optimize=True)
                ranks[rule] = core.shape
                scales[rule] = np.abs(core).max() or 1.0
                parts = [core / scales[rule], a, b, c]
                packed[rule] = np.concatenate([part.ravel() for part in parts]).astype(np.float16)
        is_exact = np.repeat(ranks[:, 0] == 0, np.diff(starts))
        factors = np.concatenate([np.empty(0, dtype=np.float16), *packed])
        return cls(shapes, ranks, np.asarray(dense, np.float32)[is_exact], factors, scales)


def _padded(shape: tuple[int, ...], part: int) -> tuple[int, ...]:
    """Shape of a core (part 0) or factor with its ranks rounded up."""
    aligned = tuple(-(-size // _ALIGNED) * _ALIGNED for size in shape)
    return aligned if part == 0 else (shape[0], aligned[1])


def _ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """All positions of consecutive blocks, one block after the other."""
    return np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())


def _basis(block: np.ndarray, mode: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Singular vectors of one mode's unfolding, by growing singular value, and how many of them to keep."""
    unfolded = np.moveaxis(block, mode + 1, 1).reshape(len(block), block.shape[mode + 1], -1)
    values, vectors = np.linalg.eigh(unfolded @ unfolded.transpose(0, 2, 1))
    lost = np.cumsum(np.maximum(values, 0), axis=1)
    keep = lost > tolerance**2 / 3 * lost[:, -1:]
    return vectors, np.maximum(keep.sum(axis=1), 1)


def _factor_sizes(shapes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Entries of core, A, B and C of each factored tensor, int64 (n_rules, 4); zeros for exact ones."""
    ranks = ranks.astype(np.int64)
    return np.concatenate([ranks.prod(axis=1, keepdims=True), shapes * ranks], axis=1)


def _split(block: np.ndarray, shape: np.ndarray, ranks: np.ndarray) -> list[np.ndarray]:
    """Packed rows of equal form (n, size) as cores (n, p, q, r) and factors (n, m, p), (n, m, q), (n, m, r)."""
    bounds = np.cumsum(_factor_sizes(shape[None], ranks[None])[0])[:-1]
    core, *factors = np.split(block, bounds, axis=1)
    return [core.reshape(-1, *ranks)] + [factor.reshape(-1, m, rank) for factor, m, rank in zip(factors, shape, ranks)]


def _groups(shapes: np.ndarray, ranks: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rules of equal shape and ranks: (shape, ranks, rule ids)."""
    forms, inverse = np.unique(np.concatenate([shapes, ranks], axis=1), axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    for form, rules in zip(forms, np.split(order, np.cumsum(np.bincount(inverse.reshape(-1)))[:-1])):
        yield form[:3], form[3:], rules
