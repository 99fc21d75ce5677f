"""The number of states that symbols get, and the log of those that get fewer than were asked for."""

import logging

import numpy as np
import pytest

from spacy_lpcfg.learning import EM, Pivot, Spectral, SplitMerge
from spacy_lpcfg.learning.latent.state_numbers import log_fewer_states, max_states
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.trees import Tree

LEARNERS = [EM(n_iterations=1), Spectral(), Pivot(n_iterations=0), SplitMerge(n_iterations=0)]


@pytest.fixture
def ten(sample) -> list[Tree]:
    return sample[:10]


def test_max_states_are_between_one_and_those_asked_for():
    found = max_states(np.array([0.0, 19.0, 20.0, 39.0, 40.0, 1e9]), 16, 20.0)
    assert found.tolist() == [1, 1, 1, 1, 2, 16]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_every_learner_says_once_that_ten_trees_are_too_few(learner, ten, caplog):
    with caplog.at_level(logging.INFO, logger="spacy_lpcfg.learning.latent.state_numbers"):
        grammar = learner.fit(ten)
    (record,) = [each for each in caplog.records if "have fewer than" in each.getMessage()]
    assert record.levelno == logging.WARNING
    n = len(grammar.symbols)
    reason = f"{learner.tokens_per_state:g} times for each state"
    assert f"{n} of {n} symbols have fewer than 16 states: {n} seen fewer than {reason}" in record.getMessage()
    assert f"of them: 'NP' {grammar.n_states[grammar.symbols.index('NP')]} (seen 24 times), 'NN'" in record.getMessage()
    assert record.getMessage().endswith("nothing has to be changed, and more trees give more states.")


def fewer(ten, caplog, found, n_states):
    """Return the log of a treebank in which three tokens make a state."""
    treebank = IndexedTreebank.read(ten)
    with caplog.at_level(logging.INFO, logger="spacy_lpcfg"):
        log_fewer_states(treebank, found(treebank.counts.symbols), n_states, 3.0)
    return caplog.records


def test_features_that_tell_no_more_apart_are_another_reason(ten, caplog):
    (record,) = fewer(ten, caplog, lambda counts: np.where(counts > 15, 2, 1), 3)
    assert "features that tell no more states apart" in record.getMessage()
    assert "'NP' 2 (seen 24 times)" in record.getMessage()
    n_alike = sum(count >= 6 for count in IndexedTreebank.read(ten).counts.symbols)
    assert f", {n_alike} with features" in record.getMessage()


def test_symbol_that_is_seen_once_is_told_in_the_singular(caplog):
    (record,) = fewer([Tree("S", [Tree("NN", word="rain")])], caplog, lambda counts: np.ones(len(counts), int), 2)
    assert "(seen 1 time)" in record.getMessage()


def test_rare_symbols_alone_are_no_warning(ten, caplog):
    (record,) = fewer(ten, caplog, lambda counts: max_states(counts, 2, 3.0), 2)
    assert record.levelno == logging.INFO
    assert "'NP'" not in record.getMessage()


def test_nothing_is_said_where_all_have_the_states_asked_for(ten, caplog):
    assert not fewer(ten, caplog, np.ones_like, 1)
