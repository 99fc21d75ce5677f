"""Settings of the learner of networks: its steps, and the words that networks know."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.isbn.training import Trainer
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary, take_vocabulary
from spacy_lpcfg.learning.base import MANY_TREES
from spacy_lpcfg.learning.limits import check_n_symbols
from spacy_lpcfg.trees.tree import Tree

_STATES = (20, 40, 80, 120, 200)  # where dropout was tuned
_DROPOUTS = (0.05, 0.15, 0.25, 0.35, 0.45)
_DROPOUT_OF_MANY = 0.75  # share of it for more than MANY_TREES, to which networks fit less closely
_RATE = 0.007  # with steps of _MIN_BATCH trees
_BATCH_WORDS, _MIN_BATCH, _MAX_BATCH = 8_400, 5, 20  # words of a treebank for each tree of a step; trees of a step
_MIN_COUNTS = ((50_000, 5), (400_000, 3))  # in a treebank of fewer words than the first number; in a larger one:
_MIN_COUNT_OF_MANY = 6  # so that networks do not grow with the treebank without end
_NEVER = sys.maxsize  # the `min_signature_count` of a vocabulary without signatures


@dataclass(frozen=True)
class ISBNTraining:
    """Settings of gradient ascent.

    batch_size (int or None): Trees of a step; None for one for each 8,400 words of the treebank, but from 5 to 20:
        larger steps cost less.
    learn_rate (float or None): Learning rate of Adam at the first step; None for one that grows as the square root of
        batch_size: 0.007 for 5.
    dropout (float or None): Probability that a mean is not passed on; None for one by the number of states: 0.35 for
        120, and three quarters of it for more than 7,000 trees.
    weight_decay (float): The log-likelihood of all trees is maximised less half of this times the squares of the
        weights, of which a step has its share.
    averaging (float): Share of itself that the average of the weights keeps at a step.
    RAISES (ValueError): If a setting is out of range.
    """

    batch_size: int | None = None
    learn_rate: float | None = None
    dropout: float | None = None
    weight_decay: float = 2.0
    averaging: float = 0.999

    def __post_init__(self) -> None:
        check_sizes(batch_size=self.batch_size)
        for name in ("dropout", "averaging"):
            if not 0 <= (getattr(self, name) or 0) < 1:
                raise ValueError(f"Expected {name} of at least 0 and below 1, got {getattr(self, name)}.")
        for name in ("learn_rate", "weight_decay"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"Expected {name} of at least 0, got {getattr(self, name)}.")

    def trainer(
        self, *, n_states: int, n_epochs: int, n_trees: int, n_words: int, seed: int = 0, n_jobs: int = 1
    ) -> Trainer:
        """Return the trainer of a network of `n_states` units on `n_trees` trees with `n_words` words."""
        size = self.batch_size or min(max(round(n_words / _BATCH_WORDS), _MIN_BATCH), _MAX_BATCH)
        usual_rate = _RATE * (size / _MIN_BATCH) ** 0.5
        usual_dropout = float(np.interp(n_states, _STATES, _DROPOUTS))
        if n_trees > MANY_TREES:
            usual_dropout *= _DROPOUT_OF_MANY
        return Trainer(
            n_epochs=n_epochs,
            batch_size=size,
            learn_rate=usual_rate if self.learn_rate is None else self.learn_rate,
            dropout=usual_dropout if self.dropout is None else self.dropout,
            weight_decay=self.weight_decay * min(size / max(n_trees, 1), 1.0),
            averaging=self.averaging,
            seed=seed,
            n_jobs=n_jobs,
        )


@dataclass(frozen=True)
class ISBNLexical:
    """Settings of the words that a network knows.

    min_count (int or None): Words seen less often with a tag are unknown to it; None for 3, for 5 in a treebank of
        fewer than 50,000 words, which says too little of each, and for 6 in one of 400,000 words or more, so that a
        network does not grow with the treebank without end.
    signatures (bool): Whether the signatures of words that are rare or unknown are inputs.
    RAISES (ValueError): If `min_count` is below 1.
    """

    min_count: int | None = None
    signatures: bool = True

    def __post_init__(self) -> None:
        check_sizes(min_count=self.min_count)

    def min_count_of(self, n_words: int) -> int:
        """Return how often a treebank of `n_words` words must have a word with a tag for the network to know it."""
        by_size = next((count for size, count in _MIN_COUNTS if n_words < size), _MIN_COUNT_OF_MANY)
        return self.min_count or by_size

    def vocabulary(self, trees: Iterable[Tree], min_count: int) -> NetworkVocabulary:
        """Return the vocabulary of normalized trees, with the words that are seen `min_count` times with a tag."""
        inputs = {} if self.signatures else {"min_signature_count": _NEVER}
        vocabulary = take_vocabulary(trees, min_count=min_count, **inputs)
        check_n_symbols(len(vocabulary.labels) + len(vocabulary.tags))
        return vocabulary


def check_sizes(**sizes: int | None) -> None:
    """Raise ValueError for the first size below 1; sizes of None are not checked."""
    for name, value in sizes.items():
        if value is not None and value < 1:
            raise ValueError(f"Expected {name} of at least 1, got {value}.")
