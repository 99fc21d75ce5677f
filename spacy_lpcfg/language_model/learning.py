"""Learners of language models: EM, pivots, or EM initialized by pivots; and interpolation with Kneser-Ney models.

The variant "2014" (also called "paper") of the pivot learners switches off everything in `PivotSettings` that reduces
the noise of counts. EM from a random start is the EM of Saul and Pereira (1997) in all variants.

Differs from the papers in all variants: (1) p(h | f) has a floor, in the paper's variant a thousandth of p(h), since
without it most unseen bigrams have probability 0, which the paper does not address; (2) the concave EM of the paper's
variant ends after 100 iterations; (3) pivots are searched for after subtracting the mean; (4) the simplex regression is
the one of `anchors.py`; (5) EM ends after two iterations without a new best perplexity of the development text.
"""

import logging
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spacy_lpcfg.checks import BELOW_1, COUNT, one_of, whole
from spacy_lpcfg.language_model.aggregate import Aggregate, Bigrams, em, random_aggregate
from spacy_lpcfg.language_model.kneser_ney import count_ngrams
from spacy_lpcfg.language_model.model import LanguageModel, Perplexity
from spacy_lpcfg.language_model.pivot import PAPER_PIVOTS, PivotSettings, pivot_aggregate
from spacy_lpcfg.language_model.text import UNKNOWN_ID, TextVocabulary
from spacy_lpcfg.variants import Variants

_N_WEIGHT_ITERATIONS = 100  # of EM for the weights of interpolation
_PATIENCE = 2  # iterations without a new best perplexity after which EM ends

logger = logging.getLogger("spacy_lpcfg")


class Method(NamedTuple):
    """The default number of states and the default number of EM iterations of a learning method."""

    n_states: int
    n_iterations: int


METHODS = {"em": Method(256, 10), "pivot": Method(128, 0), "pivot-em": Method(128, 1)}


class Iteration(NamedTuple):
    """Report of one iteration of EM.

    n (int): Number of iterations so far; 0 for the start.
    log_likelihood (float): Log-likelihood of the training text, in nats.
    dev (Perplexity or None): Perplexity of the held-out text; None without such a text.
    seconds (float): CPU seconds of learning so far, without evaluation.
    """

    n: int
    log_likelihood: float
    dev: Perplexity | None
    seconds: float

    def to_values(self) -> dict[str, float | None]:
        """Return a dict for JSON with the keys "iteration", "log_likelihood", "dev_perplexity" and "seconds".

        Unknown and non-finite values are None.
        """
        perplexity = math.nan if self.dev is None else self.dev.perplexity
        values = {"log_likelihood": self.log_likelihood, "dev_perplexity": perplexity, "seconds": self.seconds}
        finite = {name: value if math.isfinite(value) else None for name, value in values.items()}
        return {"iteration": self.n, **finite}


class LanguageModelFit(NamedTuple):
    """A learned language model with the history of its learning.

    model (LanguageModel): The model after the iteration with the lowest perplexity of the held-out text; without
        held-out text the model after the last iteration.
    history (list of Iteration): The reports of all iterations, the start first.
    """

    model: LanguageModel
    history: list[Iteration]


def interpolate(
    model: LanguageModel, sentences: Iterable[Sequence[str]], dev: Iterable[Sequence[str]]
) -> LanguageModel:
    """Interpolate an aggregate model with Kneser-Ney bigrams and trigrams, with weights that EM fits to held-out text.

    model (LanguageModel): An aggregate model learned from `sentences`.
    sentences (iterable of sentences): The training text, from which the n-grams are counted.
    dev (iterable of sentences): The held-out text.
    RAISES (ValueError): If one of the two texts has no sentences, or there are too many words for `KneserNey`.
    """
    trigrams, counts = count_ngrams(model.vocabulary.trigrams(sentences))
    mixture = LanguageModel(model.vocabulary, model.aggregate, np.full(3, 1 / 3), trigrams, counts)
    dev_trigrams = model.vocabulary.trigrams(dev)
    components = mixture.components(dev_trigrams[dev_trigrams[:, 2] != UNKNOWN_ID])
    if len(components) == 0:
        raise ValueError("Expected a development text with at least one sentence to weigh the models on, got none.")
    weights = mixture.weights
    for _ in range(_N_WEIGHT_ITERATIONS):
        shares = components * weights
        weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    return LanguageModel(model.vocabulary, model.aggregate, weights, trigrams, counts)


@dataclass(frozen=True)
class LanguageModelLearner(Variants):
    """Learner of a language model from a text, of which a share may be held out for early stopping.

    method (str): "em" for EM from a random start; "pivot" for the pivot algorithm; "pivot-em" for EM from the estimate
        of the pivot algorithm (section 6.3 of Cohen and Collins 2014).
    n_states (int or None): Number of states m; None for 256 with "em", otherwise 128. Small texts may get fewer states.
    n_iterations (int or None): Maximum number of EM iterations; None for 10 with "em", 0 with "pivot", 1 with
        "pivot-em".
    pivots (PivotSettings): Regularization of the pivot algorithm.
    seed (int): Seed of the random start, or of the randomized SVD.
    rare (int): Words that occur at most `rare` times are treated as unknown.
    kneser_ney (bool): Whether to interpolate with Kneser-Ney n-grams.
    held_out (float): Share of the sentences, evenly spread, that is held out if `fit` gets no held-out text. It serves
        early stopping, and the weights of the Kneser-Ney n-grams. At 0 all iterations are done.
    RAISES (ValueError): If a setting is out of range.
    """

    method: str = "pivot-em"
    n_states: int | None = None
    n_iterations: int | None = None
    pivots: PivotSettings = PivotSettings()
    seed: int = 0
    rare: int = 1
    kneser_ney: bool = False
    held_out: float = 0.0

    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"2014": {"pivots": PAPER_PIVOTS}})

    def __post_init__(self) -> None:
        one_of(*METHODS)(method=self.method)
        COUNT.optional(n_states=self.n_states)
        whole(0).optional(n_iterations=self.n_iterations)
        whole(0)(seed=self.seed, rare=self.rare)
        BELOW_1(held_out=self.held_out)

    def fit(
        self, sentences: Sequence[Sequence[str]], *, held_out: Sequence[Sequence[str]] | None = None
    ) -> LanguageModelFit:
        """Learn a language model from a text.

        sentences (sequence of sentences): The training text; a sentence is a sequence of words.
        held_out (sequence of sentences, or None): A held-out text for early stopping: EM ends after two iterations
            without a new best perplexity. None, or no sentences, to hold out the share `self.held_out` of `sentences`.
        RAISES (ValueError): If the text has no sentences, or `kneser_ney` is set and nothing is held out.
        """
        train, dev = (sentences, held_out) if held_out else self._split(sentences)
        if self.kneser_ney and not dev:
            raise ValueError("Expected a held-out text for kneser_ney, whose weights it finds, or held_out above 0.")
        model, history = self._learn(train, dev)
        return LanguageModelFit(interpolate(model, train, dev) if self.kneser_ney else model, history)

    def _learn(self, train: Sequence[Sequence[str]], dev: Sequence[Sequence[str]]) -> LanguageModelFit:
        vocabulary = TextVocabulary.of(train, rare=self.rare)
        trigrams, dev_trigrams = vocabulary.trigrams(train), vocabulary.trigrams(dev)
        if len(trigrams) == 0:
            raise ValueError("Expected a text with at least one sentence to learn from, got none. Check the path.")
        bigrams = Bigrams.of(trigrams[:, 1:], len(vocabulary))
        history: list[Iteration] = []
        best: tuple[Iteration, LanguageModel] | None = None
        for aggregate, log_likelihood, seconds in self._iterations(bigrams):
            model = LanguageModel.of(vocabulary, aggregate)
            score = model.perplexity_of(dev_trigrams) if len(dev_trigrams) else None
            history.append(Iteration(len(history), log_likelihood, score, seconds))
            if best is None or score is None or best[0].dev is None or score.bits < best[0].dev.bits:
                best = history[-1], model
            elif history[-1].n - best[0].n == _PATIENCE:
                break
        assert best is not None
        return LanguageModelFit(best[1], history)

    def _iterations(self, bigrams: Bigrams) -> Iterator[tuple[Aggregate, float, float]]:
        """Yield the initial model and the model of each iteration, with log-likelihood in nats and CPU seconds."""
        begin, elsewhere = time.process_time(), 0.0
        n_iterations = METHODS[self.method].n_iterations if self.n_iterations is None else self.n_iterations
        for aggregate, log_likelihood in islice(em(bigrams, self._start(bigrams)), n_iterations + 1):
            now = time.process_time()
            yield aggregate, log_likelihood, now - begin - elsewhere
            elsewhere += time.process_time() - now

    def _start(self, bigrams: Bigrams) -> Aggregate:
        """Return the initial model of EM: random for the method "em", otherwise the estimate of the pivot algorithm.

        The number of states is at most the number of distinct first words of the bigrams, and at most the number of
        distinct second words. A warning is logged if this is less than the wanted number.
        """
        wanted = self.n_states or METHODS[self.method].n_states
        possible = min(len(np.unique(bigrams.first)), len(np.unique(bigrams.second)))
        if possible < wanted:
            logger.warning("%d states instead of %d: the text has bigrams of only so many words", possible, wanted)
        if self.method == "em":
            return random_aggregate(bigrams, min(wanted, possible), self.seed)
        return pivot_aggregate(bigrams, min(wanted, possible), seed=self.seed, settings=self.pivots)

    def _split(self, sentences: Sequence[Sequence[str]]) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
        """Split sentences into a training set and a held-out set of the share `held_out`."""
        is_dev = [int((i + 1) * self.held_out) > int(i * self.held_out) for i in range(len(sentences))]
        train, dev = ([words for words, is_in in zip(sentences, is_dev, strict=True) if is_in == i] for i in (0, 1))
        return train, dev
