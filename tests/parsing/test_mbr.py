from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.nested_sets import cross

from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.trees import Tree

N_WORDS = 6
spans = st.tuples(st.integers(0, N_WORDS - 1), st.integers(1, N_WORDS), st.sampled_from("XYZ")).filter(
    lambda span: span[0] < span[1]
)


def labellings(posteriors):
    """All sets of labels of each span, as {span: chain}, of which no two spans cross."""
    of_span = {}
    for start, end, label in posteriors:
        of_span.setdefault((start, end), []).append(label)
    choices = [[(bounds, chain) for chain in (None, *subsets(labels))] for bounds, labels in of_span.items()]
    for chosen in product(*choices):
        found = {bounds: chain for bounds, chain in chosen if chain}
        if (0, N_WORDS) in found and not any(cross(one, other) for one, other in combinations(found, 2)):
            yield found


def subsets(labels):
    return [subset for k in range(1, len(labels) + 1) for subset in combinations(labels, k)]


def value_of(posteriors, cost, found):
    return sum(posteriors[(*bounds, label)] - cost for bounds, chain in found.items() for label in chain)


@given(st.dictionaries(spans, st.floats(0.01, 1), max_size=9), st.sampled_from([0.0, 0.3, 0.5]))
def test_consensus_is_the_best_of_all(posteriors, cost):
    posteriors[0, N_WORDS, "S"] = 0.4
    found = mbr_brackets(posteriors, N_WORDS, cost=cost)
    assert not any(cross(one, other) for one, other in combinations(found, 2))
    best = max(value_of(posteriors, cost, each) for each in labellings(posteriors))
    assert sum(posteriors[span] - cost for span in found) == pytest.approx(best)
    assert Tree.from_spans("abcdef", "abcdef", found).spans() == found


def test_consensus_keeps_the_order_of_labels():
    assert mbr_brackets({(0, 2, "X"): 0.9, (0, 2, "A"): 0.8, (0, 1, "Y"): 0.6}, 2, cost=0.5) == [
        (0, 2, "X"),
        (0, 2, "A"),
        (0, 1, "Y"),
    ]


def test_consensus_always_has_a_root():
    assert mbr_brackets({(0, 2, "X"): 0.1, (0, 2, "A"): 0.2, (0, 1, "Y"): 0.6}, 2, cost=0.5) == [
        (0, 2, "A"),
        (0, 1, "Y"),
    ]
    with pytest.raises(ValueError, match="all 3 words"):
        mbr_brackets({(0, 2, "X"): 1.0}, 3, cost=0.5)


def test_consensus_of_one_word():
    assert mbr_brackets({}, 1, cost=0.5) == []
    assert mbr_brackets({(0, 1, "X"): 0.1}, 1, cost=0.5) == [(0, 1, "X")]
