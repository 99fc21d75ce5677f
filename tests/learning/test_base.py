"""The contract of learners: `fit(trees, *, held_out=None, on_step=None)` of a frozen dataclass."""

from dataclasses import FrozenInstanceError, fields

import pytest

from spacy_lpcfg.combination import Combination, Distillation, MirroredLearner
from spacy_lpcfg.isbn.learning import ISBNLearner, LearningEpoch
from spacy_lpcfg.learning import EM, Clusters, Ensembles, Pivot, Spectral, SplitMerge, StepwiseEM, TreebankPCFG
from spacy_lpcfg.learning.base import Learner, ModelLearned, Step
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
CLUSTERS = Clusters(**SMALL)
EM_ = EM(**SMALL)
NETWORK = ISBNLearner(n_states=4, n_epochs=2)
TEXT = [tree.words for tree in TREES[:3]]
NO_STEPS = [
    TreebankPCFG(),
    Spectral(n_states=2, tokens_per_state=2.0),
    StepwiseEM(EM_),
    Combination((TreebankPCFG(), MirroredLearner(TreebankPCFG()))),
]
BY_EM = [
    CLUSTERS,
    EM_,
    Pivot(**SMALL),
    SplitMerge(**SMALL),
    MirroredLearner(EM_),
    Ensembles((CLUSTERS,), n_seeds=2),
    Combination((EM_, MirroredLearner(CLUSTERS))),
    Distillation(TreebankPCFG(), MirroredLearner(EM_), TEXT),
]


def name(learner):
    return type(learner).__name__


@pytest.mark.parametrize("learner", [*NO_STEPS, *BY_EM, NETWORK], ids=name)
def test_learners_are_frozen_settings_with_fit(learner):
    assert isinstance(learner, Learner)
    with pytest.raises(FrozenInstanceError):
        setattr(learner, fields(learner)[0].name, None)


@pytest.mark.parametrize("learner", NO_STEPS, ids=name)
def test_learners_without_steps_ignore_what_is_of_steps(learner):
    told = []
    found = learner.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=told.append)
    assert all(isinstance(each, ModelLearned) for each in told)
    assert found.to_bytes() == learner.fit(TREES).to_bytes()


@pytest.mark.parametrize("learner", BY_EM, ids=name)
def test_learners_by_em_tell_their_steps_and_look_at_held_out_trees(learner):
    """Each grammar of several looks at all of them, though they can be read but once."""
    told = []
    learner.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=told.append)
    steps = [step for step in told if not isinstance(step, ModelLearned)]
    assert all(isinstance(step, Step) for step in steps)
    last = {step.grammar: step for step in steps}
    assert len(last) == (2 if isinstance(learner, Ensembles | Combination) else 1)
    assert all(step.f1 > 50 for step in last.values())


def test_networks_tell_their_epochs():
    steps = []
    NETWORK.fit(iter(TREES), held_out=iter(TREES[:3]), on_step=steps.append)
    assert [(type(step), step.epoch) for step in steps] == [(LearningEpoch, 1), (LearningEpoch, 2)]
    assert all(step.to_values()["dev"] < 0 for step in steps)
    steps.clear()
    NETWORK.fit(TREES, on_step=steps.append)
    assert steps[0].to_values()["dev"] is None


def test_combinations_tell_the_steps_of_grammars_and_their_models():
    told = []
    Combination((NETWORK, EM_)).fit(TREES, on_step=told.append)
    first, step, second = told
    assert (type(step), step.grammar) == (Step, 2)
    assert (first, second) == (ModelLearned(1, 2), ModelLearned(2, 2))
