"""A grammar and networks of both directions, learned from the same trees."""

import pytest

from spacy_lpcfg.combination import MirroredLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import clean

NETWORK = ISBNLearner(n_states=8, n_epochs=3)


@pytest.fixture(scope="session")
def trees(sample):
    return [clean(tree) for tree in sample[:60]]


@pytest.fixture(scope="session")
def members(trees):
    """The grammar, and the network that reads from left to right."""
    return TreebankPCFG().fit(trees), NETWORK.fit(trees)


@pytest.fixture(scope="session")
def mirrored(trees):
    """The network that reads from right to left."""
    return MirroredLearner(NETWORK).fit(iter(trees))
