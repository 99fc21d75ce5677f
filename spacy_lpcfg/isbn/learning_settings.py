"""Settings of the learner of networks: gradient ascent, and the words that networks know."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.checks import BELOW_1, COUNT, at_least
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

    batch_size (int or None): Number of trees in a step; None for the number of words in the treebank / 8,400, clipped
        to [5, 20]. Larger steps are faster.
    learn_rate (float or None): Learning rate of Adam at the first step; None for 0.007 at a `batch_size` of 5, growing
        with the square root of `batch_size`.
    dropout (float or None): Dropout rate of the means along latent edges; None for a rate that depends on the number
        of states, 0.35 for 120; beyond 7,000 trees it is multiplied by 0.75.
    weight_decay (float): L2 penalty: half of this times the sum of the squared weights is subtracted from the
        log-likelihood of all trees. Each step gets a share of the penalty in proportion to its trees.
    averaging (float): Decay of the exponential moving average of the weights.
    RAISES (ValueError): If a setting is out of range.
    """

    batch_size: int | None = None
    learn_rate: float | None = None
    dropout: float | None = None
    weight_decay: float = 2.0
    averaging: float = 0.999

    def __post_init__(self) -> None:
        COUNT.optional(batch_size=self.batch_size)
        at_least(0).optional(learn_rate=self.learn_rate)
        at_least(0)(weight_decay=self.weight_decay)
        BELOW_1.optional(dropout=self.dropout)
        BELOW_1(averaging=self.averaging)

    def trainer(self, *, n_states: int, n_epochs: int, n_trees: int, n_words: int, n_jobs: int = 1) -> Trainer:
        """Return the trainer of a network, with the settings that depend on the size of the treebank filled in.

        n_states, n_epochs (int): Numbers of latent units and of passes over the trees.
        n_trees, n_words (int): Size of the treebank.
        n_jobs (int): Number of threads.
        """
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
            n_jobs=n_jobs,
        )


@dataclass(frozen=True)
class ISBNLexical:
    """Settings of the words that a network knows.

    min_count (int or None): Words that are seen less often with a tag are unknown words of that tag. None for 5 in a
        treebank of fewer than 50,000 words, since rarer words tell too little; for 3 up to 400,000 words; and for 6
        beyond, to limit the network's size.
    signatures (bool): Whether signatures of rare and unknown words are inputs of the network.
    RAISES (ValueError): If `min_count` is below 1.
    """

    min_count: int | None = None
    signatures: bool = True

    def __post_init__(self) -> None:
        COUNT.optional(min_count=self.min_count)

    def min_count_of(self, n_words: int) -> int:
        """Return `min_count`, or its default for a treebank of `n_words` words if it is None."""
        by_size = next((count for size, count in _MIN_COUNTS if n_words < size), _MIN_COUNT_OF_MANY)
        return self.min_count or by_size

    def vocabulary(self, trees: Iterable[Tree], min_count: int) -> NetworkVocabulary:
        """Collect the vocabulary of normalized trees: words that occur `min_count` times or more with a tag are known.

        RAISES (ValueError): If there are no trees, or too many labels and tags (see `check_n_symbols`).
        """
        inputs = {} if self.signatures else {"min_signature_count": _NEVER}
        vocabulary = take_vocabulary(trees, min_count=min_count, **inputs)
        check_n_symbols(len(vocabulary.labels) + len(vocabulary.tags))
        return vocabulary
