"""Going on from a model: what is chosen, when the model is kept, and the doors that lead to it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import spacy
from commands import run, stderr_of
from encoders import make_encoder
from paths import SAMPLE
from pipelines import pipeline_by
from stored_models import model

from spacy_lpcfg import adapt, load
from spacy_lpcfg.components.serve.corrected_trees import CorrectedTrees
from spacy_lpcfg.components.serve.corrections import Corrections
from spacy_lpcfg.components.serve.decisions import Decisions
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.evaluation.bootstrap import f1_of
from spacy_lpcfg.evaluation.calibration import TAUS
from spacy_lpcfg.evidence import adaptation
from spacy_lpcfg.evidence.adaptation import AdaptationTrial, Conventions, bootstrap_gains
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.folds import AdaptationSettings
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, continue_classifier, interpolated, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.learning import EM
from spacy_lpcfg.trees import Tree, normalize, parse_trees, read_trees, write_trees

SETTINGS = ClassifierSettings(n_epochs=1, least_steps=1, hidden=8)


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Let a base of 200 trees stand for few of them, as other conventions want it."""
    monkeypatch.setattr(adaptation, "_STRENGTHS", (1.0, 0.1))
    monkeypatch.setattr(adaptation, "_LEAST_STRENGTH", 1.0)


def sample_trees(part: str, n: int) -> list[Tree]:
    return list(islice(read_trees(SAMPLE / f"{part}.mrg"), n))


def by_other_conventions(trees: list[Tree]) -> list[Tree]:
    """Trees with NX in place of NP."""

    def relabel(node: Tree, below: list[Tree]) -> Tree:
        return node if node.is_leaf else Tree("NX" if node.label == "NP" else node.label, below)

    return [tree.fold(relabel) for tree in trees]


@pytest.fixture(scope="module")
def base():
    return EM(2, 2).fit(sample_trees("train", 200))


@pytest.fixture(scope="module")
def others() -> list[Tree]:
    return by_other_conventions(sample_trees("dev", 30))


def test_adapted_model_has_the_conventions_of_the_trees(base, others):
    reports: list[object] = []
    adapted = adapt(base, others, on_step=reports.append)
    assert adapted.is_adapted
    assert adapted.gain[0] > 0
    assert adapted.f1 > adapted.base_f1
    assert "NX" in adapted.model.labels
    assert isinstance(reports[0], Conventions)
    assert reports[0].differences[0].what == "label NX, which the model lacks"
    assert not any("root" in difference.what for difference in reports[0].differences)
    assert {type(report) for report in reports[1:]} == {AdaptationTrial}
    assert len({report.settings for report in reports[1:]}) == len(reports[1:])
    assert adapt(base, others).model.to_bytes() == adapted.model.to_bytes()


def test_model_that_cannot_gain_is_kept(base):
    parser = pipeline_by(base)[1].ready_parser()
    own = [parser.parse(tree.words).tree for tree in sample_trees("dev", 25)]
    adapted = adapt(base, own)
    assert adapted.model is base
    assert (adapted.is_adapted, adapted.base_f1) == (False, 100.0)
    assert "kept as it was" in adapted.summary


def test_function_labels_of_a_model_are_no_difference():
    sentences = "(S (NP-SBJ (PRP It)) (VP (VBZ works)))", "(S (NP-SBJ (DT The) (NN dog)) (VP (VBD left)))"
    trees, reports = [*parse_trees("\n".join(sentences * 15))], []
    adapt(EM(n_states=1, n_iterations=1, functions=True).fit(trees), trees, on_step=reports.append)
    assert reports[0] == Conventions([])


def test_adapted_evidence_goes_on_from_its_classifier(base, others):
    encoder = make_encoder()
    bare = [tree for tree in map(normalize, sample_trees("train", 40)) if tree]
    start = learn_classifier(encoder, bare, settings=SETTINGS)
    adapted = adapt(EvidenceGrammar(base, EncoderEvidence(encoder, start)), others).model
    stored = EvidenceGrammar.from_bytes(adapted.to_bytes())
    assert isinstance(stored.evidence, EncoderEvidence)
    assert isinstance(adapted.evidence.encoder, Encoder)
    assert "NX" in stored.labels
    assert stored.weights.tau in TAUS
    assert stored.evidence.classifier.chains[: len(start.chains)] == start.chains


def test_classifier_is_held_near_its_start(others):
    encoder = make_encoder()
    bare, new = ([tree for tree in map(normalize, part) if tree] for part in (sample_trees("train", 20), others))
    start = learn_classifier(encoder, bare, settings=SETTINGS)
    end = continue_classifier(encoder, new, start=start, settings=SETTINGS)
    n = len(start.chains)
    assert ("NX",) in end.chains[n:]
    for share in (0.0, 0.25, 1.0):
        between = interpolated(start, end, share)
        for name in ("before", "span_outputs"):
            one, other, mixed = (each.weights[name].astype(float)[..., :n] for each in (start, end, between))
            np.testing.assert_allclose(mixed, one + share * (other - one), atol=2e-3)
        assert np.array_equal(between.weights["span_outputs"][:, n:], end.weights["span_outputs"][:, n:])


def test_bootstrap_is_paired():
    rng = np.random.default_rng(0)
    before = rng.integers(0, 5, (30, 1)) + np.array([0, 4, 4])
    after = before + np.array([1, 0, 0])
    assert np.all(bootstrap_gains(before, before, 0) == 0)
    gains = bootstrap_gains(before, after, 0)
    assert gains.mean() == pytest.approx(float(f1_of(after.sum(0)) - f1_of(before.sum(0))), abs=0.3)
    assert gains.std() < bootstrap_gains(before, rng.permutation(after), 0).std() / 3


def test_adaptation_refuses_few_trees_and_other_models(base):
    with pytest.raises(ValueError, match="at least 20 trees to adapt a model, got 3: correct more"):
        adapt(base, sample_trees("dev", 3))
    with pytest.raises(ValueError, match="a grammar to go on from"):
        adapt(model("isbn"), [])
    assert AdaptationSettings(300.0).summary == "grammar as 300 trees beside yours"


# Doors -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(base, tmp_path_factory) -> Path:
    """A pipeline by the base."""
    folder = tmp_path_factory.mktemp("base") / "model"
    pipeline_by(base)[0].to_disk(folder)
    return folder


def test_adapt_reads_what_the_correction_page_saves(base, folder, others, tmp_path):
    """By the shell, by a config and in Python: the same model."""
    nlp, parser = pipeline_by(base)
    docs = [nlp(" ".join(tree.words)) for tree in sample_trees("dev", 30)]
    corrections = Corrections(parser, docs, CorrectedTrees(tmp_path / "own.mrg"))
    for number in range(len(corrections.sentences)):
        brackets = [tuple(bracket[:3]) for bracket in corrections.opened(number)["brackets"]]
        relabelled = [(*span, "NX" if label == "NP" else label) for *span, label in brackets]
        corrections.save(number, Decisions(tuple(relabelled)))
    corrections.trees.close()
    result = run("adapt", folder, tmp_path / "own.mrg", "--output", tmp_path / "mine")
    assert "label NX, which the model lacks" in result.stdout
    assert "adapted, difference +" in result.stdout
    assert "grammar as 30 trees beside yours: F1" in stderr_of(result)
    saved = spacy.load(tmp_path / "mine").get_pipe("lpcfg_parser").learned.to_bytes()
    assert saved == adapt(base, read_trees(tmp_path / "own.mrg")).model.to_bytes()
    config = {"learner": {"@misc": "spacy-lpcfg.Adapt.v1", "base": str(folder)}}
    trained = spacy.blank("en")
    trained.add_pipe("lpcfg_parser", config=config)
    trained.initialize(lambda: Treebank(tmp_path / "own.mrg")(trained))
    assert trained.get_pipe("lpcfg_parser").learned.to_bytes() == saved


def test_adapt_keeps_a_model_that_gains_nothing(base, folder, tmp_path):
    parser = pipeline_by(base)[1].ready_parser()
    write_trees(tmp_path / "own.mrg", [parser.parse(tree.words).tree for tree in sample_trees("dev", 25)])
    result = run("adapt", folder, tmp_path / "own.mrg", "--output", tmp_path / "mine")
    assert "The model is kept as it was" in result.stdout
    assert load(tmp_path / "mine" / "lpcfg_parser" / "model").to_bytes() == base.to_bytes()
    message = stderr_of(run("adapt", folder, SAMPLE / "nothing.mrg", "-o", tmp_path / "other", code=2))
    assert "nothing.mrg" in message
