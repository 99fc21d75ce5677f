"""Learners of language models: EM, pivots, EM from the pivots' estimate; and mixtures with Kneser-Ney models.

The variant "2014" of the learners by pivots, which is also "paper", has none of what keeps the noise of counts out of
the estimate (`PivotSettings`). EM from a random start is that of Saul and Pereira (1997) in any variant.

Differs from the papers in all variants: (1) p(h | f) has a floor, in the paper's variant a thousandth of p(h): without
one most new bigrams have no probability, and the paper does not say what it does about them; (2) the concave EM of the
paper's variant ends after 100 iterations; (3) pivots are sought in differences from their mean; (4) the simplex
regression is that of `anchors.py`; (5) EM ends when the development text is worse twice in a row.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spacy_lpcfg.language_model.aggregate import Aggregate, Bigrams, em, random_aggregate
from spacy_lpcfg.language_model.kneser_ney import count_ngrams
from spacy_lpcfg.language_model.model import LanguageModel, Perplexity
from spacy_lpcfg.language_model.pivot import PAPER_PIVOTS, PivotSettings, pivot_aggregate
from spacy_lpcfg.language_model.text import UNKNOWN_ID, TextVocabulary
from spacy_lpcfg.variants import DEFAULT, Variants

_PATIENCE = 2  # iterations in a row after the best one, until EM ends

logger = logging.getLogger("spacy_lpcfg")


@dataclass(frozen=True)
class AggregateEM(Variants):
    """EM from random distributions.

    n_states (int): m; seed (int): of the start; n_iterations (int): the maximum.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 256
    seed: int = 0
    n_iterations: int = 10

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"2014": {}})

    def __post_init__(self) -> None:
        _check(self.n_states, self.n_iterations)

    def start(self, bigrams: Bigrams) -> Aggregate:
        """Where EM begins."""
        return random_aggregate(bigrams, _possible_states(bigrams, self.n_states), self.seed)


@dataclass(frozen=True)
class AggregatePivot(Variants):
    """The pivot algorithm, and no EM after it.

    n_states (int): m; seed (int): of the decomposition; settings (PivotSettings): of the same.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 128
    seed: int = 0
    settings: PivotSettings = PivotSettings()
    n_iterations: int = 0

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"2014": {"settings": PAPER_PIVOTS}})

    def __post_init__(self) -> None:
        _check(self.n_states, self.n_iterations)

    def start(self, bigrams: Bigrams) -> Aggregate:
        """The pivot algorithm's estimate."""
        n_states = _possible_states(bigrams, self.n_states)
        return pivot_aggregate(bigrams, n_states, seed=self.seed, settings=self.settings)


@dataclass(frozen=True)
class AggregatePivotEM(AggregatePivot):
    """EM from the pivot algorithm's estimate (section 6.3 of Cohen and Collins 2014)."""

    n_iterations: int = 1


def _check(n_states: int, n_iterations: int) -> None:
    if n_states < 1 or n_iterations < 0:
        raise ValueError(
            f"Expected n_states of at least 1 and n_iterations of at least 0, got {n_states} and {n_iterations}."
        )


METHODS: dict[str, type[AggregateEM] | type[AggregatePivot]] = {
    "em": AggregateEM,
    "pivot": AggregatePivot,
    "pivot-em": AggregatePivotEM,
}
AggregateLearner = AggregateEM | AggregatePivot


class Iteration(NamedTuple):
    """What is known after some iterations of EM.

    n (int): how many; 0 is the start.
    log_likelihood (float): of the text, in nats.
    dev (Perplexity or None): of the development text.
    seconds (float): CPU time so far, of learning alone.
    """

    n: int
    log_likelihood: float
    dev: Perplexity | None
    seconds: float


class LanguageModelFit(NamedTuple):
    """A language model and how it came about.

    model (LanguageModel): of the best iteration on the development text, or of the last one.
    history (list of Iteration): of all.
    """

    model: LanguageModel
    history: list[Iteration]


def fit(
    sentences: Sequence[Sequence[str]],
    learner: AggregateLearner,
    *,
    dev: Iterable[Sequence[str]] = (),
    rare: int = 1,
) -> LanguageModelFit:
    """Learn a language model of a text.

    sentences (sequence of sentences): each a sequence of words.
    learner (AggregateEM, AggregatePivot or AggregatePivotEM): how to learn.
    dev (iterable of sentences): a text that chooses how many iterations of the learner's to make; EM ends when it is
        worse twice in a row. Without one all are made.
    rare (int): words that are seen at most so often in the text are unknown.
    RAISES (ValueError): If the text has no words, or the development text none.
    """
    vocabulary = TextVocabulary.of(sentences, rare=rare)
    trigrams = vocabulary.trigrams(sentences)
    if len(trigrams) == 0:
        raise ValueError("Expected a text with at least one sentence to learn from, got none. Check the path.")
    dev_trigrams = vocabulary.trigrams(dev)
    bigrams = Bigrams.of(trigrams[:, 1:], len(vocabulary))
    history: list[Iteration] = []
    best: tuple[Iteration, LanguageModel] | None = None
    for aggregate, log_likelihood, seconds in _timed(bigrams, learner):
        model = LanguageModel.of(vocabulary, aggregate)
        score = model.perplexity_of(dev_trigrams) if len(dev_trigrams) else None
        history.append(Iteration(len(history), log_likelihood, score, seconds))
        if best is None or score is None or best[0].dev is None or score.bits < best[0].dev.bits:
            best = history[-1], model
        elif history[-1].n - best[0].n == _PATIENCE:
            break
    assert best is not None
    return LanguageModelFit(best[1], history)


def _timed(bigrams: Bigrams, learner: AggregateLearner) -> Iterator[tuple[Aggregate, float, float]]:
    """The start and the models after every iteration: log-likelihood, and CPU seconds spent here so far."""
    begin, elsewhere = time.process_time(), 0.0
    for aggregate, log_likelihood in islice(em(bigrams, learner.start(bigrams)), learner.n_iterations + 1):
        now = time.process_time()
        yield aggregate, log_likelihood, now - begin - elsewhere
        elsewhere += time.process_time() - now


def _possible_states(bigrams: Bigrams, n_states: int) -> int:
    """No more states than different words on either side, which give the rank of the bigram matrix."""
    possible = min(len(np.unique(bigrams.first)), len(np.unique(bigrams.second)))
    if possible < n_states:
        logger.warning("%d states instead of %d: the text has bigrams of only so many words", possible, n_states)
    return min(n_states, possible)


def interpolate(
    model: LanguageModel, sentences: Iterable[Sequence[str]], dev: Iterable[Sequence[str]], *, n_iterations: int = 100
) -> LanguageModel:
    """The mixture of an aggregate model with Kneser-Ney bigrams and trigrams; EM on a development text weighs them.

    model (LanguageModel): of the same text.
    sentences (iterable of sentences): the text that the model was learned from.
    dev (iterable of sentences): another text.
    RAISES (ValueError): If the development text has no sentences.
    """
    trigrams, counts = count_ngrams(model.vocabulary.trigrams(sentences))
    mixture = LanguageModel(model.vocabulary, model.aggregate, np.full(3, 1 / 3), trigrams, counts)
    dev_trigrams = model.vocabulary.trigrams(dev)
    components = mixture.components(dev_trigrams[dev_trigrams[:, 2] != UNKNOWN_ID])
    if len(components) == 0:
        raise ValueError("Expected a development text with at least one sentence to weigh the models on, got none.")
    weights = mixture.weights
    for _ in range(n_iterations):
        shares = components * weights
        weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    return LanguageModel(model.vocabulary, model.aggregate, weights, trigrams, counts)


@dataclass(frozen=True)
class LanguageModelLearner:
    """Learns a language model of one text, a part of which it holds out.

    method (str): one of `METHODS`.
    variant (str or int): of the method: "default", "paper", or its year.
    n_states, n_iterations (int or None): of the method; None for its own. seed (int): of the same.
    rare (int): as in `fit`.
    kneser_ney (bool): whether to mix with n-grams, as `interpolate` does.
    held_out (float): the share of the sentences, evenly spread, that chooses the iterations and weighs the n-grams. 0
        makes all iterations.
    RAISES (ValueError): If a setting is out of range, or for n-grams that nothing is held out for.
    """

    method: str = "pivot-em"
    variant: str | int = DEFAULT
    n_states: int | None = None
    n_iterations: int | None = None
    seed: int = 0
    rare: int = 1
    kneser_ney: bool = False
    held_out: float = 0.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"Expected one of the methods {', '.join(METHODS)}, got {self.method!r}.")
        if not 0 <= self.held_out < 1 or self.rare < 0:
            raise ValueError(
                f"Expected held_out of at least 0 and below 1, and rare of at least 0, got {self.held_out} and "
                f"{self.rare}."
            )
        if self.kneser_ney and not self.held_out:
            raise ValueError("Expected held_out above 0, such as 0.1, for kneser_ney, whose weights it finds; got 0.")
        self.aggregate()

    def aggregate(self) -> AggregateLearner:
        """The method with its settings."""
        given = {"n_states": self.n_states, "n_iterations": self.n_iterations}
        given = {name: n for name, n in given.items() if n is not None}
        return METHODS[self.method].variant(self.variant, seed=self.seed, **given)

    def learn(self, sentences: Sequence[Sequence[str]]) -> LanguageModel:
        """The language model of a text.

        sentences (sequence of sentences): each a sequence of words.
        RAISES (ValueError): If there are no words to learn from, or to hold out.
        """
        is_dev = [int((i + 1) * self.held_out) > int(i * self.held_out) for i in range(len(sentences))]
        train, dev = ([each for each, own in zip(sentences, is_dev, strict=True) if own == part] for part in (0, 1))
        model = fit(train, self.aggregate(), dev=dev, rare=self.rare).model
        return interpolate(model, train, dev) if self.kneser_ney else model
