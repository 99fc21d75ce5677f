"""The minimal latent tree against all binary trees, with edges by equations 3 and 4 taken literally."""

import itertools

import numpy as np
import pytest
from oracles.binary_trees import shapes

from benchmarks.papers.simulated_trees import Shape, leaves, spans
from spacy_lpcfg.bracketing.paper.latent_tree import minimal_tree


def edge(d: np.ndarray, near: list[list[int]], far: list[list[int]]) -> float:
    """Length of the edge between two nodes: the means of equations 3 and 4 over all choices of leaves."""
    if len(near) == 1:  # a leaf
        (leaf,) = near[0]
        return np.mean([0.5 * (d[leaf, a] + d[leaf, b] - d[a, b]) for a, b in itertools.product(*far)])
    if len(far) == 1:
        return edge(d, far, near)
    return np.mean(
        [
            0.25 * (d[a, g] + d[a, h] + d[b, g] + d[b, h] - 2 * d[a, b] - 2 * d[g, h])
            for a, b, g, h in itertools.product(*near, *far)
        ]
    )


def sides(shape: Shape) -> list[list[int]]:
    return [[shape]] if isinstance(shape, int) else [leaves(child) for child in shape]


def cost(d: np.ndarray, tree: Shape) -> float:
    """Total length of the edges of a directed tree; the one between the two children of the root counts once."""
    if len(d) == 2:
        return d[0, 1]
    every = set(range(len(d)))

    def below(shape: Shape) -> float:
        if isinstance(shape, int):
            return 0.0
        rest = sorted(every - set(leaves(shape)))
        return sum(
            edge(d, sides(child), [leaves(sibling), rest]) + below(child) for child, sibling in (shape, shape[::-1])
        )

    left, right = tree
    return edge(d, sides(left), sides(right)) + below(left) + below(right)


def random_distances(n: int, seed: int) -> np.ndarray:
    d = np.random.default_rng(seed).normal(size=(n, n))
    return np.where(np.eye(n, dtype=bool), 0, d + d.T)


@pytest.mark.parametrize("n", range(2, 8))
def test_latent_tree_is_the_cheapest_of_all(n):
    trees = shapes(0, n)
    for seed, split in itertools.product(range(2 if n > 5 else 6), range(1, n)):
        d = random_distances(n, seed)
        costs = {tree: cost(d, tree) for tree in trees if len(leaves(tree[0])) == split}
        best = min(costs, key=costs.__getitem__)
        found = minimal_tree(d, split)
        assert found.cost == pytest.approx(costs[best])
        assert [tuple(span) for span in found.spans] == spans(best)[1:]


def test_latent_tree_has_the_lengths_of_the_edges_above_spans():
    tree = (((0, 1), 2), (3, (4, 5)))
    d = np.zeros((6, 6))
    lengths = {(0, 3): 0.5, (0, 2): 1.0, (4, 6): 2.0}  # the edge of the root is that above (0, 3) and (3, 6)
    for (start, end), length in lengths.items():
        inside = (np.arange(6) >= start) & (np.arange(6) < end)
        d[inside[:, None] != inside[None, :]] += length
    d += 3 * (1 - np.eye(6))
    found = minimal_tree(d, 3)
    assert [tuple(span) for span in found.spans] == spans(tree)[1:]
    assert found.edges == pytest.approx([0.5, 1.0, 0.5, 2.0])


@pytest.mark.parametrize(("shape", "split"), [((3, 2), 1), ((3, 3), 3), ((1, 1), 0)])
def test_latent_tree_refuses_what_is_no_sentence(shape, split):
    with pytest.raises(ValueError, match=f"shape .* and the split {split}"):
        minimal_tree(np.zeros(shape), split)
    with pytest.raises(ValueError, match="finite"):
        minimal_tree(np.full((3, 3), np.inf), 1)
