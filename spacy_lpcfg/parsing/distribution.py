"""P(tree | words) as a list of trees."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_lpcfg.checks import SEED, whole
from spacy_lpcfg.parsing.result import Analysis
from spacy_lpcfg.trees.tree import Tree

MAX_N_BEST, MAX_SAMPLES = 10_000, 100_000
"""The most trees of a sentence that can be asked for at once, since each takes some KB."""


class ListedDistribution:
    """A distribution over an explicit list of trees of one sentence.

    trees (iterable of (Tree, float)): Trees with ln P(tree, words), in any order; may be empty.
    """

    def __init__(self, trees: Iterable[tuple[Tree, float]]) -> None:
        ranked = sorted(trees, key=lambda analysis: -analysis[1])
        logs = np.array([log_probability for _, log_probability in ranked])
        self.log_probability = float(np.logaddexp.reduce(logs)) if len(logs) else float("nan")
        shares = np.exp(logs - self.log_probability).tolist()
        self._analyses = [Analysis(tree, log, share) for (tree, log), share in zip(ranked, shares, strict=True)]

    def n_best(self, n: int) -> list[Analysis]:
        """Return the n most probable trees, best first; all of them if there are fewer.

        RAISES (ValueError): If n is no whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        return self._analyses[:n]

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """Return n trees drawn independently, with replacement; an empty list if the distribution has no trees.

        RAISES (ValueError): If n is not a whole number from 1 to `MAX_SAMPLES`, or the seed not a whole number >= 0.
        """
        check_samples(n, seed)
        if not self._analyses:
            return []
        shares = np.array([analysis.probability for analysis in self._analyses])
        drawn = np.random.default_rng(seed).choice(len(shares), n, p=shares / shares.sum())
        return [self._analyses[i].tree for i in drawn]

    def entropy(self) -> float:
        """Return the entropy of the distribution over trees, in bits; nan if there are no trees."""
        if not self._analyses:
            return float("nan")
        shares = np.array([analysis.probability for analysis in self._analyses])
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum())


def check_n_best(n: int) -> None:
    """Raise ValueError if n is no whole number from 1 to `MAX_N_BEST`."""
    whole(1, MAX_N_BEST)(n=n)


def check_samples(n: int, seed: int) -> None:
    """Raise ValueError if n is not a whole number from 1 to `MAX_SAMPLES`, or the seed is not a whole number >= 0."""
    whole(1, MAX_SAMPLES)(n=n)
    SEED(seed=seed)
