"""Expectation maximisation (EM) for L-PCFGs on skeletal trees (Matsuzaki et al. 2005).

The default goes beyond the papers:

1. A symbol gets no more states than its count supports.
2. The states of a symbol share a little of their probabilities, as in the Berkeley Parser.
3. The emissions of words are smoothed further (`lexical.py`).

The variant "2013" (also called "paper") does none of this. It is the baseline of Cohen et al. (2013) and of Cohen and
Collins (2014), who begin as Matsuzaki et al. do (section 4 of the former).

Differs from the papers in all variants: (1) rare words are emitted by their signatures, as the papers do not say what
emits unknown words; (2) the number of iterations is a setting, and without held-out trees nothing chooses it; (3) a
Grammar stores tensors as sparse approximations, unless `rules.exact_tensors`, and spreads 1e-4 of the root probability
over all constituents by frequency; (4) a parser takes raw words and decodes by minimum Bayes risk, where the papers'
parser takes the tags of a tagger and decodes by `decoding="max-rule"`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.chart.parser import grammar_parser
from spacy_lpcfg.checks import SEED, at_least, whole
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep, Step
from spacy_lpcfg.learning.latent.state_numbers import check_states, log_fewer_states
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED, Expected, Split, StateSmoothing
from spacy_lpcfg.learning.lexicon.lexical import PLAIN_LEXICON
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.trees.transforms import clean
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import Variants


class EMFit:
    """EM in progress: the expected counts after a number of iterations, which `step` updates.

    split (Split): A treebank, and the numbers of states of its symbols.
    start (Expected): Counts whose relative frequencies are the first parameters.
    smoothing (StateSmoothing): Smoothing of the parameters, in every iteration and in the grammar.
    n_jobs (int or None): Parallel jobs of the E step, see `Split.expect`.
    start_smoothing (StateSmoothing or None): Smoothing of the first parameters; None for `smoothing`.
    start_grammar (callable or None): Returns the grammar before any iteration; None to make it from `start`.
    """

    def __init__(
        self,
        split: Split,
        start: Expected,
        smoothing: StateSmoothing,
        n_jobs: int | None = None,
        *,
        start_smoothing: StateSmoothing | None = None,
        start_grammar: Callable[[], Grammar] | None = None,
    ) -> None:
        self.split = split
        self.expected = start
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self._next_smoothing = start_smoothing or smoothing
        self._start_grammar = start_grammar

    def step(self, trees: np.ndarray | None = None, share: float = 1.0) -> float:
        """Run an iteration of EM.

        trees (int, (k,), or None): Positions of the trees of a batch; None for all trees.
        share (float): Step size for a batch: the expected counts become (1 - share) * old counts + share * counts of
            the batch, scaled up to the size of the treebank. Ignored without a batch.
        RETURNS (float): Log-likelihood, in nats, of the trees under the parameters before the iteration.
        RAISES (FloatingPointError): If one of the trees has probability 0.
        """
        latent = self.split.maximize(self.expected, self._next_smoothing)
        expected = self.split.expect(latent, self.n_jobs, trees)
        if trees is None:
            self.expected = expected
        else:
            self.expected = self.expected.interpolate(expected, share, self.n_trees / len(trees))
        self._next_smoothing, self._start_grammar = self.smoothing, None
        return expected.log_likelihood

    @property
    def n_trees(self) -> int:
        return len(self.split.treebank.nodes.roots)

    def grammar(self) -> Grammar:
        """Return the grammar after the last iteration; before any iteration, the grammar of the start."""
        if self._start_grammar is not None:
            return self._start_grammar()
        return self.split.grammar(self.expected, self.smoothing)


def held_out_f1(grammar: Grammar, golds: Sequence[Tree]) -> float:
    """Return the EVALB F1, in percent, of a grammar that parses the words of gold trees without their tags.

    golds (sequence of Tree): Gold trees, as `clean` returns them.
    """
    parser = grammar_parser(grammar)
    return evaluate(golds, [parser.parse(gold.words).tree for gold in golds]).scores()["evalb_f"]


class EMLearner:
    """Base class of learners that find initial parameters by some method, and improve them with iterations of EM.

    n_iterations (int): Iterations of EM; the maximum with held-out trees.
    check_every (int): The held-out trees are parsed after every `check_every` iterations, and after the last.
    first_iteration (int): The first iteration whose grammar may be the result; 0 allows the initial grammar.
    """

    n_iterations: int
    check_every: ClassVar[int] = 1
    first_iteration: ClassVar[int] = 0

    def start(self, trees: Iterable[Tree] | IndexedTreebank) -> EMFit:
        """Read trees, find the initial parameters, and return EM before any iteration; `trees` as for `fit`."""
        raise NotImplementedError

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn a grammar from trees: the grammar of the last iteration, or of the best one by F1 on held-out trees.

        trees (Iterable[Tree] or IndexedTreebank): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Trees whose words the grammar parses, to choose the number of iterations with
            the best F1.
        on_step (callable or None): Called with a `Step` after every iteration, and with step 0 if the start may be the
            result; `list.append` keeps the history.
        RAISES (ValueError): If there are no trees, or `n_iterations` is below `first_iteration`.
        """
        whole(self.first_iteration)(n_iterations=self.n_iterations)
        golds = list(filter(None, map(clean, held_out or ())))
        best, best_f1 = None, -np.inf
        clock = time.process_time()
        fit = self.start(trees)
        for iteration in range(self.first_iteration, self.n_iterations + 1):
            log_likelihood = fit.step() if iteration else float("nan")
            seconds, f1 = time.process_time() - clock, float("nan")
            if golds and (iteration % self.check_every == 0 or iteration == self.n_iterations):
                grammar = fit.grammar()
                f1 = held_out_f1(grammar, golds)
                if f1 > best_f1:
                    best, best_f1 = grammar, f1
            if on_step is not None:
                on_step(Step(iteration, log_likelihood, f1, seconds))
            clock = time.process_time()
        return best or fit.grammar()


@dataclass(frozen=True)
class EM(EMLearner, TreebankSettings, Variants):
    """Learner of a proper L-PCFG (its parameters are probabilities) by expectation maximisation from a random start.

    It has the settings of `TreebankSettings` too.

    n_states (int): The maximum number of latent states of a symbol (m).
    n_iterations (int): Iterations of EM; the maximum with held-out trees.
    seed (int): Seed of the random start.
    smoothing (StateSmoothing): Smoothing of the states of a symbol towards each other.
    tokens_per_state (float): A symbol seen n times gets at most n / tokens_per_state states; 0 for no limit.
    noise (float): The start is the treebank PCFG with every probability times e^u, u uniform in [-noise, noise].
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    n_iterations: int = 20
    seed: int = 0
    smoothing: StateSmoothing = StateSmoothing()
    tokens_per_state: float = 20.0
    noise: float = float(np.log(3.0))

    check_every: ClassVar[int] = 5
    first_iteration: ClassVar[int] = 1
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {"2013": {"tokens_per_state": 0.0, "smoothing": UNSMOOTHED, "lexical": PLAIN_LEXICON}}
    )

    def __post_init__(self) -> None:
        check_states(self.n_states, self.tokens_per_state)
        SEED(seed=self.seed)
        whole(0)(n_iterations=self.n_iterations)
        at_least(0)(noise=self.noise)

    def start(self, trees: Iterable[Tree] | IndexedTreebank) -> EMFit:
        """Return EM with random initial parameters, before any iteration; `trees` as for `fit`."""
        treebank = IndexedTreebank.read(trees, self)
        split = Split.of(treebank, self.n_states, self.tokens_per_state)
        log_fewer_states(treebank, split.n_states, self.n_states, self.tokens_per_state)
        start = random_start(split, self.noise, self.seed)
        return EMFit(split, start, self.smoothing, self.n_jobs, start_smoothing=UNSMOOTHED)


def random_start(split: Split, noise: float, seed: int) -> Expected:
    """Return random initial counts for EM: the treebank's counts divided evenly among states, times `random_factors`.

    noise (float): Range of the logarithm of the factors.
    seed (int): Seed of the factors.
    """
    rng = np.random.default_rng(seed)
    counts, sizes = split.treebank.counts, np.diff(split.starts)
    rules = np.repeat(counts.rule_counts / sizes, sizes).astype(np.float32)
    rules *= random_factors(rng, noise, rules.shape)
    shares = split.is_state / split.n_states[:, None]
    of_pairs = shares[split.events.pairs[:, 0]] * random_factors(rng, noise, (len(split.events.pairs), split.width))
    return Expected(
        rules=rules,
        words=split.events.own.sum(axis=1)[:, None] * of_pairs,
        forms=split.events.counts[:, None] * of_pairs,
        symbols=counts.symbols[:, None] * shares,
        roots=counts.roots[:, None] * shares * random_factors(rng, noise, shares.shape),
    )


def random_factors(rng: np.random.Generator, noise: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw an array of factors e^u, with u uniform in [-noise, noise], of the given shape."""
    return np.exp(rng.uniform(-noise, noise, shape))
