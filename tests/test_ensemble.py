"""Several grammars as one parser."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from spacy_lpcfg.chart import EXHAUSTIVE, EnsembleParser, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import EM, Clusters, LexicalSettings, Spectral, TreebankPCFG
from spacy_lpcfg.trees import Tree, read_trees

SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample"


@pytest.fixture(scope="module")
def sample() -> list[Tree]:
    return list(islice(read_trees([SAMPLE / "train.mrg"]), 120))


@pytest.fixture(scope="module")
def golds() -> list[Tree]:
    return list(islice(read_trees([SAMPLE / "dev.mrg"]), 8))


@pytest.fixture(scope="module")
def proper(sample) -> list[Grammar]:
    return [TreebankPCFG().fit(sample), Clusters(n_states=3, n_iterations=1).fit(sample), EM(n_states=4).fit(sample)]


def test_one_grammar_parses_as_it_does_alone(proper, golds):
    alone, one, thrice = Parser(proper[1]), EnsembleParser(proper[1:2]), EnsembleParser([proper[1]] * 3)
    for gold in golds:
        wanted = alone.parse(gold.words)
        for parse in (one.parse(gold.words), thrice.parse(gold.words)):
            assert (parse.spans, parse.tags) == (wanted.spans, wanted.tags)
            np.testing.assert_allclose(parse.span_scores, wanted.span_scores, rtol=1e-5)
            assert parse.log_probability == pytest.approx(wanted.log_probability, nan_ok=True)


def test_marginals_and_probabilities_are_means(proper, golds):
    ensemble = EnsembleParser(proper, settings=EXHAUSTIVE)
    members = [Parser(grammar, settings=EXHAUSTIVE) for grammar in proper]
    for gold in golds:
        forest = ensemble.forest(gold.words)
        mean, every = ensemble.marginals(forest), [member.marginals(forest) for member in members]
        np.testing.assert_allclose(mean.items(), np.mean([one.items() for one in every], axis=0))
        np.testing.assert_allclose(mean.edges(), np.mean([one.edges() for one in every], axis=0))
        logs = [one.log_probability for one in every]
        assert mean.log_probability == pytest.approx(max(logs) + np.log(np.mean(np.exp(np.array(logs) - max(logs)))))


def test_spectral_grammars_have_no_log_probability(sample, proper, golds):
    ensemble = EnsembleParser([proper[1], Spectral(n_states=3).fit(sample)])
    parses = [ensemble.parse(gold.words) for gold in golds]
    assert all(np.isnan(parse.log_probability) for parse in parses)
    assert all(((parse.span_scores >= 0) & (parse.span_scores <= 1)).all() for parse in parses)


def test_grammars_of_other_trees_are_refused(sample, proper):
    with pytest.raises(ValueError, match="differ in their symbols"):
        EnsembleParser([proper[0], TreebankPCFG(markov=1).fit(sample)])
    with pytest.raises(ValueError, match="differ in their lexicon"):
        EnsembleParser([proper[0], TreebankPCFG(lexical=LexicalSettings(rare=1)).fit(sample)])
    with pytest.raises(ValueError, match="at least one grammar"):
        EnsembleParser([])
