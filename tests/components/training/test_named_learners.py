"""Learners by their names: `spacy-lpcfg.Learner.v1`, and configs/grammar.cfg, which has any of them."""

import re

import pytest
import spacy
from paths import ROOT
from spacy import registry
from spacy.util import load_config, load_model_from_config

from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.learners import LEARNERS
from spacy_lpcfg.learning import EM, Induction, LexicalSettings, Pivot, Spectral, SplitMerge, StepwiseEM, TreebankPCFG
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.pivot import PivotFeatures

PLAIN = {"seed": 3, "lang": "xx"}
LEARNED = LexicalSettings(signatures="learned")  # as for all languages but English
GRAMMAR = {"lexical": LEARNED, **PLAIN}
WANTED = {  # others may be added to the table
    "pivot": EvidenceLearner(Pivot(**GRAMMAR), seed=3),
    "spectral": Spectral(**GRAMMAR),
    "em": EM(**GRAMMAR),
    "split-merge": SplitMerge(**GRAMMAR),
    "pcfg": TreebankPCFG(lexical=LEARNED, lang="xx"),
    "induction": Induction(**GRAMMAR),
}
make_learner = registry.misc.get("spacy-lpcfg.Learner.v1")


def made(name: str, **settings: object):
    return make_learner(name, settings=settings, **PLAIN)


PARSERS = [each.name for each in LEARNERS if each.command == "parser" and each.component == "lpcfg_parser"]


def test_signatures_of_unknown_words_are_english_for_english_alone():
    assert make_learner("pcfg") == TreebankPCFG()
    assert make_learner("pcfg", lang="is", settings={"lexical": {"signatures": "english"}}) == TreebankPCFG(lang="is")
    assert make_learner("pcfg", lang="en", settings={"lexical": {"signatures": "learned"}}) == TreebankPCFG(
        lexical=LEARNED
    )
    assert make_learner("pcfg", lang="de", settings={"lexical": {"rare": 1}}).lexical.signatures == "learned"
    with pytest.raises(ValueError, match="Expected signatures to be one of"):
        make_learner("pcfg", settings={"lexical": {"signatures": "french"}})


def test_settings_reach_the_learner():
    pivots = PivotFeatures(("rule",), em=ConvexEM(tolerance=0.5))
    pivot = Pivot(n_states=4, features=Features(kappa=2), pivots=pivots, n_jobs=2, **GRAMMAR)
    settings = {
        "n_states": 4,
        "features": {"kappa": 2},
        "pivots": {"more_inside": ["rule"], "em": {"tolerance": 0.5}},
        "n_jobs": 2,
    }
    assert made("pivot", **settings) == EvidenceLearner(pivot, seed=3)
    assert made("pivot", evidence=False) == Pivot(**GRAMMAR)
    assert made("induction", n_states=4, n_rounds=1) == Induction(n_states=4, n_rounds=1, **GRAMMAR)


REFUSED = [
    ("pivots", {}, "Expected a learner, got 'pivots'. The nearest is 'pivot' of pivot, spectral, "),
    ("pivot", {"n_state": 4}, "got 'n_state'. The nearest is 'n_states' (default: 16) of n_states,"),
    ("pcfg", {"seed": 4}, "got 'seed'"),
    ("pivot", {"n_states": "four"}, "Expected the setting n_states to be int, got 'four'. Its default is 16."),
    ("pivot", {"n_states": True}, "to be int, got True"),
    ("pivot", {"n_states": 2.5}, "to be int, got 2.5"),
    ("pivot", {"features": {"kappa": "x"}}, "Expected kappa to be a number of at least 0 and finite, got 'x'"),
    ("pivot", {"tokens_per_state": "x"}, "Expected the setting tokens_per_state to be float, got 'x'"),
    ("pivot", {"pivots": {"more_inside": "rule"}}, r"Expected more_inside to be a list, got 'rule'"),
    ("pivot", {"evidence": 1}, "Expected the setting evidence to be bool | None, got 1. Its default is None."),
    ("induction", {"evidence": False}, "got 'evidence'"),
    ("pivot", {"lexical": {"words": 3}}, "Expected a setting of lexical, got 'words'. The nearest is "),
    ("pivot", {"lexical": 3}, "Expected the setting lexical to be"),
]


@pytest.mark.parametrize(("name", "settings", "message"), REFUSED, ids=str)
def test_settings_that_cannot_be_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(name, **settings)


def learner_of(config: str, **overrides: object):
    found = load_config(
        ROOT / "configs" / config, overrides={key.replace("__", "."): overrides[key] for key in overrides}
    )
    return load_model_from_config(found, auto_fill=True).get_pipe("lpcfg_parser").learner


@pytest.mark.parametrize("name", PARSERS)
def test_config_has_any_learner(name):
    overrides = {"vars__learner": name, "system__seed": 3, "nlp__lang": "xx"}
    assert learner_of("grammar.cfg", **overrides) == made(name) == WANTED.get(name, made(name))


def test_config_has_settings_as_overrides():
    assert learner_of("grammar.cfg").learner == Pivot()
    assert learner_of("grammar.cfg", vars__settings__evidence=False) == Pivot()
    assert learner_of("grammar.cfg", vars__settings__n_states=24, vars__learner="em") == EM(n_states=24)
    started = learner_of("stepwise.cfg", vars__settings__n_states=4, system__seed=2)
    assert started == StepwiseEM(EM(n_states=4, n_iterations=0, seed=2))
    assert learner_of("stepwise.cfg", vars__learner="pivot") == StepwiseEM(Pivot(n_iterations=0))


def test_component_takes_the_name_of_a_learner(tmp_path):
    nlp = spacy.blank("de")
    pipe = nlp.add_pipe("lpcfg_parser", config={"learner": "em"})
    assert pipe.learner == make_learner("em", lang="de")
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("lpcfg_parser").learner == pipe.learner
    with pytest.raises(ValueError, match="The nearest is 'pivot'"):
        nlp.add_pipe("lpcfg_parser", "other", config={"learner": "pivt"})


def test_component_has_the_pivot_algorithm_by_default():
    assert spacy.blank("de").add_pipe("lpcfg_parser").learner == make_learner("pivot", lang="de")
