"""Stepwise EM: updates from batches of the trees (Cappe and Moulines 2009; Liang and Klein 2009).

The expected counts of a batch of trees, scaled up to the treebank, are mixed with the counts of the batches before.
Differs from the papers: (1) the first counts come from another learner, not from the first batch, so that every rule
has some; (2) a batch of all trees is an iteration of EM.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import Learner, OnStep, keeps_functions
from spacy_lpcfg.learning.em import EMFit, EMLearner
from spacy_lpcfg.learning.limits import is_learnable
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class StepwiseEM:
    """Learner that begins with another learner's grammar, and then learns from batches of the trees.

    start (Learner): A learner that uses EM (`EMLearner`), which makes its iterations over all trees before the first
        batch; or a learner of a grammar with evidence, of which only the grammar's learner is used.
    alpha (float): Exponent of the step sizes: batch k, from 0, has the step size (k + 2)^-alpha.

    RAISES (ValueError): If `start` is another learner, or alpha is not above 0.5 and up to 1, where stepwise EM
        converges.
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

    @property
    def functions(self) -> bool:
        """Whether labels keep their function labels (SBJ in NP-SBJ), as the initial learner sets it."""
        return keeps_functions(self.start)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Return the initial grammar, before any batch; for batches use `online`.

        trees (Iterable[Tree]): Read once; raw or normalised.
        held_out, on_step: Ignored.
        RAISES (ValueError): If there are no trees.
        """
        return self._begin(trees).grammar()

    def online(self, trees: Iterable[Tree]) -> "StepwiseFit":
        """Learn the initial grammar, and return it as a `StepwiseFit` that learns from batches.

        trees (Iterable[Tree]): All trees of the batches to come, read once and kept; raw or normalised.
        RAISES (ValueError): If there are no trees, or a setting of the initial learner is out of range.
        """
        trees = list(trees)
        return StepwiseFit(self._begin(trees), trees, self.alpha, functions=self.functions)

    def _begin(self, trees: Iterable[Tree]) -> EMFit:
        start = cast(EMLearner, self.start)
        fit = start.start(trees)
        for _ in range(start.n_iterations):
            fit.step()
        return fit


class StepwiseFit:
    """Stepwise EM in progress, which learns from a batch at a time.

    fit (EMFit): EM over all trees, after the start.
    trees (Sequence[Tree]): All trees, in the order in which `fit` has read them.
    alpha (float): Exponent of the step sizes, see `StepwiseEM`.
    functions (bool): Whether the grammar of `fit` has function labels (SBJ in NP-SBJ).
    """

    def __init__(self, fit: EMFit, trees: Sequence[Tree], alpha: float, *, functions: bool) -> None:
        self._fit = fit
        self._alpha = alpha
        self._functions = functions
        self._n_batches = 0
        self._positions: dict[Tree, list[int]] = defaultdict(list)
        for position, tree in enumerate(self._learned(trees)):
            self._positions[tree].append(position)

    def step(self, trees: Iterable[Tree]) -> float:
        """Update the parameters from a batch of trees.

        trees (Iterable[Tree]): Trees of the treebank, in any order. Ignored are trees of nothing but empty elements,
            trees beyond `learning.limits`, and more copies of a tree than the treebank has.
        RETURNS (float): Log-likelihood of the batch, in nats, under the parameters before the update; 0.0 if all trees
            are ignored.
        RAISES (ValueError): If there are no trees, or some that are not in the treebank.
        """
        positions = self._positions_of(trees)
        if not len(positions):
            return 0.0
        if len(positions) == self._fit.n_trees:
            return self._fit.step()
        share = (self._n_batches + 2) ** -self._alpha
        self._n_batches += 1
        return self._fit.step(positions, share)

    def grammar(self) -> Grammar:
        """Return the grammar after the last batch; before any batch, the initial grammar."""
        return self._fit.grammar()

    def _positions_of(self, trees: Iterable[Tree]) -> np.ndarray:
        batch = list(trees)
        if not batch:
            raise ValueError("Expected at least one tree in a batch, got none.")
        copies = Counter(self._learned(batch))
        unknown = next((tree for tree in copies if tree not in self._positions), None)
        if unknown is not None:
            raise ValueError(
                f"Expected only trees among those that learning began with, got one of other labels or words: "
                f"{shown(' '.join(unknown.words))}. Begin with all trees, and do not change them later."
            )
        return np.sort([position for tree, n in copies.items() for position in self._positions[tree][:n]])

    def _learned(self, trees: Iterable[Tree]) -> Iterator[Tree]:
        """Return an iterator over the normalised trees, without trees that `fit` did not read."""
        within = (tree for tree in trees if is_learnable(tree, Counter()))
        return filter(None, (normalize(tree, functions=self._functions) for tree in within))
