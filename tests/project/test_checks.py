"""Numbers that are asked for, and values in messages."""

from __future__ import annotations

from dataclasses import fields
from itertools import islice

import numpy as np
import pytest
import spacy
from networks import tiny
from paths import ROOT

from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.checks import COUNT, MAX_SHOWN, shown
from spacy_lpcfg.isbn import BeamSettings, IncrementalParser
from spacy_lpcfg.isbn.derivations import Derivations
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import EM, LexicalSettings, Pivot, Spectral, SplitMerge, TreebankPCFG
from spacy_lpcfg.learning.pivot import PivotFeatures
from spacy_lpcfg.parsing.decodings import check_decoding
from spacy_lpcfg.parsing.distribution import ListedDistribution
from spacy_lpcfg.storage.container import pack, unpack
from spacy_lpcfg.trees import Tree, TreebankError, parse_trees, read_trees
from spacy_lpcfg.trees.transforms import binarize

SAMPLE = ROOT / "assets" / "sample" / "train.mrg"
LONG = "x" * 100_000
NO_NUMBERS = [2.5, 0, -1, True, False, "3", None, float("nan"), -(10**5000)]


@pytest.fixture(scope="module")
def grammar():
    return TreebankPCFG().fit(islice(read_trees(SAMPLE), 50))


@pytest.mark.parametrize("n", NO_NUMBERS, ids=lambda n: type(n).__name__)
def test_numbers_of_trees_are_whole_and_at_least_one(n, grammar):
    words = ["The", "ferry", "was", "late"]
    network = IncrementalParser(tiny("feed-forward"))
    chart = Parser(grammar)
    for ask in (
        lambda: chart.n_best(words, n=n),
        lambda: chart.distribution(words).n_best(n),
        lambda: chart.distribution(words).samples(n),
        lambda: network.n_best(["a"], n=n),
        lambda: network.distribution(["a"]).samples(n),
        lambda: network.start().push("a").trees(n),
        lambda: ListedDistribution(()).n_best(n),
    ):
        with pytest.raises(ValueError, match=r"Expected n to be a whole number (of at least 1|from 1 to [0-9,]+), got"):
            ask()


@pytest.mark.parametrize("value", [float("nan"), -1, "x", [], 1e308j], ids=str)
@pytest.mark.parametrize("settings", [ChartSettings, BeamSettings], ids=lambda kind: kind.__name__)
def test_settings_of_parsers_are_all_checked(settings, value):
    for field in fields(settings):
        with pytest.raises(ValueError, match=f"Expected {field.name} to be .*, got"):
            settings(**{field.name: value})


def test_settings_that_are_whole_or_true_or_false_are_nothing_else():
    for settings in ({"max_applications": 1e308}, {"absolute": None}, {"boundary_merit": 1}):
        with pytest.raises(ValueError, match=f"Expected {next(iter(settings))} to be"):
            ChartSettings(**settings)


@pytest.mark.parametrize("seed", [-5, 1.5, "1", True, None])
def test_seeds_are_whole_and_not_negative(seed, grammar):
    words = ["The", "ferry", "was", "late"]
    for ask in (
        lambda: Parser(grammar).distribution(words).samples(1, seed=seed),
        lambda: IncrementalParser(tiny("feed-forward")).distribution(["a"]).samples(1, seed=seed),
        lambda: sample_trees(grammar, seed=seed),
        lambda: ISBNLearner(seed=seed).fit(read_trees(SAMPLE)),
        *(lambda learner=learner: learner(seed=seed) for learner in (EM, Pivot, SplitMerge, Spectral)),
    ):
        with pytest.raises(ValueError, match="Expected seed to be a whole number of at least 0, got"):
            ask()


def test_pipes_refuse_numbers_before_they_parse(grammar):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("lpcfg_parser", config={"limits": {"max_words": 1}})
    pipe.learned = grammar
    for doc in (nlp.make_doc(""), nlp.make_doc("The ferry was late.")):
        with pytest.raises(ValueError, match="Expected n to be a whole number"):
            pipe.n_best(doc, 2.5)
        with pytest.raises(ValueError, match="Expected n to be a whole number"):
            pipe.samples(doc, "2")
        with pytest.raises(ValueError, match="Expected seed to be a whole number"):
            pipe.samples(doc, 1, seed=-5)


def test_shown_cuts_what_is_long():
    COUNT(n=np.int64(1), m=np.int32(7))  # of numpy too
    assert shown("a'b") == repr("a'b")
    assert shown(None) == "None"
    for value in (LONG, [LONG] * 3, LONG.encode(), {LONG: 1}, 10**4000, 10**5000):
        assert len(shown(value)) < MAX_SHOWN + 40
    assert shown(LONG).startswith("'xxx")
    assert shown(LONG).endswith("xxx'... of 100,000 characters")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: next(parse_trees([LONG])),
        lambda: next(parse_trees([f"(S (NN {LONG} {LONG}))"])),
        lambda: next(parse_trees([f"({LONG} (NN a) {LONG})"])),
        lambda: next(parse_trees([f"(S ({LONG}))"])),
        lambda: binarize(Tree("@" + LONG, (Tree("A", word="a"),))),
        lambda: Tree(LONG, (Tree("A", word="a"),), LONG),
        lambda: Tree.from_spans(["a"], ["A"], [(0, 9, LONG)]),
        lambda: EM(n_iterations=LONG),
        lambda: LexicalSettings(min_posterior=[LONG]),
        lambda: PivotFeatures(matching=LONG),
        lambda: check_decoding(LONG),
        lambda: unpack("thing", 1, pack("thing", 1, {LONG: {"dtype": LONG, "shape": [1], "data": b""}})),
    ],
)
def test_messages_cut_what_they_quote(wrong):
    with pytest.raises((ValueError, TreebankError)) as error:
        wrong()
    assert len(str(error.value)) < 500


def test_tags_of_a_beam_are_no_likelier_than_one():
    """Rounded shares of six derivations, beside one of hardly any."""
    rng = np.random.default_rng(0)
    derivations = [(((0, 1, "S"),), [i // 6]) for i in range(7)]
    for _ in range(200):
        logs = np.append(rng.normal(size=6) - 50, -1000.0)
        (shares,) = Derivations(derivations, logs).posteriors(["A", "B"]).tags
        assert shares["A"] == pytest.approx(1)
        assert shares["A"] <= 1
