"""Split-merge learning, which gives each symbol the states that raise the likelihood most (Petrov et al. 2006).

From one state a symbol, rounds of: split every state in two; EM; undo the splits that raise the likelihood least; EM.
After r rounds a symbol has at most 2^r states, and most have far fewer.

Differs from the paper: (1) any two states of a symbol may be merged (`merging.py`); (2) a state whose expected count is
below 2 `tokens_per_state` is not split; (3) EM is smoothed from the start, by `StateSmoothing`.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from spacy_lpcfg.checks import SEED, whole
from spacy_lpcfg.learning.em import EMFit, EMLearner, random_factors, random_start
from spacy_lpcfg.learning.latent.merging import merge_states
from spacy_lpcfg.learning.latent.state_flows import flow
from spacy_lpcfg.learning.latent.state_numbers import check_states, log_fewer_states, max_states
from spacy_lpcfg.learning.latent.statistics import Expected, Split, StateSmoothing
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.trees.tree import Tree

logger = logging.getLogger(__name__)

# Iterations of EM in a round, after the splits and after the merges. Few are best: by twice as many, or much noise, EM
# comes nearer to a maximum of the likelihood, and the grammar parses worse.
_SPLIT_ITERATIONS, _MERGE_ITERATIONS = 8, 3
_MERGED = 0.5  # share of the splits of a round that is undone by as many merges
_NOISE = 0.1  # counts of the two halves of a state differ by factors e^u, u uniform in [-noise, noise]


@dataclass(frozen=True)
class SplitMerge(EMLearner, TreebankSettings):
    """Learner of a proper L-PCFG that splits and merges states, so that each symbol gets its own number of states.

    It has the settings of `TreebankSettings` too.

    n_states (int): The maximum number of latent states of a symbol (m). There are ceil(log2 m) rounds. With 32, a
        grammar has about as many states in all as another learner's grammar with 16.
    n_iterations (int): Iterations of EM after the last round, 0 for none; the maximum with held-out trees.
    seed (int): Seed of the noise.
    smoothing (StateSmoothing): Smoothing of the states of a symbol towards each other.
    tokens_per_state (float): A state is split if its expected count is at least twice this number.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    n_iterations: int = 2
    seed: int = 0
    smoothing: StateSmoothing = StateSmoothing()
    tokens_per_state: float = 10.0

    def __post_init__(self) -> None:
        check_states(self.n_states, self.tokens_per_state)
        SEED(seed=self.seed)
        whole(0)(n_iterations=self.n_iterations)

    def start(self, trees: Iterable[Tree] | IndexedTreebank) -> EMFit:
        """Run all rounds, and return EM after the last one; `trees` as for `fit`."""
        treebank = IndexedTreebank.read(trees, self)
        most = max_states(treebank.counts.symbols, self.n_states, self.tokens_per_state)
        log_fewer_states(treebank, most, self.n_states, self.tokens_per_state)  # merges are no reason to warn
        split = Split.of(treebank, 1, self.tokens_per_state)
        fit = EMFit(split, random_start(split, 0.0, self.seed), self.smoothing, self.n_jobs)
        rng = np.random.default_rng(self.seed)
        for number in range(1, (self.n_states - 1).bit_length() + 1):
            fit = self._round(fit, rng, number)
        return fit

    def _round(self, fit: EMFit, rng: np.random.Generator, number: int) -> EMFit:
        """Run round `number` of splitting, EM, merging and EM, log the result, and return EM at the new split."""
        n_before = int(fit.split.n_states.sum())
        fit = self._fit(*split_states(fit.split, fit.expected, self.n_states, self.tokens_per_state, _NOISE, rng))
        _iterate(fit, _SPLIT_ITERATIONS)
        n_split = int(fit.split.n_states.sum())
        n_merges = round(_MERGED * (n_split - n_before))
        fit = self._fit(*merge_states(fit.split, fit.expected, self.smoothing, n_merges, self.n_jobs))
        log_likelihood = _iterate(fit, _MERGE_ITERATIONS)
        progress = number, n_before, n_split, fit.split.n_states.sum(), log_likelihood
        logger.info("Round %d: %d states split to %d, merged to %d, log-likelihood %.0f", *progress)
        return fit

    def _fit(self, split: Split, expected: Expected) -> EMFit:
        return EMFit(split, expected, self.smoothing, self.n_jobs)


def _iterate(fit: EMFit, n: int) -> float:
    """Run n iterations of EM; return the log-likelihood in nats before the last iteration."""
    return [fit.step() for _ in range(n)][-1]


def split_states(
    split: Split, expected: Expected, max_states: int, tokens_per_state: float, noise: float, rng: np.random.Generator
) -> tuple[Split, Expected]:
    """Split each frequent state in two, and multiply all counts by random noise, so that the halves differ.

    split (Split): The treebank and its states.
    expected (Expected): Expected counts of these states.
    max_states (int): The maximum number of states of a symbol; its most frequent states are split first.
    tokens_per_state (float): A state is split if its expected count is at least twice this number.
    noise (float): Counts are multiplied by factors e^u, with u uniform in [-noise, noise].
    rng (numpy.random.Generator): Generator of the noise.
    RETURNS (Split, Expected): The treebank with the new states, and their expected counts.
    """
    flows = [
        split_flow(counts[:m] >= 2 * tokens_per_state, counts[:m], max_states)
        for counts, m in zip(expected.symbols, split.n_states, strict=True)
    ]
    split, halves = flow(split, expected, flows)
    word_factors = random_factors(rng, noise, halves.words.shape)
    noisy = {"words": halves.words * word_factors, "forms": halves.forms * word_factors}
    for name, counts in (("rules", halves.rules), ("roots", halves.roots)):
        noisy[name] = counts * random_factors(rng, noise, counts.shape).astype(counts.dtype)
    return split, replace(halves, **noisy)


def split_flow(is_split: np.ndarray, counts: np.ndarray, max_states: int) -> np.ndarray:
    """Return the flow matrix (`state_flows.py`) that splits some of m states in two, float32 (m, n).

    is_split (bool, (m,)): The states to split; if n would exceed `max_states`, only the most frequent of them are
        split.
    counts (float64, (m,)): Expected counts of the states.
    max_states (int): The maximum number of new states n.
    """
    m = len(counts)
    too_many = np.argsort(-np.where(is_split, counts, -1.0), kind="stable")[max(max_states - m, 0) :]
    n_halves = 1 + is_split
    n_halves[too_many] = 1
    return np.repeat(np.diag(1 / n_halves), n_halves, axis=1).astype(np.float32)
