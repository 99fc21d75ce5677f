"""Stepwise EM: an iteration over some of the trees at a time (Cappe and Moulines 2009; Liang and Klein 2009).

The expected counts of a batch of trees, scaled up to the treebank, are mixed into those of the batches before. Differs
from the papers: counts begin with those of a start, not of the first batch, so that no rule is ever without any; and a
batch of all trees is an iteration of EM.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import Learner, OnStep
from spacy_lpcfg.learning.em import EMFit, EMLearner
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class StepwiseEM:
    """Learner that begins as another one does, and goes on by batches of the trees.

    start (Learner): Learner by EM; its iterations are those over all trees to begin with, 0 for none. A span layer,
        which is learned from whole treebanks, is left out.
    alpha (float): The k-th batch from 0 moves the counts a share of (k + 2)^-alpha towards its own.

    RAISES (ValueError): For another learner, or unless 0.5 < alpha <= 1, where stepwise EM converges.
    """

    start: Learner
    alpha: float = 0.7

    def __post_init__(self) -> None:
        start = self.start if isinstance(self.start, EMLearner) else getattr(self.start, "learner", None)
        if not isinstance(start, EMLearner):
            raise ValueError(
                "Expected a learner that derives from EMLearner as start, such as EM or Pivot; got "
                f"{type(self.start).__name__}."
            )
        object.__setattr__(self, "start", start)
        if not 0.5 < self.alpha <= 1:
            raise ValueError(f"Expected an alpha above 0.5 and up to 1, got {self.alpha}.")

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn from trees what there is before any batch.

        trees (Iterable[Tree]): See `online`.
        weights (sequence of float or None): How much each tree counts; None if all count alike.
        held_out, on_step: ignored: steps are those of `StepwiseFit`, and nothing is stopped early.
        RAISES (ValueError): If there are none.
        """
        return self._begin(trees, weights).grammar()

    def online(self, trees: Iterable[Tree]) -> "StepwiseFit":
        """Start online learning.

        trees (Iterable[Tree]): All trees that batches will have, read once; raw or normalised.
        RAISES (ValueError): If there are none, or if a setting is out of range.
        """
        trees = list(trees)
        return StepwiseFit(self._begin(trees), trees, self.alpha)

    def _begin(self, trees: Iterable[Tree], weights: Sequence[float] | None = None) -> EMFit:
        start = cast(EMLearner, self.start)
        fit = start.start(trees, weights)
        for _ in range(start.n_iterations):
            fit.step()
        return fit


class StepwiseFit:
    """Stepwise EM, a batch at a time.

    fit (EMFit): Of the trees.
    trees (Sequence[Tree]): All.
    alpha (float): See `StepwiseEM`.
    """

    def __init__(self, fit: EMFit, trees: Sequence[Tree], alpha: float) -> None:
        self._fit = fit
        self._alpha = alpha
        self._n_batches = 0
        self._places: dict[Tree, list[int]] = defaultdict(list)
        for position, tree in enumerate(_normal(trees)):
            self._places[tree].append(position)

    def step(self, trees: Iterable[Tree]) -> float:
        """Learn from a batch; its log-likelihood under the parameters before.

        trees (Iterable[Tree]): Some or all of those of the treebank, in any order; those that are left out do not
            count, nor do more copies of a tree than the treebank has.
        RAISES (ValueError): If there are none, or one that the treebank has not.
        """
        places = self._places_of(trees)
        if len(places) == self._fit.n_trees:
            return self._fit.step()
        share = (self._n_batches + 2) ** -self._alpha
        self._n_batches += 1
        return self._fit.step(places, share)

    def grammar(self) -> Grammar:
        """Return the grammar of the last batch, or of the start."""
        return self._fit.grammar()

    def _places_of(self, trees: Iterable[Tree]) -> np.ndarray:
        copies = Counter(_normal(trees))
        unknown = next((tree for tree in copies if tree not in self._places), None)
        if unknown is not None:
            raise ValueError(
                f"Expected only trees among those that learning began with, got one of other labels or words: "
                f"{shown(' '.join(unknown.words))}. Begin with all trees, and do not change them later."
            )
        if not copies:
            raise ValueError("Expected at least one tree in a batch, got none.")
        return np.sort([position for tree, n in copies.items() for position in self._places[tree][:n]])


def _normal(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield the trees that learning sees, normalised."""
    return (tree for tree in map(normalize, trees) if tree is not None)
