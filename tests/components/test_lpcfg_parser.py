"""The component `lpcfg_parser`: learning, parsing anything, saving, and the settings."""

from __future__ import annotations

import pickle
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
import spacy
from pipelines import annotations, pipeline_of, treebank
from quoted import refused_or_read
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from texts import TEXTS
from thinc.api import Config

from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.components.constituents import KEY, rooted_trees, trees
from spacy_lpcfg.components.corpus import tree_to_doc
from spacy_lpcfg.evaluation.calibration import TAG_TEMPERATURE, tempered
from spacy_lpcfg.learning import (
    EM,
    Clusters,
    LexicalSettings,
    Pivot,
    Smoothing,
    Spectral,
    SplitMerge,
    StateSmoothing,
    TreebankPCFG,
)
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.pivot import PivotFeatures
from spacy_lpcfg.trees import parse_trees

pytestmark = pytest.mark.filterwarnings("ignore:.*without sentence boundaries")

PCFG = {"learner": {"@misc": "spacy-lpcfg.TreebankPCFG.v1"}}
PRUNING = {"@misc": "spacy-lpcfg.Pruning.v1"}
STEPWISE = {
    "learner": {
        "@misc": "spacy-lpcfg.StepwiseEM.v1",
        "start": {"@misc": "spacy-lpcfg.EM.v1", "n_states": 2, "n_iterations": 0},
    }
}


def pipeline(lang="en", **config):
    return pipeline_of("lpcfg_parser", lang, **{**PCFG, **config})


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline()
    nlp.initialize(lambda: treebank(150)(nlp))
    return nlp


# Learning


def test_parser_parses_as_the_library_does_with_what_it_learned(nlp):
    examples = list(treebank(150)(nlp))
    golds = [tree for eg in examples for tree in rooted_trees(eg.reference)]
    parser = Parser(TreebankPCFG().fit(golds))
    for doc, gold in zip(nlp.pipe([eg.predicted for eg in examples[:20]]), golds, strict=False):
        wanted = parser.parse(gold.words)
        assert trees(doc) == [wanted.tree]
        assert doc.spans[KEY].attrs["scores"].tolist() == wanted.span_scores.tolist()
        assert doc.spans[KEY].attrs["tag_scores"] == pytest.approx(
            tempered(wanted.tag_scores, TAG_TEMPERATURE), abs=1e-6
        )


def test_parser_learners_are_those_of_the_library():
    assert registry.misc.get("spacy-lpcfg.TreebankPCFG.v1")() == TreebankPCFG()
    settings = {"lexical": {"@misc": "spacy-lpcfg.LexicalSettings.v1", "rare": 1}}
    settings["smoothing"] = {"@misc": "spacy-lpcfg.Smoothing.v1", "c": 1.0, "nu": 0.1}
    wanted = Spectral(smoothing=Smoothing(1.0, 0.1), lexical=LexicalSettings(rare=1))
    assert pipeline(learner={"@misc": "spacy-lpcfg.Spectral.v1", **settings}).get_pipe("lpcfg_parser").learner == wanted
    settings["smoothing"] = {"@misc": "spacy-lpcfg.StateSmoothing.v1", "rules": 0.1}
    for learner in (EM, SplitMerge, Clusters, Pivot):
        name = f"spacy-lpcfg.{learner.__name__}.v1"
        assert registry.misc.get(name) is learner
        nlp = pipeline(learner={"@misc": name, "n_iterations": 2, **settings})
        wanted = learner(n_iterations=2, smoothing=StateSmoothing(0.1), lexical=LexicalSettings(rare=1))
        assert nlp.get_pipe("lpcfg_parser").learner == wanted
        again = spacy.blank("en").from_config(Config().from_str(nlp.config.to_str()))
        assert again.get_pipe("lpcfg_parser").learner == wanted


@pytest.mark.parametrize("more", [{"more_inside": [], "more_outside": []}, {"more_inside": ["head_tag"]}], ids=str)
def test_parser_takes_single_and_several_pivot_features_from_a_config(more):
    """Section 6.2 of Cohen and Collins (2014), and how far their convex programmes are solved."""
    nlp = spacy.blank("xx")
    em = {"@misc": "spacy-lpcfg.ConvexEM.v1", "max_iterations": 100, "tolerance": 1e-8}
    pivots = {"@misc": "spacy-lpcfg.PivotFeatures.v1", "precision": 1e-6, "em": em, **more}
    nlp.add_pipe("lpcfg_parser", config={"learner": {"@misc": "spacy-lpcfg.Pivot.v1", "pivots": pivots}})
    wanted = Pivot(pivots=PivotFeatures(precision=1e-6, em=ConvexEM(100, 1e-8), **more))
    assert nlp.get_pipe("lpcfg_parser").learner == wanted
    again = spacy.blank("xx").from_config(Config().from_str(nlp.config.to_str()))
    assert again.get_pipe("lpcfg_parser").learner == wanted


def test_parser_leaves_the_steps_of_em_in_the_meta_of_the_pipeline(tmp_path):
    nlp = spacy.blank("xx")
    settings = {"@misc": "spacy-lpcfg.EM.v1", "n_states": 2, "n_iterations": 3}
    nlp.add_pipe("lpcfg_parser", config={"learner": settings})
    nlp.initialize(lambda: treebank(150)(nlp))
    nlp.to_disk(tmp_path)
    steps = spacy.load(tmp_path).meta["fit"]
    assert [step["iteration"] for step in steps] == [1, 2, 3]
    assert steps[0]["log_likelihood"] < steps[2]["log_likelihood"] < 0
    assert steps[0]["f1"] is None


def test_parser_scores_a_pipeline(nlp):
    scores = nlp.evaluate(list(treebank(40)(nlp)))
    assert 0.6 < scores["evalb_f"] == scores[f"spans_{KEY}_f"] <= 1
    assert scores["evalb_n_sentences"] == 40
    assert nlp.get_pipe("lpcfg_parser").grammar.root_label == "ROOT"


@pytest.fixture(scope="module")
def stepwise():
    """A pipeline that has begun stepwise EM, and its examples."""
    nlp = pipeline(**STEPWISE)
    examples = list(treebank(60)(nlp))
    nlp.initialize(lambda: examples)
    return nlp, examples


def test_parser_learns_by_steps(stepwise):
    """A batch of all trees is an iteration of EM; what is parsed between changes nothing."""
    nlp, examples = stepwise
    losses = [nlp.update(examples[::order])["lpcfg_parser"] for order in (1, -1)]
    nlp(TEXTS[0])
    losses.append(nlp.update(examples)["lpcfg_parser"])
    history = []
    gold = [tree for eg in examples for tree in rooted_trees(eg.reference, KEY)]
    wanted = EM(n_states=2, n_iterations=3).fit(gold, on_step=history.append)
    assert nlp.get_pipe("lpcfg_parser").grammar.to_bytes() == wanted.to_bytes()
    n_words = sum(map(len, gold))
    assert losses == pytest.approx([-step.log_likelihood / n_words for step in history])
    assert pickle.loads(pickle.dumps(nlp)).get_pipe("lpcfg_parser").grammar.to_bytes() == wanted.to_bytes()


def test_parser_adds_up_losses_of_batches(stepwise):
    nlp, examples = stepwise
    losses: dict[str, float] = {}
    found = [nlp.update(examples[at : at + 20], losses=losses)["lpcfg_parser"] for at in (0, 20)]
    assert 0 < found[0] < found[1] == losses["lpcfg_parser"]


def test_parser_trained_before_learns_nothing_more_and_says_so(stepwise):
    nlp, examples = stepwise
    loaded = pipeline(**STEPWISE).from_bytes(nlp.to_bytes())
    loaded.resume_training()
    with pytest.warns(UserWarning, match="learns nothing more"):
        assert loaded.update(examples)["lpcfg_parser"] == 0
    assert loaded.get_pipe("lpcfg_parser").grammar.to_bytes() == nlp.get_pipe("lpcfg_parser").grammar.to_bytes()


def test_parser_starts_steps_from_learners_by_em_only():
    with pytest.raises(ValueError, match="learner by EM as start"):
        pipeline(learner={**STEPWISE["learner"], "start": {"@misc": "spacy-lpcfg.Spectral.v1"}})


# Parsing


@pytest.mark.filterwarnings("error")
def test_parser_splits_sentences_where_nobody_did_without_complaint(nlp, with_settings):
    bare = with_settings()
    bare.remove_pipe("lpcfg_sentencizer")
    docs = list(bare.pipe(TEXTS))
    assert [annotations(doc) for doc in docs] == [annotations(doc) for doc in nlp.pipe(TEXTS)]
    assert [sent.text for sent in docs[1].sents] == ["Did you lock the shed?", "Yes."]


def test_parser_scores_are_probabilities(nlp):
    for doc in nlp.pipe(TEXTS):
        attrs = doc.spans[KEY].attrs
        assert np.all((attrs["scores"] >= 0) & (attrs["scores"] <= 1 + 1e-5))
        words = [i for i, token in enumerate(doc) if not token.is_space]
        assert np.all(attrs["tag_scores"][words] <= 1 + 1e-5)
        assert np.all(attrs["log_probabilities"][: len(words)] < 0)


def test_parser_spells_brackets_and_quotes_as_its_treebank():
    text = """(X (`` ``) (-LRB- -LRB-) (UH Yes) (-RRB- -RRB-) ('' ''))"""
    nlp = pipeline()
    gold = tree_to_doc(nlp.vocab, list(parse_trees(text * 8)))
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    doc = Doc(nlp.vocab, words=["“", "(", "Yes", ")", '"'], sent_starts=[1, 0, 0, 0, 0])
    assert str(trees(nlp.get_pipe("lpcfg_parser")(doc))[0]) == text


def test_parser_below_the_threshold_leaves_spans_out(nlp, with_settings):
    full = nlp("Who sold the old ferry to a man in the shed?")
    scores = full.spans[KEY].attrs["scores"]
    middle = float(np.median(scores))
    cut = with_settings(output={"threshold": middle})(full.text)
    assert 0 < len(cut.spans[KEY]) == (scores >= middle).sum() < len(full.spans[KEY])
    assert [token.tag_ for token in cut] == [token.tag_ for token in full]
    assert (with_settings(output={"threshold": 1})(full.text).spans[KEY].attrs["scores"] >= 1).all()


def test_parser_prunes_as_told(nlp, with_settings, tmp_path):
    told = {"edge_threshold": 0.0, "boundary_merit": False, "retry_beam": None}
    other = with_settings(pruning=told, limits={"max_words": 8})
    assert other.get_pipe("lpcfg_parser").parser.parser.parser.settings == ChartSettings(**told)
    words = ["The", "cat", "that", "saw", "the", "dog", "ran", "."]
    wanted = Parser(nlp.get_pipe("lpcfg_parser").grammar, settings=ChartSettings(**told)).parse(words)
    found, usual = (each(Doc(each.vocab, words)).spans[KEY].attrs["scores"].tolist() for each in (other, nlp))
    assert found == wanted.span_scores.tolist() != usual
    other.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe("lpcfg_parser").pruning == ChartSettings(**told)
    assert loaded.config["components"]["lpcfg_parser"]["pruning"].items() >= {**PRUNING, **told}.items()


def test_parser_prunes_as_the_library_does():
    make = registry.misc.get("spacy-lpcfg.Pruning.v1")
    assert make() == ChartSettings()
    for name, parameter in signature(make).parameters.items():
        other = not parameter.default if isinstance(parameter.default, bool) else 0.25
        assert make(**{name: other}) == replace(ChartSettings(), **{name: other})


def test_parser_pruning_is_checked():
    for wrong in (1, {"@misc": "spacy-lpcfg.entities.v1"}):
        with pytest.raises(ValueError, match="pruning"):
            pipeline(pruning=wrong)
    for wrong in ({"beam": 2}, {"bean": 0.1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pipeline(pruning={**PRUNING, **wrong})
    made = refused_or_read(lambda: pipeline(pruning={"beam": "0.1"}), "Expected beam")
    assert made is None or made.get_pipe("lpcfg_parser").pruning == ChartSettings(beam=0.1)


def test_parser_takes_tags_as_given_or_as_a_prior(nlp, with_settings):
    doc = Doc(nlp.vocab, words=["Go", "fast"], tags=["NN", "NOSUCHTAG"], sent_starts=[1, 0])
    given = with_settings(tags="given").get_pipe("lpcfg_parser")(doc.copy())
    assert given[0].tag_ == "NN"
    assert len(trees(given)[0]) == 2
    prior = with_settings(tags="prior").get_pipe("lpcfg_parser")(doc.copy())
    assert len(trees(prior)[0]) == 2
    untagged = with_settings(tags="given")(TEXTS[0])
    assert trees(untagged) == trees(nlp(TEXTS[0]))


def test_parser_leaves_tags_alone_when_told(nlp, with_settings):
    doc = with_settings(output={"set_tags": False})(TEXTS[0])
    assert not doc.has_annotation("TAG")
    assert trees(doc) == trees(nlp(TEXTS[0]))


def test_parser_settings_are_checked():
    for wrong in ({"tags": "some"}, {"output": "all"}, {"learner": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pipeline(**wrong)
    for group, names in {"output": ["threshold", "temperature"], "limits": ["max_words", "max_seconds"]}.items():
        for name in names:
            message = f"Expected {name} to be a .*number.*; write numbers without quotes"
            made = refused_or_read(lambda group=group, name=name: pipeline(**{group: {name: "1"}}), message)
            assert made is None or getattr(getattr(made.get_pipe("lpcfg_parser"), group), name) == 1


def test_parser_may_use_any_memory(with_settings):
    assert trees(with_settings(limits={"max_memory": 1e300})(TEXTS[0])) == trees(with_settings()(TEXTS[0]))
