"""P(tree | words) as a list of trees."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_lpcfg.checks import check_whole
from spacy_lpcfg.parsing.result import Analysis
from spacy_lpcfg.trees.tree import Tree


class ListedDistribution:
    """Trees of one sentence with their probabilities; those that are not listed have none.

    trees (iterable of (Tree, float)): with ln P(tree, words), in any order; may be empty.
    """

    def __init__(self, trees: Iterable[tuple[Tree, float]]) -> None:
        ranked = sorted(trees, key=lambda each: -each[1])
        logs = np.array([log_probability for _, log_probability in ranked])
        self.log_probability = float(np.logaddexp.reduce(logs)) if len(logs) else float("nan")
        shares = np.exp(logs - self.log_probability).tolist()
        self._analyses = [Analysis(tree, own, share) for (tree, own), share in zip(ranked, shares, strict=True)]

    def n_best(self, n: int) -> list[Analysis]:
        """The n most probable trees, best first; all of them if there are fewer.

        RAISES (ValueError): If n is no whole number of at least 1.
        """
        check_number(n)
        return self._analyses[:n]

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """n trees drawn independently; none if there are none.

        RAISES (ValueError): If n is no whole number of at least 1, or seed of at least 0.
        """
        check_number(n, seed)
        if not self._analyses:
            return []
        shares = np.array([each.probability for each in self._analyses])
        drawn = np.random.default_rng(seed).choice(len(shares), n, p=shares / shares.sum())
        return [self._analyses[i].tree for i in drawn]

    def entropy(self) -> float:
        """Bits; nan if there are no trees."""
        if not self._analyses:
            return float("nan")
        shares = np.array([each.probability for each in self._analyses])
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum())


def check_number(n: int, seed: int = 0) -> None:
    """RAISES (ValueError): If n is no whole number of at least 1, or seed of at least 0."""
    check_whole(1, n=n)
    check_whole(0, seed=seed)
