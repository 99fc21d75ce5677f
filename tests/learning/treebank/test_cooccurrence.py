"""Sums of products of features over parts of a treebank, against loops over its nodes."""

from collections import Counter
from itertools import islice
from operator import add

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.cooccurrence import Cooccurrence, Templates, pairwise_sum
from spacy_lpcfg.learning.treebank.features import INSIDE, OUTSIDE, NodeContext, feature_table
from spacy_lpcfg.trees import read_trees

TEMPLATES = Templates(("left", "right", "n_words"), ("parent", "n_left", "tag_after"), ("rule",))


@pytest.fixture(scope="module")
def treebank() -> IndexedTreebank:
    return IndexedTreebank.read(islice(read_trees(SAMPLE / "train.mrg"), 30))


def of_parts(treebank: IndexedTreebank) -> Cooccurrence:
    return pairwise_sum(
        (Cooccurrence.of(NodeContext(part.nodes, part.terminal), TEMPLATES) for part in treebank.parts()), add
    )


def side(treebank: IndexedTreebank, templates: dict, names: tuple[str, ...], nodes: np.ndarray) -> dict[int, dict]:
    """The features of nodes as dictionaries, by loops."""
    table = feature_table(NodeContext(treebank.nodes, treebank.terminal), templates, names)
    return {
        node: {
            (int(treebank.nodes.symbol[node]), *name): value
            for name, value in [
                *((("key", key), 1.0) for key in table.keys[node].tolist()),
                *((("number", i), value) for i, value in enumerate(table.values[node].tolist())),
            ]
        }
        for node in nodes.tolist()
    }


def test_cooccurrence_is_the_sum_over_nodes(treebank, monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.assembly.PART_SIZE", 8)
    nodes, found = treebank.nodes, of_parts(treebank)
    inside = side(treebank, INSIDE, TEMPLATES.leaf, nodes.leaves) | side(
        treebank, INSIDE, TEMPLATES.inside, nodes.inner
    )
    outside = side(treebank, OUTSIDE, TEMPLATES.outside, np.arange(nodes.n_nodes))
    products: Counter[tuple] = Counter()
    squares: Counter[tuple] = Counter()
    for node, phi in inside.items():
        for f, value in phi.items():
            squares[f] += value**2
            for g, other in outside[node].items():
                products[f, g] += value * other
    assert len(found.inside.names) == len(squares)
    assert sorted(found.inside.squares) == pytest.approx(sorted(squares.values()))
    for symbol, (rows, columns) in enumerate(
        zip(*(each.by_symbol(len(nodes.symbols)) for each in (found.inside, found.outside)), strict=True)
    ):
        mine = [value for (f, _), value in products.items() if f[0] == symbol and value]
        assert sorted(found.products[rows][:, columns].tocoo().data) == pytest.approx(sorted(mine))


def test_cooccurrence_does_not_depend_on_parts(treebank, monkeypatch):
    whole = of_parts(treebank)
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.assembly.PART_SIZE", 7)
    parts = of_parts(treebank)
    for mine, yours in ((whole.inside, parts.inside), (whole.outside, parts.outside)):
        for one, two in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(one, two)
    assert abs(whole.products - parts.products).max() < 1e-9


@pytest.mark.parametrize("n", range(1, 12))
def test_pairwise_sum_keeps_the_order(n):
    assert pairwise_sum(([i] for i in range(n)), add) == list(range(n))
