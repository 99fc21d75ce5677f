"""Learner of incremental sigmoid belief networks from a treebank, by maximum likelihood.

Section 6 of Henderson and Titov (2010), who descend by gradients with weight decay. By default (1) the network is that
of the average of the weights; (2) there is dropout of the means along latent edges, which lets networks grow to more
than twice the units before they overfit; (3) more words are known, and signatures are inputs, by which unknown words
share what is known of suffixes and shapes. The variant "2010", which is also "paper", has none of these. It has 40
units and knows the words that are seen 20 times with a tag (section 7.2).

Differs from the papers in all variants: (1) steps are those of Adam, with a rate that falls to 0 along a cosine, and
the paper does not tell its own; (2) with held-out trees the best of a fixed number of passes is taken; (3) the
precision of the weights' prior is ours, as the paper does not tell its own; (4) a parser takes raw words and weighs the
tags of unknown ones by their signatures, searches by a beam of 30 and decodes by minimum Bayes risk, where the paper's
takes the tags of a tagger, searches by a beam of 10, and takes the most probable derivation.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spacy_lpcfg.blocks import UNSET, Block, make_blocks
from spacy_lpcfg.checks import check_whole
from spacy_lpcfg.evaluation.calibration import fit_temperature, outcomes
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.network import FEED_FORWARD, ISBN, check_approximation, start_network
from spacy_lpcfg.isbn.normalizers import fit_normalizers
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.training import Epoch, Trainer
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary, take_vocabulary
from spacy_lpcfg.learning.base import MANY_TREES, OnStep
from spacy_lpcfg.learning.weights import copies, is_annotated, weighted_trees
from spacy_lpcfg.trees.transforms import clean, normalize, normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import Variants
from spacy_lpcfg.words import NO_CLASSES, ClassLearner

_UNITS, _UNITS_OF_MANY = 120, 160  # the second of more than MANY_TREES
_STATES = (20, 40, 80, 120, 200)  # where dropout was tuned
_DROPOUTS = (0.05, 0.15, 0.25, 0.35, 0.45)
_DROPOUT_OF_MANY = 0.75  # share of it for more than MANY_TREES, to which networks fit less closely
_RATE = 0.007  # with steps of _MIN_BATCH trees
_EPOCHS = 14  # over MANY_TREES, and fewer over more
_BATCH_WORDS, _MIN_BATCH, _MAX_BATCH = 8_400, 5, 20  # words of a treebank for each tree of a step; trees of a step
_MIN_COUNTS = ((50_000, 5), (400_000, 3))  # in a treebank of fewer words than the first number; in a larger one:
_MIN_COUNT_OF_MANY = 6  # so that networks do not grow with the treebank without end


class LearningEpoch(NamedTuple):
    """Log-likelihoods and time of one pass over the trees.

    network (int): of an ensemble, counted from 1; epoch (int): likewise.
    log_likelihood (float): a word, of each tree as it came, under dropout.
    dev (float): a word, of the held-out trees under the average of the weights; nan if there are none.
    seconds (float): CPU seconds of this process, those on held-out trees not counted.
    """

    network: int
    epoch: int
    log_likelihood: float
    dev: float
    seconds: float

    def to_values(self) -> dict[str, float | None]:
        """Returns the values by name, as JSON can have them: None for what is not known."""
        return {name: None if value != value else value for name, value in self._asdict().items()}


NEVER = sys.maxsize
"""The `min_signature_count` of a vocabulary without signatures."""


@dataclass(frozen=True)
class ISBNLearner(Variants):
    """Learner of an ISBN parser.

    n_states (int or None): latent units of a position; None for 120, or 160 of more than 7,000 trees.
    approximation (str): as in `Network`.
    n_networks (int): networks that decide together, learned from the seeds seed, seed + 1, ...
    n_epochs (int or None): passes over the trees; None for 14, and for fewer over more than 7,000 trees, as the inverse
        square root of their number: 12 over 10,000.
    batch_size (int or None): trees of a step; None for one for each 8,400 words of the treebank, but from 5 to 20:
        larger steps cost less.
    learn_rate (float or None): of Adam at the first step; None for one that grows as the square root of batch_size:
        0.007 for 5.
    dropout (float or None): probability that a mean is not passed on; None for one by n_states: 0.35 for 120, and three
        quarters of it for more than 7,000 trees.
    weight_decay (float): the log-likelihood of all trees is maximised less half of this times the squares of the
        weights, of which a step has its share.
    averaging (float): share of itself that the average of the weights keeps at a step.
    min_count (int or None): words seen less often with a tag are unknown to it; None for 3, for 5 in a treebank of
        fewer than 50,000 words, which says too little of each, and for 6 in one of 400,000 words or more, so that a
        network does not grow with the treebank without end.
    signatures (bool): whether the signatures of words that are rare or unknown are inputs.
    sentence_initial (int): as in `NetworkVocabulary`; -1 for mirrored trees.
    word_classes (ClassLearner or None): of classes that tell of words which the treebank does not have.
    relations (Relations): of the positions.
    seed (int): of the first weights, the order of the trees, and dropout.
    n_jobs (int): threads; the result is the same for any number.
    functions (bool): whether categories have their functions, as NP-SBJ.
    """

    n_states: int | None = None
    approximation: str = FEED_FORWARD
    n_networks: int = 1
    n_epochs: int | None = None
    batch_size: int | None = None
    learn_rate: float | None = None
    dropout: float | None = None
    weight_decay: float = 2.0
    averaging: float = 0.999
    min_count: int | None = None
    signatures: bool = True
    sentence_initial: int = 0
    word_classes: ClassLearner | None = None
    relations: Block[Relations] = UNSET
    seed: int = 0
    n_jobs: int = 1
    functions: bool = False

    def __post_init__(self) -> None:
        make_blocks(self, relations=Relations())

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {"2010": {"n_states": 40, "min_count": 20, "signatures": False, "dropout": 0.0, "averaging": 0.0}}
    )

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> ISBN:
        """Learn from trees.

        trees (iterable of Tree): raw or normalised; of any length.
        held_out (iterable of Tree or None): other trees, by whose likelihood the best epoch is chosen.
        weights (sequence of float or None): how much each tree counts; None if all count alike. Words are no more
            frequent for it, and there are fewer passes the more often the heaviest trees come in one.
        on_step (callable or None): called after every epoch with a `LearningEpoch`. The model's `meta` has the history
            too, without times.
        RAISES (ValueError): If there are no trees, not as many weights, or if a setting is out of range.
        """
        self._check()
        if weights is None:
            return self._fit(trees, held_out, on_step, None)
        normalized = partial(normalize_rooted, functions=self.functions)
        treebank, values = weighted_trees(trees, weights, normalized)
        assert values is not None
        n_copies = copies(values)
        # the heaviest trees are seen as often as they would be alone
        n_epochs = round(self.passes(int(is_annotated(values).sum())) / n_copies.max(initial=1))
        return replace(self, n_epochs=max(1, n_epochs))._fit(treebank, held_out, on_step, n_copies)

    def _fit(
        self,
        trees: Iterable[Tree],
        held_out: Iterable[Tree] | None,
        on_step: OnStep | None,
        n_copies: np.ndarray | None,
    ) -> ISBN:
        normalized, root_label = normalized_trees(trees, functions=self.functions)
        classes = NO_CLASSES if self.word_classes is None else self.word_classes.classes()
        min_count, n_states = self.min_count_of(sum(map(len, normalized))), self.n_states_of(len(normalized))
        inputs = {} if self.signatures else {"min_signature_count": NEVER}
        vocabulary = take_vocabulary(
            normalized, min_count=min_count, sentence_initial=self.sentence_initial, classes=classes, **inputs
        )
        events = events_of(normalized, vocabulary, self.relations)
        if n_copies is not None:
            events = events.select(np.repeat(np.arange(events.n_sequences), n_copies))
        dev_trees, _ = normalized_trees(held_out or (), functions=self.functions)
        dev = events_of(dev_trees, vocabulary, self.relations)
        n_words = [count_words(some, vocabulary) for some in (events, dev)]
        history: list[LearningEpoch] = []
        networks = []
        for number in range(self.n_networks):
            note = partial(_note, history, n_words, number + 1, on_step)
            start = start_network(
                self.approximation, vocabulary, self.relations, n_states=n_states, seed=self.seed + number
            )
            trainer = self.trainer(self.seed + number, events.n_sequences, n_words[0])
            networks.append(trainer.fit(start, events, dev=dev, on_epoch=note))
        chosen: dict[str, float] = {"min_count": min_count, "n_states": n_states}
        chosen |= {"n_epochs": trainer.n_epochs, "batch_size": trainer.batch_size}
        chosen |= {"learn_rate": round(trainer.learn_rate, 6), "dropout": round(trainer.dropout, 6)}
        meta = {**self._meta(chosen, events.n_sequences, history), "root_label": root_label}
        return ISBN(vocabulary, self.relations, tuple(networks), meta, fit_normalizers(vocabulary, networks, events))

    def min_count_of(self, n_words: int) -> int:
        """Return how often a treebank of `n_words` words must have a word with a tag for the network to know it."""
        by_size = next((count for size, count in _MIN_COUNTS if n_words < size), _MIN_COUNT_OF_MANY)
        return self.min_count or by_size

    def n_states_of(self, n_trees: int) -> int:
        """The number of latent units of a network that learns from so many trees."""
        return self.n_states or (_UNITS_OF_MANY if n_trees > MANY_TREES else _UNITS)

    def trainer(self, seed: int, n_trees: int, n_words: int) -> Trainer:
        """The trainer of the network of a seed on so many trees with so many words."""
        size = self.batch_size or min(max(round(n_words / _BATCH_WORDS), _MIN_BATCH), _MAX_BATCH)
        usual_rate = _RATE * (size / _MIN_BATCH) ** 0.5
        usual_dropout = float(np.interp(self.n_states_of(n_trees), _STATES, _DROPOUTS))
        if n_trees > MANY_TREES:
            usual_dropout *= _DROPOUT_OF_MANY
        return Trainer(
            n_epochs=self.passes(n_trees),
            batch_size=size,
            learn_rate=usual_rate if self.learn_rate is None else self.learn_rate,
            dropout=usual_dropout if self.dropout is None else self.dropout,
            weight_decay=self.weight_decay * min(size / max(n_trees, 1), 1.0),
            averaging=self.averaging,
            seed=seed,
            n_jobs=self.n_jobs,
        )

    def passes(self, n_trees: int) -> int:
        """The number of passes over so many trees."""
        return self.n_epochs or max(1, round(_EPOCHS * min(MANY_TREES / max(n_trees, 1), 1.0) ** 0.5))

    def _meta(self, chosen: Mapping[str, Any], n_trees: int, history: list[LearningEpoch]) -> dict[str, Any]:
        """Return the settings, with the values chosen by the size of the treebank, and the history of learning.

        Nothing in it depends on the machine.
        """
        not_said = ("n_jobs", "relations", "word_classes")
        settings = {name: value for name, value in vars(self).items() if name not in not_said}
        settings |= chosen
        steps = [
            {"network": step.network, "epoch": step.epoch, "log_likelihood": round(step.log_likelihood, 6)}
            | ({} if np.isnan(step.dev) else {"dev": round(step.dev, 6)})
            for step in history
        ]
        return {"learner": settings, "n_trees": n_trees, "history": steps}

    def _check(self) -> None:
        check_approximation(self.approximation)
        check_whole(0, seed=self.seed)
        for name in ("n_states", "n_networks", "n_epochs", "batch_size", "min_count", "n_jobs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"Expected {name} of at least 1, got {value}.")
        for name in ("dropout", "averaging"):
            if not 0 <= (getattr(self, name) or 0) < 1:
                raise ValueError(f"Expected {name} of at least 0 and below 1, got {getattr(self, name)}.")
        for name in ("learn_rate", "weight_decay"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"Expected {name} of at least 0, got {getattr(self, name)}.")


def fit_calibrated(
    learner: ISBNLearner,
    trees: Iterable[Tree],
    *,
    held_out: Iterable[Tree] | None = None,
    on_step: OnStep | None = None,
) -> ISBN:
    """Learn networks, and fit the temperature of their posteriors to trees that they did not learn from.

    A beam holds too few trees to tell how likely a bracket is, so that the posteriors of networks are too sure.

    trees (iterable of Tree): As for `ISBNLearner.fit`.
    held_out (iterable of Tree or None): As for `ISBNLearner.fit`. The temperature is fitted to the first 200 of them.
        Without them, one of 50 trees is left out of learning, but not more than 200. With fewer than 500 trees that
        would be too few, and the temperature is 1.
    """
    treebank, golds = list(trees), list(held_out or ())
    if golds:
        isbn = learner.fit(treebank, held_out=golds, on_step=on_step)
    elif len(treebank) < _ONE_OF * _FEWEST:
        return learner.fit(treebank, on_step=on_step)
    else:
        step = max(_ONE_OF, -(-len(treebank) // _MOST))
        golds = treebank[step - 1 :: step]
        del treebank[step - 1 :: step]
        isbn = learner.fit(treebank, on_step=on_step)
    return replace(isbn, temperature=_temperature(isbn, golds[:_MOST], functions=learner.functions))


def _temperature(isbn: ISBN, trees: Iterable[Tree], *, functions: bool) -> float:
    """Return the temperature of least calibration error on trees, from their words; 1 if they have no brackets."""
    golds = [tree for tree in (clean(tree, functions=functions) for tree in trees) if tree is not None]
    parser = isbn.parser()
    scores, right = outcomes([parser.parse(gold.words) for gold in golds], golds)
    return fit_temperature(scores, right) if len(scores) else 1.0


_ONE_OF, _FEWEST, _MOST = 50, 10, 200  # trees that are left out for the temperature


def normalized_trees(trees: Iterable[Tree], *, functions: bool = False) -> tuple[list[Tree], str]:
    """The trees that have words, normalised; the commonest label of their artificial roots, "" for none.

    functions (bool): see `clean`
    """
    kept, roots = [], Counter[str]()
    for tree in trees:
        normalized = normalize(tree, functions=functions)
        if normalized is not None:
            kept.append(normalized)
            roots[strip_root(tree)[0]] += 1
    return kept, max(roots, key=lambda label: roots[label], default="")


def count_words(events: DecisionEvents, vocabulary: NetworkVocabulary) -> int:
    """The words of derivations: each is one decision of a tag."""
    return int((events.choices[:, 0] == vocabulary.n_actions).sum())


def _note(history: list[LearningEpoch], n_words: list[int], network: int, on_step: OnStep | None, epoch: Epoch) -> None:
    """Keep what an epoch found, a word."""
    words, held_out_words = n_words
    dev = epoch.dev / held_out_words if held_out_words else float("nan")
    history.append(LearningEpoch(network, epoch.number, epoch.log_likelihood / words, dev, epoch.seconds))
    if on_step is not None:
        on_step(history[-1])
