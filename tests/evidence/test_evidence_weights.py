"""How much evidence counts beside a grammar."""

from __future__ import annotations

from dataclasses import replace

from paths import SAMPLE

from spacy_lpcfg.evaluation.calibration import TAUS, bracket_losses
from spacy_lpcfg.evidence.grammar import EvidenceGrammar, evidence_parser
from spacy_lpcfg.evidence.learner import EvidenceLearner, with_fitted_weights
from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import normalize, read_trees


def test_weights_are_those_with_the_least_loss(monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.evidence.learner._ENOUGH", 20)
    trees = [tree for tree in map(normalize, read_trees([SAMPLE / "train.mrg"])) if tree is not None]
    model, golds = EvidenceLearner(TreebankPCFG()).fit(trees[:150]), trees[150:170]
    queries = [Query(tree.words) for tree in golds]

    def loss(power: float, tau: float) -> float:
        tried: EvidenceGrammar = replace(model, weights=replace(model.weights, span_power=power))
        parser = evidence_parser(tried)
        return float(bracket_losses(parser, parser.prepare(queries), golds, [tau])[0])

    losses = {(power, tau): loss(power, tau) for power in (0.21, 0.3) for tau in TAUS[::5]}
    weights = with_fitted_weights(replace(model, weights=replace(model.weights, span_power=0.3)), golds).weights
    assert weights.span_power in (0.21, 0.3)
    assert loss(weights.span_power, weights.tau) <= min(losses.values())
