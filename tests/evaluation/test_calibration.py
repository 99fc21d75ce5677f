from dataclasses import replace

import numpy as np
import pytest

from spacy_lpcfg.evaluation.calibration import (
    TAUS,
    DomainOutcomes,
    bracket_loss,
    bracket_losses,
    fit_tau,
    outcomes,
    reliability,
    tag_outcomes,
)
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, PARSED, Parse, Posteriors
from spacy_lpcfg.trees import Tree

GOLD = Tree.from_spans(["It", "works"], ["PRP", "VBZ"], [(0, 2, "S"), (0, 1, "NP")])


def parse_of(spans, scores, tag_scores, tags=("PRP", "NN")):
    """A parse of the words of `GOLD`."""
    return Parse(GOLD.words, list(tags), spans, np.array(scores), np.array(tag_scores), 0.0, PARSED)


def test_reliability_by_hand():
    found = reliability(np.array([0.05, 0.91, 0.97, 1.0, 0.5]), np.array([False, True, True, False, True]))
    assert found.counts.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 3]
    assert found.accuracies[[0, 5, 9]] == pytest.approx([0, 1, 2 / 3])
    assert found.confidences[[0, 5, 9]] == pytest.approx([0.05, 0.5, 0.96])
    assert found.expected_error == pytest.approx((0.05 + 0.5 + 3 * (0.96 - 2 / 3)) / 5)
    assert reliability(np.zeros(0), np.zeros(0, bool)).expected_error == 0


def test_outcomes_of_parses():
    parse = parse_of([(0, 2, "S"), (0, 1, "VP")], [0.9, 0.4], [1.0, 1.0])
    found, right = outcomes([parse, parse], [GOLD, GOLD])
    assert found == pytest.approx([0.9, 0.4, 0.9, 0.4])
    assert right.tolist() == [True, False, True, False]
    with pytest.raises(ValueError, match="same words"):
        outcomes([parse], [])


def test_outcomes_of_tags_and_whole_trees():
    right = replace(parse_of(GOLD.spans(), [0.8, 0.5], [0.9, 0.6], tags=GOLD.tags), probability=0.4)
    other_tag = replace(parse_of(GOLD.spans(), [0.8, 0.5], [0.9, 0.6]), probability=0.3)
    wrong = replace(parse_of([(0, 2, "S")], [0.7], [1.0, 0.3], tags=GOLD.tags), probability=0.2)
    unknown = parse_of(GOLD.spans(), [0.8, 0.5], [0.9, 0.6])
    parses = [right, other_tag, wrong, unknown]
    domain = DomainOutcomes.of(parses, [GOLD] * 4)
    assert domain.trees[0].tolist() == [0.4, 0.3, 0.2]
    assert domain.trees[1].tolist() == [True, False, False]
    assert DomainOutcomes.of(parses, [GOLD] * 4, with_tags=False).trees[1].tolist() == [True, True, False]
    scores, are_right = tag_outcomes(parses, [GOLD] * 4)
    assert scores == pytest.approx([0.9, 0.6, 0.9, 0.6, 1.0, 0.3, 0.9, 0.6])
    assert are_right.tolist() == [True, True, True, False, True, True, True, False]
    assert domain.expected_errors() == pytest.approx(
        (reliability(*domain.brackets).expected_error, reliability(scores, are_right).expected_error, 1.1 / 3)
    )
    assert DomainOutcomes.of([], []).expected_errors() == (0, 0, 0)


class Tempered:
    """A parser that knows one sentence with a right bracket and a wrong one, by the powers that it is asked for."""

    def tempered_posteriors(self, query, taus):
        return [Posteriors({(0, 2, "S"): 1 - 0.1 * tau, (0, 1, "VP"): 0.2 * tau}, []) for tau in taus]


def test_bracket_losses_by_hand():
    gold = Tree.from_spans(GOLD.words, GOLD.tags, [(0, 2, "S")])
    (loss, twice) = bracket_losses(Tempered(), [Query(GOLD.words)], [gold], (1.0, 2.0))
    assert loss == pytest.approx(-np.log(0.9 * 0.8))
    assert twice == pytest.approx(-np.log(0.8 * 0.6))
    assert fit_tau(Tempered(), [Query(GOLD.words)], [gold]) == min(TAUS)
    missing = Posteriors({(0, 2, "S"): 1.0}, [])
    assert bracket_loss(missing, GOLD) == pytest.approx(-np.log(MIN_POSTERIOR))
    with pytest.raises(ValueError, match="got none"):
        fit_tau(Tempered(), [], [])
