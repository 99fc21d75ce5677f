"""The contract of learners: `fit(trees, *, held_out=None, on_step=None)` of a frozen dataclass, and their promises."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from oracles.enumeration import sums_of_states, tree_weight

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.tensors import SPARSE
from spacy_lpcfg.isbn.learning import ISBNLearner, LearningEpoch
from spacy_lpcfg.learners import learners_of
from spacy_lpcfg.learning import EM, EMLearner, Induction, Pivot, Spectral, SplitMerge, StepwiseEM, TreebankPCFG
from spacy_lpcfg.learning.base import Learner, Step
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.pivot import MATCHINGS, PivotFeatures
from spacy_lpcfg.learning.tuning import SmoothingTrial
from spacy_lpcfg.trees import parse_trees

TREES = list(
    parse_trees(
        [
            "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
            "(S (NP (DT the) (NN dog)) (VP (VBD barked)))",
            "(S (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (NNP Rome)))) (VP (VBD saw) (NP (NNP Kim))))",
        ]
        * 4
    )
)
SMALL = {"n_states": 2, "n_iterations": 1, "tokens_per_state": 2.0}


def small(learner):
    """Return a learner with few states, as far as it has such settings."""
    return learner(**{each.name: SMALL[each.name] for each in fields(learner) if each.name in SMALL})


OF_TABLE = [small(entry.load()) for entry in learners_of("parser") if entry.component == "lpcfg_parser"]
EM_ = EM(**SMALL)
NETWORK = ISBNLearner(n_states=4, n_epochs=2)
BY_EM = [learner for learner in OF_TABLE if isinstance(learner, EMLearner | Induction)]
NO_STEPS = [*(learner for learner in OF_TABLE if learner not in BY_EM), StepwiseEM(EM_)]


def name(learner):
    return type(learner).__name__


@pytest.mark.parametrize("learner", [*NO_STEPS, *BY_EM, NETWORK], ids=name)
def test_learners_are_frozen_settings_with_fit(learner):
    assert isinstance(learner, Learner)
    with pytest.raises(FrozenInstanceError):
        setattr(learner, fields(learner)[0].name, None)


@pytest.mark.parametrize("learner", NO_STEPS, ids=name)
def test_learners_without_steps_ignore_what_is_of_steps(learner):
    reports = []
    found = learner.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=reports.append)
    assert not any(isinstance(report, Step) for report in reports)
    is_tuned = any(isinstance(report, SmoothingTrial) for report in reports)
    assert is_tuned == isinstance(learner, Spectral)
    assert is_tuned or found.to_bytes() == learner.fit(TREES).to_bytes()


@pytest.mark.parametrize("learner", BY_EM, ids=name)
def test_learners_by_em_tell_their_steps_and_look_at_held_out_trees(learner):
    steps = []
    learner.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=steps.append)
    assert all(isinstance(step, Step) for step in steps)
    assert steps[-1].f1 > 50


def test_networks_tell_their_epochs():
    steps = []
    NETWORK.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=steps.append)
    assert [(type(step), step.epoch) for step in steps] == [(LearningEpoch, 1), (LearningEpoch, 2)]
    assert all(step.to_values()["dev"] < 0 for step in steps)
    steps.clear()
    NETWORK.fit(TREES, on_step=steps.append)
    assert steps[0].to_values()["dev"] is None


# Grammars ----------------------------------------------------------------------------------------


OF_SEED = [EM(n_states=4, n_iterations=2), SplitMerge(n_states=3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [TreebankPCFG(), Spectral(n_states=4), Pivot(n_states=3, tokens_per_state=10), *OF_SEED], ids=name
)
def test_same_seed_same_bytes_for_any_number_of_jobs(sample, learner, monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.shards.SHARD_SIZE", 40)
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.assembly.PART_SIZE", 40)
    one = learner.fit(sample).to_bytes()
    assert replace(learner, n_jobs=2).fit(iter(sample)).to_bytes() == one
    if learner in OF_SEED:
        assert replace(learner, seed=1).fit(sample).to_bytes() != one


@pytest.mark.parametrize(
    "learner",
    [
        EM(n_states=6, n_iterations=5, tokens_per_state=5),
        SplitMerge(n_states=8, tokens_per_state=5),
        Pivot(n_states=4, tokens_per_state=10),
        Pivot(n_states=4, n_iterations=0, tokens_per_state=10),
    ],
    ids=name,
)
def test_grammar_is_proper(sample, learner):
    """Root weights, and in every state rules and emissions, add up to one, though the least of them are left out."""
    grammar = learner.fit(sample)
    assert grammar.is_proper
    assert (grammar.tensors.forms == SPARSE).any() or not isinstance(learner, EM)
    assert grammar.root_vectors.sum() == pytest.approx(1, abs=1e-5)
    for found in sums_of_states(grammar):
        np.testing.assert_allclose(found, 1.0, atol=1e-5)


@pytest.mark.parametrize(
    "learner", [EM(n_states=1, n_iterations=2), SplitMerge(n_states=1), Pivot(n_states=1, n_iterations=0)], ids=name
)
def test_one_state_is_the_treebank_pcfg(sample, learner):
    grammar, pcfg = learner.fit(sample), TreebankPCFG().fit(sample)
    assert (grammar.symbols, grammar.lexicon.terminals) == (pcfg.symbols, pcfg.lexicon.terminals)
    np.testing.assert_allclose(grammar.tensors.dense, pcfg.tensors.dense, rtol=1e-5)
    np.testing.assert_allclose(grammar.root_vectors, pcfg.root_vectors, rtol=1e-5)
    np.testing.assert_allclose(grammar.lexicon.vectors, pcfg.lexicon.vectors, rtol=1e-5)


SMALL_TREEBANKS = [
    ["(S (NP (DT the) (NN cat)) (VP (VBD slept)))"],  # one tree
    ["(NN yes)"],
    ["(ROOT (FRAG (NN yes)))", "(ROOT (INTJ (UH no)))"],  # no binary rule
    ["(S (NP (-NONE- *)))", "(S (A a) (B b))"],  # a tree of empty elements among others
    ["(X (X (X a) (X b)) (X c) (X d))"] * 40,  # one name for all
    ["(S (N -LRB-) (-LRB- -LRB-) (<form> <form>) (T <tag>))"],
]
OF_LITTLE = [
    TreebankPCFG(),
    Spectral(),
    EM(),
    SplitMerge(tokens_per_state=1),
    *(
        Pivot(pivots=PivotFeatures(matching=matching, shrink=0.0, prior=0.0), tokens_per_state=0.1)
        for matching in MATCHINGS
    ),
]


@pytest.mark.parametrize("learner", OF_LITTLE, ids=name)
@pytest.mark.parametrize("brackets", SMALL_TREEBANKS, ids=lambda brackets: brackets[0])
def test_small_treebanks_are_learned(learner, brackets):
    trees = list(parse_trees(brackets))
    with np.errstate(divide="raise", invalid="raise"):
        grammar = Grammar.from_bytes(learner.fit(trees).to_bytes())
    parser = Parser(grammar)
    for words in (trees[-1].words, ["zzz"], ["a", "zzz", "b"]):
        assert parser.parse(words).tree.words == words
    assert tree_weight(grammar, trees[-1]) > 0


@pytest.mark.parametrize("learner", [*OF_LITTLE, StepwiseEM(EM(n_iterations=0))], ids=name)
@pytest.mark.parametrize("treebank", [[], ["(S (NP (-NONE- *)))"]], ids=["none", "empty"])
def test_no_trees_are_refused(learner, treebank):
    with pytest.raises(ValueError, match="at least one tree to learn from"):
        learner.fit(parse_trees(treebank))


@pytest.mark.parametrize("learner", [Spectral(n_states=4), Pivot(n_states=4)], ids=name)
@pytest.mark.parametrize("features", [{"outside": ("n_left",)}, {"kappa": 0.0}, {"inside": ("n_words",)}], ids=str)
def test_features_that_are_nought_leave_finite_weights(sample, learner, features):
    """No words stand left of the first one, so that a symbol that is always first has a representation of zeros."""
    with np.errstate(divide="raise", invalid="raise"):
        grammar = replace(learner, features=Features(**features)).fit(sample)
    assert np.isfinite(grammar.tensors.dense).all()
    assert Parser(grammar).parse(sample[0].words).tree.words == sample[0].words
