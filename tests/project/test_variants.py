"""Each paper as itself: what a variant sets is what the paper says, and is reached from everywhere."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import spacy
from commands import SAMPLE, run, stderr_of
from paths import ROOT
from spacy import registry
from spacy.util import Config, load_config, load_model_from_config

from spacy_lpcfg.bracketing import CCA, PaperAnchors, SpectralBracketer
from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical, ISBNTraining
from spacy_lpcfg.language_model.learning import LanguageModelLearner
from spacy_lpcfg.language_model.pivot import PAPER_PIVOTS
from spacy_lpcfg.learning import EM, LexicalSettings, Pivot, Smoothing, Spectral, StateSmoothing
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.pivot import PivotFeatures

NONE = StateSmoothing(rules=0.0, words=0.0, rare_words=0.0, rare_rules=0.0)
LEXICON = LexicalSettings(signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)
# What the papers say, where the defaults are something else.
SAID = {
    # Figure 4 and section 6.1 of Cohen et al. (2012): averages as they are, and the rules below and above a node.
    (Spectral, "2012"): {
        "smoothing": Smoothing(c=0.0, nu=1.0),
        "features": Features(inside=("rule",), outside=("rule_above",), kappa=None),
        "tokens_per_state": 0.0,
        "lexical": LEXICON,
    },
    # Section 3 of Cohen et al. (2013), whose features, kappa and smoothing are the defaults.
    (Spectral, "2013"): {"tokens_per_state": 0.0, "lexical": LEXICON},
    # Section 4 of Cohen et al. (2013): EM that begins as that of Matsuzaki et al. (2005).
    (EM, "2013"): {"smoothing": NONE, "tokens_per_state": 0.0, "lexical": LEXICON},
    # Figures 1 and 2 of Cohen and Collins (2014), and section 6.3.
    (Pivot, "2014"): {
        "pivots": PivotFeatures(
            matching="transition", shrink=0.0, prior=0.0, em=ConvexEM(max_iterations=1_000, tolerance=1e-6)
        ),
        "smoothing": NONE,
        "tokens_per_state": 0.0,
        "lexical": LEXICON,
    },
    # Section 4 of Cohen et al. (2013): items are pruned by marginals below 0.00005, the default, and by nothing else.
    (ChartSettings, "2013"): {
        "edge_threshold": 0.0,
        "beam": 0.0,
        "tag_threshold": 0.0,
        "boundary_threshold": 0.0,
        "boundary_merit": False,
        "retry_beam": None,
    },
    # Section 7.2 of Henderson and Titov (2010).
    (ISBNLearner, "2010"): {
        "n_states": 40,
        "lexical": ISBNLexical(min_count=20, signatures=False),
        "training": ISBNTraining(dropout=0.0, averaging=0.0),
    },
    # Section 4.1 of Parikh et al. (2014), whose gamma is the default.
    (LanguageModelLearner, "2014"): {"pivots": PAPER_PIVOTS},
    (SpectralBracketer, "2014"): {
        "embedding": CCA(roots=False),
        "anchors": PaperAnchors(),
        "m": 7,
        "n_distances": 60,
        "min_pairs": 0.0,
        "apart": 0.0,
        "self_training": False,
    },
}
LEARNERS = sorted({learner for learner, _ in SAID}, key=lambda each: each.__name__)


@pytest.mark.parametrize(("learner", "year"), SAID, ids=str)
def test_variant_sets_what_the_paper_says_and_nothing_else(learner, year):
    default, paper = learner(), learner.variant(year)
    names = [each.name for each in fields(learner)]
    changed = {name: getattr(paper, name) for name in names if getattr(paper, name) != getattr(default, name)}
    assert changed == SAID[learner, year]
    assert default.features.kappa == 5.0 if learner is Spectral else True


def test_pivots_of_language_models_are_those_of_section_8():
    settings = LanguageModelLearner.variant("paper").pivots
    assert settings.candidates == np.inf
    assert settings.kappa == settings.shrinkage == 0
    assert settings.softening == 1e-3  # a floor, without which new bigrams have no probability
    assert settings.concave_iterations == 100


@pytest.mark.parametrize("learner", LEARNERS)
def test_variants_have_names_and_years(learner):
    years = sorted(learner.papers)
    assert list(learner.variants()) == ["default", "paper", *years]
    assert learner.variant() == learner.variant("default") == learner()
    assert learner.variant("paper") == learner.variant(years[-1]) == learner.variant(int(years[-1]))
    with pytest.raises(
        ValueError, match=rf"Expected a variant of {learner.__name__}, one of 'default', 'paper', .*1999"
    ):
        learner.variant("1999")


def test_settings_change_single_ones_of_a_variant():
    assert Spectral.variant("2012", tokens_per_state=1.0, n_states=3) == Spectral(
        **{**SAID[Spectral, "2012"], "tokens_per_state": 1.0}, n_states=3
    )


# Configs -----------------------------------------------------------------------------------------


def learner_of(pipe: str, settings: dict) -> object:
    """The learner of a pipe, which a config that was written and read again has too."""
    nlp = spacy.blank("en")
    found = nlp.add_pipe(pipe, config={"learner": settings}).learner
    again = load_model_from_config(Config().from_str(nlp.config.to_str()), auto_fill=True)
    assert again.get_pipe(pipe).learner == found
    return found


def test_config_has_settings_beside_a_variant():
    """Parts have the values of the variant where none are given."""
    paper = {"@misc": "spacy-lpcfg.Learner.v1", "name": "spectral", "variant": "2012"}
    settings = {"features": {"kappa": 5.0}, "smoothing": {"c": 15.0}}
    features = Features(inside=("rule",), outside=("rule_above",))
    wanted = Spectral.variant("2012", features=features, smoothing=Smoothing(c=15.0, nu=1.0))
    assert learner_of("lpcfg_parser", {**paper, "settings": settings}) == wanted
    for kappa in (None, 0.0):
        spectral = {"@misc": "spacy-lpcfg.Learner.v1", "name": "spectral", "settings": {"features": {"kappa": kappa}}}
        found = learner_of("lpcfg_parser", spectral)
        assert found == Spectral(features=Features(kappa=kappa))


def test_config_has_the_variants_of_all_learners():
    by_name = {"@misc": "spacy-lpcfg.Learner.v1", "variant": "paper"}
    for name, learner in (("pivot", Pivot), ("em", EM), ("isbn", ISBNLearner)):
        assert learner_of("lpcfg_parser", {**by_name, "name": name}) == learner.variant("paper")
    bracketer = {**by_name, "name": "bracketer"}
    assert learner_of("spectral_bracketer", bracketer) == SpectralBracketer.variant("paper")
    for year in ("2012", 2012, "2013"):
        spectral = {**by_name, "name": "spectral", "variant": year, "settings": {"n_states": 3}}
        assert learner_of("lpcfg_parser", spectral) == Spectral.variant(year, n_states=3)


def test_a_variant_is_refused_where_there_is_none():
    make = registry.misc.get("spacy-lpcfg.Learner.v1")
    with pytest.raises(
        ValueError, match="variant 'default' of 'pcfg', got 'paper'; only pivot, spectral, em, isbn, bracketer, lm have"
    ):
        make("pcfg", variant="paper")
    with pytest.raises(ValueError, match="Expected a variant of EM, one of 'default', 'paper', '2013'; got '2012'"):
        make("em", variant="2012")


def test_a_papers_pivot_has_no_evidence():
    assert make_learner("pivot", variant="paper") == Pivot.variant("paper")
    with_evidence = make_learner("pivot", variant="paper", settings={"evidence": True})
    assert isinstance(with_evidence, EvidenceLearner)
    assert with_evidence.learner == Pivot.variant("paper")
    assert make_learner("pivot", encoder="none") == EvidenceLearner(Pivot())


@pytest.mark.parametrize(
    ("config", "overrides", "learner"),
    [
        ("grammar.cfg", {"vars.learner": "spectral", "vars.variant": 2012}, Spectral.variant("2012")),
        ("grammar.cfg", {"vars.variant": "paper"}, Pivot.variant("paper")),
        ("bracketer.cfg", {"vars.variant": "paper"}, SpectralBracketer.variant("paper")),
        ("isbn.cfg", {"vars.variant": "paper"}, ISBNLearner.variant("paper")),
    ],
    ids=str,
)
def test_config_files_have_one_variable(config, overrides, learner):
    nlp = load_model_from_config(load_config(ROOT / "configs" / config, overrides=overrides), auto_fill=True)
    (pipe,) = (component for name, component in nlp.pipeline if name != "lpcfg_sentencizer")
    assert pipe.learner == learner


# Commands ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command_refuses_what_is_no_variant(tmp_path):
    arguments = ("learn", "parser", SAMPLE / "train.mrg", "-o", tmp_path / "model")
    for options, message in (
        (("--method", "spectral", "--set", "variant=2014"), "one of 'default', 'paper', '2012', '2013'"),
        (("--method", "pcfg", "--set", "variant=paper"), "only pivot, spectral, em"),
    ):
        assert message in stderr_of(run(*arguments, *options, code=2))
    for command in (("bracketer",), ("parser", "--method", "isbn"), ("lm",)):
        done = run("learn", *command, SAMPLE / "train.mrg", "--set", "variant=1999", "-o", tmp_path / "model", code=2)
        assert "one of 'default', 'paper', '20" in stderr_of(done)
