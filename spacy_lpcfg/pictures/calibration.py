"""Whether probabilities are what they say: of brackets with a posterior of 0.8, are four in five right?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spacy_lpcfg.pictures.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spacy_lpcfg.trees.parse import Posteriors
    from spacy_lpcfg.trees.tree import Tree


class Reliability(NamedTuple):
    """Predictions in bins of equal width, of those bins that have any.

    predicted (float64, (n_bins,)): mean probability of each bin
    observed (float64, (n_bins,)): share of its predictions that were right
    counts (int64, (n_bins,)): how many there are
    """

    predicted: np.ndarray
    observed: np.ndarray
    counts: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of both, each bin weighted by its predictions."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))


def reliability(
    probabilities: Sequence[float] | np.ndarray, correct: Sequence[bool] | np.ndarray, *, n_bins: int = 10
) -> Reliability:
    """The reliability curve of predictions (DeGroot and Fienberg 1983).

    probabilities (float, (n,)): of the predictions, in [0, 1]
    correct (bool, (n,)): whether each was right
    n_bins (int): bins of equal width that [0, 1] is cut into
    RAISES (ValueError): Unless there are as many of both, at least one, and probabilities are such.
    """
    p, right = np.asarray(probabilities, dtype=float), np.asarray(correct, dtype=bool)
    if p.ndim != 1 or p.shape != right.shape or not len(p):
        raise ValueError(f"Expected as many probabilities as answers, at least one; got {p.shape} and {right.shape}.")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"Expected probabilities in [0, 1], got some from {p.min()} to {p.max()}.")
    if n_bins < 1:
        raise ValueError(f"Expected at least one bin, got {n_bins}.")
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    kept = counts > 0
    means = [np.bincount(bins, each, minlength=n_bins)[kept] / counts[kept] for each in (p, right)]
    return Reliability(means[0], means[1], counts[kept])


def judged_brackets(posteriors: Posteriors, gold: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each bracket that a model thinks possible, and whether the right tree has it.

    posteriors (Posteriors): of the words of `gold`
    gold (Tree): without an artificial root
    RETURNS (float64, (n,)), (bool, (n,)): as `reliability` takes them
    RAISES (ValueError): If they are of different numbers of words.
    """
    if len(posteriors.tags) != len(gold):
        raise ValueError(f"Expected posteriors of {len(gold)} words, got those of {len(posteriors.tags)}.")
    right = set(gold.spans())
    return np.array([*posteriors.brackets.values()]), np.array([bracket in right for bracket in posteriors.brackets])


def calibration_figure(curve: Reliability) -> Figure:
    """Observed over predicted, and below it how many predictions there are of each probability.

    curve (Reliability): what `reliability` gives
    RAISES (ImportError): Without matplotlib.
    """
    figure = new_figure(5.0, 6.0)
    above, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    above.plot([0, 1], [0, 1], color="C7", linestyle="--", label="perfect")
    above.plot(curve.predicted, curve.observed, marker="o", label="observed")
    above.set_title(f"{curve.counts.sum():,} predictions, calibration error {curve.error:.3f}")
    above.set_ylabel("share that is right")
    above.legend()
    below.bar(curve.predicted, curve.counts, width=0.05)
    below.set_yscale("log")
    below.set_ylabel("predictions")
    below.set_xlabel("posterior probability")
    return figure
