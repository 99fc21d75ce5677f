from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.trees import Tree

N_WORDS = 6
spans = st.tuples(st.integers(0, N_WORDS - 1), st.integers(1, N_WORDS), st.sampled_from("XY")).filter(
    lambda span: span[0] < span[1]
)


def crosses(one, other):
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def best_value(posteriors, cost):
    """By all subsets that nest and have a bracket over the sentence."""
    subsets = chain.from_iterable(combinations(posteriors, k) for k in range(len(posteriors) + 1))
    return max(
        sum(posteriors[span] - cost for span in subset)
        for subset in subsets
        if any(span[:2] == (0, N_WORDS) for span in subset)
        and not any(crosses(one, other) for one, other in combinations(subset, 2))
    )


@given(st.dictionaries(spans, st.floats(0.01, 1), max_size=9), st.sampled_from([0.0, 0.3, 0.5]))
def test_consensus_is_the_best_of_all(posteriors, cost):
    posteriors[0, N_WORDS, "S"] = 0.4
    found = mbr_brackets(posteriors, N_WORDS, cost=cost)
    assert not any(crosses(one, other) for one, other in combinations(found, 2))
    assert sum(posteriors[span] - cost for span in found) == pytest.approx(best_value(posteriors, cost))
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
