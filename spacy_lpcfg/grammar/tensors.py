"""Storage of the parameter tensors of binary rules: exact, as truncated Tucker decompositions, or sparse.

A tensor that is estimated from n occurrences of its rule, and smoothed as in Cohen et al. (2013), has at most n + 1
independent slices along each mode. Most rules are rare, so that a basis of these slices (De Lathauwer et al. 2000, "A
multilinear singular value decomposition") takes less memory than the tensor; frequent rules lose only noise.

Few entries of a probability tensor are large. A sparse tensor stores the large entries, and approximates the rest by
the product of its marginals, so that the entries of each state of the parent keep their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import offsets, read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.storage.reader import check_room

TOLERANCE = 0.02  # relative error of factored tensors in the Frobenius norm; rounding to float16 adds about 0.001
NEGLIGIBLE = 3e-3  # sparse tensors store entries above this share of the largest one, as float16
EXACT, FACTORED, SPARSE = range(3)
_PLACE = 12  # additional bytes for each entry of a factored tensor while it is made dense


class SparseParts(NamedTuple):
    """The decoded parts of the sparse tensors in a `Tensors`: their stored entries, and approximations of the rest.

    rules (int64, (n,)): The rules with sparse tensors.
    places (int64, (k,)): Positions of the stored entries in `Tensors.dense`.
    values (float32, (k,)): Values of the stored entries.
    rests (list of n (a, b, c)): Vectors whose outer product approximates the other entries, float32 (m_a,), (m_b,) and
        (m_c,).
    """

    rules: np.ndarray
    places: np.ndarray
    values: np.ndarray
    rests: list[tuple[np.ndarray, ...]]


@dataclass(frozen=True, eq=False)
class Tensors:
    """One tensor (m_a, m_b, m_c) for each rule: exact; factored, as scale * core x_1 A x_2 B x_3 C; or sparse.

    A sparse tensor is scale * entries at the stored positions, plus the outer product of three vectors a, b and c: b
    and c sum to 1, and a is the sum of the other entries in each state of the parent.

    shapes (int32, (n_rules, 3)): Numbers of states of the three symbols.
    forms (int32, (n_rules,)): EXACT, FACTORED or SPARSE.
    ranks (int32, (n_rules, 3)): Ranks (p, q, r) of factored tensors; zeros for exact and sparse tensors.
    exact (float32, (n,)): The exact tensors in C order, concatenated.
    factors (float16, (n,)): Core (p, q, r), A (m_a, p), B (m_b, q), C (m_c, r) of each factored tensor.
    scales (float32, (n_rules,)): Scales of factored and sparse tensors; 1 for exact tensors.
    kept (uint8, (n,)): A mask of the stored entries of sparse tensors, in C order, packed by `numpy.packbits`.
    entries (float16, (n,)): The stored entries of sparse tensors.
    rests (float32, (n,)): The vectors a (m_a,), b (m_b,) and c (m_c,) of each sparse tensor.
    """

    shapes: np.ndarray
    forms: np.ndarray
    ranks: np.ndarray
    exact: np.ndarray
    factors: np.ndarray
    scales: np.ndarray
    kept: np.ndarray
    entries: np.ndarray
    rests: np.ndarray

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of entries in each rule's tensor, int64 (n_rules,)."""
        return read_only(self.shapes.astype(np.int64).prod(axis=1))

    @cached_property
    def offsets(self) -> np.ndarray:
        """The offset of each rule's tensor in `dense`, and the end of the last one, int64 (n_rules + 1,)."""
        return read_only(offsets(self.sizes))

    @cached_property
    def dense(self) -> np.ndarray:
        """All tensors in C order, rule after rule, float32 (n_entries,), approximate unless they are stored exactly.

        RAISES (TooLargeError): If they exceed the memory limit.
        """
        is_factored = self.forms == FACTORED
        n_bytes = 4 * self.sizes.sum(dtype=float) + _PLACE * self.sizes[is_factored].sum(dtype=float)
        check_room(n_bytes, what="This needs all parameters of the grammar at once, which")
        dense = np.zeros(self.offsets[-1], dtype=np.float32)
        dense[np.repeat(self.forms == EXACT, self.sizes)] = self.exact
        for rules, core, a, b, c in self.factored():
            full = np.einsum("nxyz,nix,njy,nkz->nijk", core, a, b, c, optimize=True)
            dense[self.offsets[rules][:, None] + np.arange(full[0].size)] = full.reshape(len(rules), -1)
        sparse = self.sparse()
        dense[sparse.places] = sparse.values
        for rule, (a, b, c) in zip(sparse.rules, sparse.rests, strict=True):
            dense[slice(*self.offsets[rule : rule + 2])] += np.outer(a, np.outer(b, c)).ravel()
        return read_only(dense)

    @cached_property
    def sums(self) -> np.ndarray:
        """The sum of each tensor over the states of both children, rule after rule, float64 (sum of m_a,).

        The sums are computed without making the tensors dense.
        """
        starts = offsets(self.shapes[:, 0])
        sums = np.zeros(starts[-1])
        is_exact = np.flatnonzero(self.forms == EXACT)
        ends = np.cumsum(self.sizes[is_exact])[:-1]
        for rule, tensor in zip(is_exact, np.split(self.exact, ends), strict=False):
            sums[slice(*starts[rule : rule + 2])] = tensor.reshape(self.shapes[rule, 0], -1).sum(1, dtype=np.float64)
        for rules, core, a, b, c in self.factored():
            sums_of_group = np.einsum("nxyz,nix,ny,nz->ni", core, a, b.sum(1), c.sum(1), optimize=True)
            sums[starts[rules][:, None] + np.arange(sums_of_group.shape[1])] = sums_of_group
        sparse = self.sparse()
        rule_of = np.searchsorted(self.offsets, sparse.places, side="right") - 1
        state = (sparse.places - self.offsets[rule_of]) // self.shapes[rule_of, 1:].prod(axis=1, dtype=np.int64)
        np.add.at(sums, starts[rule_of] + state, sparse.values)
        for rule, (a, b, c) in zip(sparse.rules, sparse.rests, strict=True):
            sums[slice(*starts[rule : rule + 2])] += a.astype(np.float64) * (b.sum() * c.sum())
        return sums

    def factored(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield the factored tensors in groups of n rules of equal shape and ranks.

        YIELDS (five arrays): Ids of the rules (n,), scaled cores (n, p, q, r), and factors A (n, m_a, p), B (n, m_b, q)
            and C (n, m_c, r).
        """
        starts = offsets(factor_sizes(self.shapes, self.ranks).sum(axis=1))
        for shape, ranks, rules in _groups(self.shapes, self.ranks):
            if ranks[0] > 0:
                size = starts[rules[0] + 1] - starts[rules[0]]
                block = self.factors[starts[rules][:, None] + np.arange(size)].astype(np.float32)
                core, *factors = _split(block, shape, ranks)
                yield rules, core * self.scales[rules][:, None, None, None], *factors

    def sparse(self) -> SparseParts:
        """Return the stored entries of the sparse tensors, and the vectors that approximate all other entries."""
        is_sparse = self.forms == SPARSE
        rules = np.flatnonzero(is_sparse)
        starts = offsets(self.sizes[rules])
        filled = np.flatnonzero(self.kept)  # bytes, most of which are empty
        byte, bit = np.divmod(np.flatnonzero(np.unpackbits(self.kept[filled])), 8)
        stored = 8 * filled[byte] + bit
        stored = stored[: np.searchsorted(stored, starts[-1])]
        n_kept = np.diff(np.searchsorted(stored, starts))
        places = stored + np.repeat(self.offsets[rules] - starts[:-1], n_kept)
        values = self.entries * np.repeat(self.scales[rules], n_kept)
        vectors = np.split(self.rests, np.cumsum(self.shapes[rules].ravel()))[:-1]
        return SparseParts(rules, places, values, list(zip(vectors[::3], vectors[1::3], vectors[2::3], strict=True)))

    @classmethod
    def from_dense(cls, dense: np.ndarray, shapes: np.ndarray) -> Tensors:
        """Store all tensors exactly, in float32.

        dense (float, (sum of sizes,)): Tensors in C order, concatenated.
        shapes (int, (n_rules, 3)): Shapes of the tensors.
        """
        shapes = np.asarray(shapes, dtype=np.int32)
        return cls(
            shapes=shapes,
            forms=np.full(len(shapes), EXACT, dtype=np.int32),
            ranks=np.zeros_like(shapes),
            exact=np.asarray(dense, dtype=np.float32),
            factors=np.empty(0, dtype=np.float16),
            scales=np.ones(len(shapes), dtype=np.float32),
            kept=np.empty(0, dtype=np.uint8),
            entries=np.empty(0, dtype=np.float16),
            rests=np.empty(0, dtype=np.float32),
        )

    @classmethod
    def factorize(cls, dense: np.ndarray, shapes: np.ndarray) -> Tensors:
        """Store each tensor exactly or as a Tucker decomposition with relative error `TOLERANCE`, whichever is smaller.

        dense (float, (sum of sizes,)): Tensors in C order, concatenated.
        shapes (int, (n_rules, 3)): Shapes of the tensors.
        """
        exact = cls.from_dense(dense, shapes)
        shapes, starts = exact.shapes, exact.offsets
        ranks, scales = np.zeros_like(shapes), np.ones_like(exact.scales)
        packed: list[np.ndarray] = [np.empty(0, dtype=np.float16)] * len(shapes)
        for shape, _, rules in _groups(shapes, ranks):
            block = dense[starts[rules][:, None] + np.arange(shape.prod())].reshape(-1, *shape).astype(np.float64)
            bases = [_basis(block, mode) for mode in range(3)]
            for k, rule in enumerate(rules):
                a, b, c = (vectors[k][:, -rank[k] :] for vectors, rank in bases)
                if a.size + b.size + c.size + a.shape[1] * b.shape[1] * c.shape[1] >= block[k].size:
                    continue
                core = np.einsum("ijk,ix,jy,kz->xyz", block[k], a, b, c, optimize=True)
                ranks[rule] = core.shape
                scales[rule] = np.abs(core).max() or 1.0
                arrays = [core / scales[rule], a, b, c]
                packed[rule] = np.concatenate([array.ravel() for array in arrays]).astype(np.float16)
        is_factored = ranks[:, 0] > 0
        factors = np.concatenate([exact.factors, *packed])
        return replace(exact._without_exact(is_factored, FACTORED), ranks=ranks, factors=factors, scales=scales)

    @classmethod
    def sparsify(cls, dense: np.ndarray, shapes: np.ndarray) -> Tensors:
        """Store each tensor of probabilities exactly or sparsely, whichever is smaller.

        The sum of the entries in each state of the parent is preserved up to float32 rounding.

        dense (float, (sum of sizes,)): Tensors in C order, concatenated.
        shapes (int, (n_rules, 3)): Shapes of the tensors.
        RAISES (ValueError): If an entry is negative.
        """
        if np.min(dense, initial=0.0) < 0:
            raise ValueError("Expected probabilities, got negative entries: take Tensors.factorize for those.")
        exact = cls.from_dense(dense, shapes)
        candidates = [
            _Sparse.of(dense[start:end].reshape(shape))
            for shape, (start, end) in zip(exact.shapes, pairwise(exact.offsets.tolist()), strict=True)
        ]
        is_sparse = np.array([tensor.n_bytes < 4 * tensor.is_kept.size for tensor in candidates], dtype=bool)
        stored = [tensor for tensor, is_smaller in zip(candidates, is_sparse, strict=True) if is_smaller]
        return replace(
            exact._without_exact(is_sparse, SPARSE),
            scales=np.where(is_sparse, [tensor.scale for tensor in candidates], 1).astype(np.float32),
            kept=np.packbits(np.concatenate([np.empty(0, dtype=bool), *(tensor.is_kept.ravel() for tensor in stored)])),
            entries=np.concatenate([exact.entries, *(tensor.entries for tensor in stored)]),
            rests=np.concatenate([exact.rests, *(tensor.residual for tensor in stored)]),
        )

    def _without_exact(self, others: np.ndarray, form: int) -> Tensors:
        """Set the form of some tensors, and drop their entries from `exact`.

        others (bool, (n_rules,)): Mask of the tensors that are not exact.
        form (int): FACTORED or SPARSE.
        """
        forms = np.where(others, form, EXACT).astype(np.int32)
        return replace(self, forms=forms, exact=self.exact[np.repeat(~others, self.sizes)])


class _Sparse(NamedTuple):
    """One tensor in sparse form: its largest entries, and a rank-one approximation of the rest.

    scale (float32): The largest entry; 1 if all are 0.
    is_kept (bool, (m_a, m_b, m_c)): Mask of the stored entries.
    entries (float16, (k,)): The stored entries, divided by the scale.
    residual (float32, (m_a + m_b + m_c,)): The vectors a, b and c, concatenated, whose outer product approximates the
        other entries.
    """

    scale: np.float32
    is_kept: np.ndarray
    entries: np.ndarray
    residual: np.ndarray

    @classmethod
    def of(cls, tensor: np.ndarray) -> _Sparse:
        scale = np.float32(tensor.max()) or np.float32(1)
        is_kept = tensor > NEGLIGIBLE * scale
        entries = _rounded_down(tensor[is_kept] / scale)
        residual = tensor.astype(np.float64)
        stored = np.multiply(entries, scale, dtype=np.float32)  # NumPy 1 would multiply in float16
        residual[is_kept] = np.maximum(residual[is_kept] - stored, 0.0)
        a, b, c = residual.sum(axis=(1, 2)), residual.sum(axis=(0, 2)), residual.sum(axis=(0, 1))
        total = a.sum() or 1.0
        return cls(scale, is_kept, entries, np.concatenate([a, b / total, c / total]).astype(np.float32))

    @property
    def n_bytes(self) -> int:
        return self.is_kept.size // 8 + self.entries.nbytes + self.residual.nbytes


def _rounded_down(values: np.ndarray) -> np.ndarray:
    """Round positive numbers down to float16."""
    halves = values.astype(np.float16)
    return np.where(halves > values, np.nextafter(halves, np.float16(0)), halves)


def _basis(block: np.ndarray, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the left singular vectors of the mode-`mode` unfolding of each tensor, and the number of them to keep.

    block (float64, (n, m_a, m_b, m_c)): Tensors of equal shape.
    RETURNS (float64 (n, m, m), int (n,)): Singular vectors as columns, by increasing singular value; and the ranks.
    """
    unfolded = np.moveaxis(block, mode + 1, 1).reshape(len(block), block.shape[mode + 1], -1)
    values, vectors = np.linalg.eigh(unfolded @ unfolded.transpose(0, 2, 1))
    lost = np.cumsum(np.maximum(values, 0), axis=1)
    keep = lost > TOLERANCE**2 / 3 * lost[:, -1:]
    return vectors, np.maximum(keep.sum(axis=1), 1)


def factor_sizes(shapes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return the sizes of core, A, B and C of each factored tensor, int64 (n_rules, 4); zeros for other tensors."""
    ranks = ranks.astype(np.int64)
    return np.concatenate([ranks.prod(axis=1, keepdims=True), shapes * ranks], axis=1)


def _split(block: np.ndarray, shape: np.ndarray, ranks: np.ndarray) -> list[np.ndarray]:
    """Split packed rows of equal form (n, size) into cores (n, p, q, r) and factors (n, m, p), (n, m, q), (n, m, r)."""
    bounds = np.cumsum(factor_sizes(shape[None], ranks[None])[0])[:-1]
    core, *factors = np.split(block, bounds, axis=1)
    return [core.reshape(-1, *ranks)] + [
        factor.reshape(-1, m, rank) for factor, m, rank in zip(factors, shape, ranks, strict=True)
    ]


def _groups(shapes: np.ndarray, ranks: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield groups of rules of equal shape and ranks: (shape, ranks, rule ids)."""
    forms, inverse = np.unique(np.concatenate([shapes, ranks], axis=1), axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    for form, rules in zip(forms, np.split(order, np.cumsum(np.bincount(inverse.reshape(-1)))[:-1]), strict=False):
        yield form[:3], form[3:], rules
