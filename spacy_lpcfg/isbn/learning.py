"""Learner of incremental sigmoid belief networks from a treebank, by maximum likelihood.

See section 6 of Henderson and Titov (2010), who use gradient descent with weight decay. By default (1) the network has
the average of the weights over the steps; (2) there is dropout of the means along latent edges, which lets networks
grow to more than twice the units before they overfit; (3) more words are known, and signatures are inputs, so that
unknown words share what is known of suffixes and shapes. The variant "2010", which is also "paper", has none of these.
It has 40 units and knows the words that are seen 20 times with a tag (section 7.2).

Differs from the papers in all variants: (1) the optimizer is Adam, with a learning rate that falls to 0 along a cosine,
whereas the paper does not tell its steps; (2) with held-out trees the best of a fixed number of epochs is taken; (3)
the precision of the weights' prior is ours, as the paper does not tell its own; (4) our parser takes raw words and
weights the tags of unknown words by their signatures, searches with a beam of 30 and decodes by minimum Bayes risk,
whereas the paper's takes the tags of a tagger, searches with a beam of 10, and takes the most probable derivation.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from spacy_lpcfg.checks import COUNT, SEED
from spacy_lpcfg.evaluation.calibration import fit_tau
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.learning_settings import ISBNLexical, ISBNTraining
from spacy_lpcfg.isbn.network import FEED_FORWARD, ISBN, check_approximation, start_network
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.training import Epoch
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary
from spacy_lpcfg.learning.base import MANY_TREES, OnStep
from spacy_lpcfg.learning.limits import learnable
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.transforms import clean, normalize, strip_root
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import Variants

_UNITS, _UNITS_OF_MANY = 120, 160  # the second of more than MANY_TREES
_EPOCHS = 14  # over MANY_TREES, and fewer over more
_ONE_OF, _FEWEST, _MOST = 50, 10, 200  # trees that are left out of learning for tau


class LearningEpoch(NamedTuple):
    """Log-likelihoods and time of one pass over the trees.

    network, epoch (int): Number of the network and of the pass, from 1.
    log_likelihood (float): Training log-likelihood per word in nats, under dropout and before the step of each batch.
    dev (float): Log-likelihood per word in nats of the held-out trees under the averaged weights; nan if there are
        none.
    seconds (float): CPU seconds of this process, without the evaluation of held-out trees.
    """

    network: int
    epoch: int
    log_likelihood: float
    dev: float
    seconds: float

    def to_values(self) -> dict[str, float | None]:
        """Return the values by name for JSON: None in place of nan."""
        return {name: None if isnan(value) else value for name, value in self._asdict().items()}


@dataclass(frozen=True)
class ISBNLearner(Variants):
    """Learner of an incremental sigmoid belief network (ISBN), which parses from left to right.

    n_states (int or None): Number of latent units at each position of a derivation; None for 120, or for 160 beyond
        7,000 trees.
    approximation (str): How the means of latent units are computed: "feed-forward", "mean-field" or "mean-field-step",
        see `Network`.
    n_networks (int): Number of networks whose predictions are averaged, learned with the seeds seed, seed + 1, ...
    n_epochs (int or None): Number of passes over the trees; None for 14, which beyond 7,000 trees falls as the inverse
        square root of their number, to 12 for 10,000.
    training (ISBNTraining): Settings of gradient ascent.
    lexical (ISBNLexical): Settings of the words that the networks know.
    relations (Relations): Relations between positions of a derivation, the edges of the network.
    seed (int): Seed of the first weights, the order of the trees, and dropout.
    n_jobs (int): Number of threads, which does not change the result.
    functions (bool): Whether labels keep their function labels, as in NP-SBJ.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int | None = None
    approximation: str = FEED_FORWARD
    n_networks: int = 1
    n_epochs: int | None = None
    training: ISBNTraining = ISBNTraining()
    lexical: ISBNLexical = ISBNLexical()
    relations: Relations = Relations()
    seed: int = 0
    n_jobs: int = 1
    functions: bool = False

    def __post_init__(self) -> None:
        check_approximation(self.approximation)
        SEED(seed=self.seed)
        COUNT.optional(n_states=self.n_states, n_epochs=self.n_epochs)
        COUNT(n_networks=self.n_networks, n_jobs=self.n_jobs)

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "2010": {
                "n_states": 40,
                "training": ISBNTraining(dropout=0.0, averaging=0.0),
                "lexical": ISBNLexical(min_count=20, signatures=False),
            }
        }
    )

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ISBN:
        """Learn networks, and fit their `tau` to the brackets of held-out trees.

        A beam holds only a few of all trees, so that posteriors without `tau` are overconfident.

        trees, on_step: As for `fit_networks`.
        held_out (iterable of Tree or None): As for `fit_networks`. `tau` is fitted on the first 200. Without any, one
            tree in 50 (at most 200) is not learned from, and `tau` is fitted on these; with fewer than 500 trees all
            are learned from, and `tau` is 1.
        RAISES (ValueError): If there are no trees.
        """
        treebank, golds = list(trees), list(held_out or ())
        if golds:
            isbn = self.fit_networks(treebank, held_out=golds, on_step=on_step)
        elif len(treebank) < _ONE_OF * _FEWEST:
            return self.fit_networks(treebank, on_step=on_step)
        else:
            step = max(_ONE_OF, -(-len(treebank) // _MOST))
            golds = treebank[step - 1 :: step]
            del treebank[step - 1 :: step]
            isbn = self.fit_networks(treebank, on_step=on_step)
        return replace(isbn, tau=_tau(isbn, golds[:_MOST], functions=self.functions))

    def fit_networks(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ISBN:
        """Learn networks, without fitting their `tau`, which is 1.

        trees (iterable of Tree): Raw or normalized trees; trees larger than `learning.limits` are left out.
        held_out (iterable of Tree or None): Trees that decide which epoch is taken: the one with their largest
            likelihood. None for the last epoch.
        on_step (callable or None): Called after every epoch with a `LearningEpoch`. The model's `meta` has the history
            too, without times.
        RAISES (ValueError): If there are no trees, or too many labels and tags.
        """
        normalized, root_label = normalized_trees(trees, functions=self.functions)
        min_count = self.lexical.min_count_of(sum(map(len, normalized)))
        vocabulary = self.lexical.vocabulary(normalized, min_count)
        events = events_of(normalized, vocabulary, self.relations)
        dev = events_of(normalized_trees(held_out or (), functions=self.functions)[0], vocabulary, self.relations)
        n_words, n_dev_words = (count_words(some, vocabulary) for some in (events, dev))
        history = _History(n_words, n_dev_words, on_step)
        networks = []
        sizes = {"n_states": self.n_states_of(len(normalized)), "n_epochs": self.passes(events.n_sequences)}
        trainer = self.training.trainer(**sizes, n_trees=events.n_sequences, n_words=n_words, n_jobs=self.n_jobs)
        for number, seed in enumerate(range(self.seed, self.seed + self.n_networks), 1):
            start = start_network(self.approximation, vocabulary, self.relations, n_states=sizes["n_states"], seed=seed)
            networks.append(
                replace(trainer, seed=seed).fit(start, events, dev=dev, on_epoch=partial(history.add, number))
            )
        by_size: dict[str, float] = {**sizes, "batch_size": trainer.batch_size, "min_count": min_count}
        by_size |= {"learn_rate": round(trainer.learn_rate, 6), "dropout": round(trainer.dropout, 6)}
        meta = {**self._meta(by_size, events.n_sequences, history.epochs), "root_label": root_label}
        return ISBN(vocabulary, self.relations, tuple(networks), meta)

    def n_states_of(self, n_trees: int) -> int:
        """Return `n_states`, or its default for a treebank of `n_trees` trees if it is None."""
        return self.n_states or (_UNITS_OF_MANY if n_trees > MANY_TREES else _UNITS)

    def passes(self, n_trees: int) -> int:
        """Return `n_epochs`, or its default for a treebank of `n_trees` trees if it is None."""
        return self.n_epochs or max(1, round(_EPOCHS * min(MANY_TREES / max(n_trees, 1), 1.0) ** 0.5))

    def _meta(self, by_size: dict[str, float], n_trees: int, history: list[LearningEpoch]) -> dict[str, Any]:
        """Return the record of learning: all settings, also those chosen by the size of the treebank, and the history.

        Nothing in it depends on the machine.
        """
        settings: dict[str, Any] = {}
        for name, value in vars(self).items():
            settings |= vars(value) if isinstance(value, ISBNTraining | ISBNLexical) else {name: value}
        for name in ("n_jobs", "relations"):
            del settings[name]
        steps = [
            {"network": step.network, "epoch": step.epoch, "log_likelihood": round(step.log_likelihood, 6)}
            | ({} if isnan(step.dev) else {"dev": round(step.dev, 6)})
            for step in history
        ]
        return {"learner": {**settings, **by_size}, "n_trees": n_trees, "history": steps}


@dataclass(frozen=True)
class _History:
    """The record of all epochs so far, which passes each new epoch to `on_step`.

    n_words, n_dev_words (int): Words of the trees, and of the held-out trees.
    """

    n_words: int
    n_dev_words: int
    on_step: OnStep | None
    epochs: list[LearningEpoch] = field(default_factory=list)

    def add(self, network: int, epoch: Epoch) -> None:
        """Add an epoch of a network, with its log-likelihoods divided by the numbers of words."""
        of_words = epoch.log_likelihood / self.n_words, epoch.dev / max(self.n_dev_words, 1)
        self.epochs.append(LearningEpoch(network, epoch.number, *of_words, epoch.seconds))
        if self.on_step is not None:
            self.on_step(self.epochs[-1])


def _tau(isbn: ISBN, trees: Iterable[Tree], *, functions: bool) -> float:
    """Fit `tau` to maximize the likelihood of the brackets of held-out trees; return 1 if they have no brackets."""
    golds = [tree for tree in (clean(tree, functions=functions) for tree in trees) if tree is not None]
    if not any(gold.spans() for gold in golds):
        return 1.0
    return fit_tau(IncrementalParser(isbn), [Query(gold.words) for gold in golds], golds)


def normalized_trees(trees: Iterable[Tree], *, functions: bool = False) -> tuple[list[Tree], str]:
    """Normalize trees, and find their most frequent artificial root label.

    Trees without words or larger than `learning.limits` are left out.

    trees (iterable of Tree): Raw or normalized trees.
    functions (bool): Whether labels keep their function labels, as in NP-SBJ.
    RETURNS (list of Tree, str): The normalized trees, and the root label, "" if most trees have no artificial root.
    """
    with_words, roots = [], Counter[str]()
    for tree in learnable(trees):
        normalized = normalize(tree, functions=functions)
        if normalized is not None:
            with_words.append(normalized)
            roots[strip_root(tree)[0]] += 1
    return with_words, max(roots, key=lambda label: roots[label], default="")


def count_words(events: DecisionEvents, vocabulary: NetworkVocabulary) -> int:
    """Return the number of words in derivations, from the number of decisions on tags."""
    return int((events.choices[:, 0] == vocabulary.n_actions).sum())
