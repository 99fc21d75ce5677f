import numpy as np
import pytest

from spacy_lpcfg.evaluation.calibration import (
    DomainOutcomes,
    fit_shared_temperature,
    fit_temperature,
    outcomes,
    reliability,
    tag_outcomes,
    tempered,
    tempered_tags,
)
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees import Tree

GOLD = Tree.from_spans(["It", "works"], ["PRP", "VBZ"], [(0, 2, "S"), (0, 1, "NP")])


def parse_of(spans, scores, tag_scores, tags=("PRP", "NN")):
    """A parse of the words of `GOLD`."""
    return Parse(GOLD.words, list(tags), spans, np.array(scores), np.array(tag_scores), 0.0, PARSED)


def drawn(temperature, n=200_000, seed=0):
    """Probabilities that are off by a temperature, and outcomes."""
    rng = np.random.default_rng(seed)
    true = rng.beta(2, 1, n)
    return tempered(true, 1 / temperature), rng.random(n) < true


def test_reliability_by_hand():
    found = reliability(np.array([0.05, 0.91, 0.97, 1.0, 0.5]), np.array([False, True, True, False, True]))
    assert found.counts.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 3]
    assert found.accuracies[[0, 5, 9]] == pytest.approx([0, 1, 2 / 3])
    assert found.confidences[[0, 5, 9]] == pytest.approx([0.05, 0.5, 0.96])
    assert found.expected_error == pytest.approx((0.05 + 0.5 + 3 * (0.96 - 2 / 3)) / 5)
    assert reliability(np.zeros(0), np.zeros(0, bool)).expected_error == 0


def test_temperature_keeps_order_and_ends():
    scores = np.array([0.0, 0.2, 0.5, 0.9, 1.0], dtype=np.float32)
    flat, sharp = tempered(scores, 2.0), tempered(scores, 0.5)
    assert flat[[0, 2, 4]] == pytest.approx([0, 0.5, 1])
    assert (np.diff(flat) > 0).all()
    assert flat[3] < 0.9 < sharp[3]
    assert tempered(flat, 0.5) == pytest.approx(scores, abs=1e-6)
    assert tempered(scores, 1.0) == pytest.approx(scores)


@pytest.mark.parametrize("temperature", [0.6, 1.0, 1.7])
def test_temperature_is_found(temperature):
    scores, right = drawn(temperature)
    found = fit_temperature(scores, right)
    assert found == pytest.approx(temperature, rel=0.05)
    assert reliability(tempered(scores, found), right).expected_error < 0.004


def test_temperature_wants_brackets():
    with pytest.raises(ValueError, match="got none"):
        fit_temperature(np.zeros(0), np.zeros(0, bool))


def test_outcomes_of_parses():
    parse = parse_of([(0, 2, "S"), (0, 1, "VP")], [0.9, 0.4], [1.0, 1.0])
    found, right = outcomes([parse, parse], [GOLD, GOLD])
    assert found == pytest.approx([0.9, 0.4, 0.9, 0.4])
    assert right.tolist() == [True, False, True, False]
    with pytest.raises(ValueError, match="same words"):
        outcomes([parse], [])


def test_shared_temperature_counts_domains_alike():
    domains = [drawn(1.0, n=90_000), drawn(2.0, n=9_000, seed=1)]
    shared = fit_shared_temperature(domains)
    assert 1.2 < shared < 1.8
    assert fit_temperature(*map(np.concatenate, zip(*domains, strict=True))) < shared
    with pytest.raises(ValueError, match="Expected brackets"):
        fit_shared_temperature([*domains, (np.zeros(0), np.zeros(0, dtype=bool))])


def test_tags_share_what_the_likeliest_one_leaves():
    tempered_by = tempered_tags({"NN": 0.9, "JJ": 0.08, "VB": 0.02}, 2.0)
    assert tempered_by == pytest.approx({"NN": 0.75, "JJ": 0.2, "VB": 0.05})
    assert tempered_tags({"NN": 1.0}, 2.0) == {"NN": 1.0}


def test_outcomes_of_tags_and_whole_trees():
    right = parse_of(GOLD.spans(), [0.8, 0.5], [0.9, 0.6])
    wrong = parse_of([(0, 2, "S")], [0.7], [1.0, 0.3], tags=GOLD.tags)
    bare = Parse(["Go"], ["VB"], [], np.zeros(0), np.array([0.9]), 0.0, PARSED)
    parses, golds = [right, wrong, bare], [GOLD, GOLD, Tree.from_spans(["Go"], ["VB"], [])]
    domain = DomainOutcomes.of(parses, golds)
    assert domain.tree_probabilities(1.0) == pytest.approx([0.4, 0.7])
    assert domain.tree_probabilities(0.5) == pytest.approx([0.5 * 16 / 17, 49 / 58])
    assert domain.are_right.tolist() == [True, False]
    scores, are_right = tag_outcomes(parses, golds)
    assert scores == pytest.approx([0.9, 0.6, 1.0, 0.3, 0.9])
    assert are_right.tolist() == [True, False, True, True, True]


def test_expected_errors_of_a_domain_are_those_of_tempered_parses():
    parse = parse_of(GOLD.spans(), [0.8, 0.6], [0.9, 0.6])
    domain = DomainOutcomes.of([parse], [GOLD])
    assert domain.expected_errors(1.0, 1.0) == pytest.approx((0.3, 0.35, 0.52))
    assert domain.expected_errors(0.5, 2.0) == pytest.approx(
        (
            1 - np.mean(tempered(parse.span_scores, 0.5)),
            np.mean([0.25, tempered(parse.tag_scores, 2.0)[1]]),
            1 - np.prod(tempered(parse.span_scores, 0.5)),
        )
    )
    assert DomainOutcomes.of([], []).expected_errors(1.0, 1.0) == (0, 0, 0)
