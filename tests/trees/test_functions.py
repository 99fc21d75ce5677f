"""Functions of categories: kept by learners, written, and scored with and without."""

import json

import pytest
import spacy
from commands import run
from paths import ROOT
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical
from spacy_lpcfg.learning import Pivot, TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, clean, normalize, parse_trees
from spacy_lpcfg.trees.transforms import category_with_functions

TREES = """\
( (S (NP-SBJ-1 (PRP It)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP=2 (VBG working)))) (. .)) )
( (S (NP-SBJ (DT The) (NN ferry)) (VP (VBD left) (NP-TMP (NN today)))) )
( (S (NP-SBJ (PRP It)) (VP (VBD left) (NP (DT the) (NN ferry)))) )
"""
KEPT = """\
(S (NP-SBJ (PRP It)) (VP (VBZ seems) (S (VP (VBG working)))) (. .))
(S (NP-SBJ (DT The) (NN ferry)) (VP (VBD left) (NP-TMP (NN today))))
(S (NP-SBJ (PRP It)) (VP (VBD left) (NP (DT the) (NN ferry))))
"""


KEPT_LABELS = "NP-SBJ-1>NP-SBJ NP-1>NP S=2>S PP-LOC-CLR-TPC=3-2>PP-LOC-CLR-TPC NP>NP -LRB->-LRB- =>= NP--SB>NP-SB"


@pytest.mark.parametrize("labels", KEPT_LABELS.split())
def test_functions_are_kept_without_indices(labels):
    label, kept = labels.split(">")
    assert category_with_functions(label) == kept


def test_functions_are_kept_by_transforms():
    trees, kept = [*parse_trees(TREES)], [*parse_trees(KEPT)]
    assert [clean(tree, functions=True) for tree in trees] == kept
    assert clean(Tree("NP-SBJ", word="x"), functions=True) == Tree("NP-SBJ", word="x")
    assert [normalize(tree, functions=True) for tree in trees] == kept
    assert [normalize(tree) for tree in trees] == [normalize(tree) for tree in kept]


def test_functions_of_trees_have_probabilities_by_grammars_that_have_them():
    trees = [*parse_trees(TREES)]
    with_functions, without = TreebankPCFG(functions=True).fit(trees), TreebankPCFG().fit(trees)
    for grammar in (with_functions, without):
        assert make_parser(grammar).tree_log_probability(trees[1]) > -50
    assert with_functions.labels == ("NP", "NP-SBJ", "NP-TMP", "S", "VP")


def test_functions_are_scored_with_and_without(tmp_path):
    gold, test, model = tmp_path / "gold.mrg", tmp_path / "test.mrg", tmp_path / "model"
    gold.write_text(TREES * 4, "utf-8")
    test.write_text((KEPT * 4).replace("NP-TMP", "NP-LOC"), "utf-8")
    plain = json.loads(run("evaluate", gold, test, "--json").stdout)["evalb_f"]
    scores = json.loads(run("evaluate", gold, test, "--functions", "keep", "--json").stdout)
    assert (plain, scores["labels"]["NP-SBJ"]["f"]) == (100, 100)
    assert scores["evalb_f"] < 95
    told = run(
        "learn", "parser", gold, "--dev", gold, "--method", "pcfg", "--set", "functions=true", "-o", model
    ).stdout
    assert "dev F1 100.00" in told
    assert json.loads(run("evaluate", model, gold, "--functions", "keep", "--json").stdout)["evalb_f"] == 100
    assert json.loads(run("evaluate", model, gold, "--json").stdout)["evalb_f"] == 100
    parsed = run("parse", model, "-", "--input", "tokens", text="The ferry left today\n").stdout
    assert parsed == KEPT.splitlines(keepends=True)[1]
    doc = spacy.load(model)("It left the ferry")
    assert {span.label_ for span in doc.spans["constituents"]} == {"S", "NP-SBJ", "VP", "NP"}


def test_functions_are_converted(tmp_path):
    path, out = tmp_path / "in.mrg", tmp_path / "out.mrg"
    path.write_text(TREES, "utf-8")
    run("convert", path, "-o", out, "--functions", "keep")
    assert out.read_text("utf-8") == KEPT
    docs = tmp_path / "docs.spacy"
    run("convert", path, "-o", docs, "--functions", "keep")
    run("convert", docs, "-o", out, "--functions", "keep", "--force")
    assert out.read_text("utf-8") == KEPT
    run("convert", docs, "-o", out, "--force")
    assert out.read_text("utf-8") == KEPT.replace("-SBJ", "").replace("-TMP", "")


def test_functions_are_learned_by_evidence_and_networks():
    trees = [*parse_trees(TREES)] * 4
    pivot, network = (
        Pivot(functions=True),
        ISBNLearner(n_states=8, n_epochs=40, lexical=ISBNLexical(min_count=1), functions=True),
    )
    for learner in (EvidenceLearner(pivot), network):
        assert {"NP-SBJ", "NP-TMP"} <= {*learner.fit(trees).labels}
    assert (0, 2, "NP-SBJ") in make_parser(pivot.fit(trees)).parse(["The", "ferry", "left", "today"]).spans


@pytest.mark.parametrize("config", ["grammar", "stepwise", "isbn"])
def test_functions_and_tags_are_variables_of_the_configs(config, new_file):
    path = new_file("in.mrg", TREES.replace("NN ", "NN-X ") * 4)
    given = {"paths.train": str(path), "paths.dev": str(path), "vars.functions": True, "vars.coarse_tags": True}
    nlp = init_nlp(load_config(ROOT / "configs" / f"{config}.cfg", overrides=given))
    learned = nlp.get_pipe(nlp.pipe_names[-1]).learned
    assert {"NP-SBJ", "NP-TMP"} <= {*learned.labels}
    assert "NN" in learned.tags
