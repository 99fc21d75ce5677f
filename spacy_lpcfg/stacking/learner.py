"""Learning a grammar and a span layer over it, each from the same trees.

The layer has to know how far the grammar is to be believed on sentences that are new to it. So the treebank is read in
folds, each by a grammar that learned from all others (jackknifing, as for stacking: Wolpert 1992).
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np

from spacy_lpcfg.blocks import UNSET, Block, make_blocks
from spacy_lpcfg.checks import shown, whole
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import MANY_TREES, Learner, OnStep, Step, has_functions
from spacy_lpcfg.learning.em import EMLearner
from spacy_lpcfg.learning.weights import is_annotated, weighted_trees
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.stacking.fitting import LayerSettings, ReadSentence, fit_layer, layer_temperature
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class StackedLearner:
    """Learner of a model with a span layer over its posteriors.

    learner (Learner): Of the model: a grammar or an ensemble.
    jackknifed (Learner or None): Of the models that read the folds, where `learner` would take too long; None for
        `learner`.
    n_folds (int or None): At least 2; None for 5, and 4 of more than 7,000 trees.
    settings (LayerSettings): Of the layer.
    n_jobs (int or None): Folds at a time, in processes as in joblib; the result is the same for any number.
    RAISES (ValueError): If a setting is out of range.
    """

    learner: Learner
    jackknifed: Learner | None = None
    n_folds: int | None = None
    settings: Block[LayerSettings] = UNSET
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        make_blocks(self, settings=LayerSettings())
        whole(2).optional(n_folds=self.n_folds)

    @property
    def functions(self) -> bool:
        return has_functions(self.learner)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> Stacked:
        """Learn from trees.

        trees (Iterable[Tree]): Read once; raw or normalised. Of fewer than two the layer learns nothing, and leaves
            posteriors as they are.
        held_out (Iterable[Tree] or None): Trees by which a learner that goes by steps chooses the best one for the
            model; the folds take as many steps.
        weights (sequence of float or None): How much each tree counts for the model; None if all count alike. The
            layer is of the trees with the largest weight alone, read by models that have not learned from any other.
        on_step (callable or None): Called with the steps of the model.
        RAISES (ValueError): If there are none, or if the learner learns neither a grammar nor an ensemble.
        """
        treebank, values = weighted_trees(trees, weights, partial(normalize_rooted, functions=self.functions))
        steps: list[Any] = []
        given = None if values is None else values.tolist()
        model = self.learner.fit(treebank, held_out=held_out, weights=given, on_step=_both(steps.append, on_step))
        if not isinstance(model, Grammar | Ensemble):
            raise ValueError(
                f"Expected a learner of a grammar or an ensemble below a span layer, got {shown(self.learner)}, which "
                f"learns a {type(model).__name__}."
            )
        golds = treebank if values is None else [treebank[i] for i in np.flatnonzero(is_annotated(values))]
        return self._over(model, golds, self.jackknifed or _of_steps(self.learner, steps))

    def _over(self, model: Grammar | Ensemble, golds: Sequence[Tree], learner: Learner) -> Stacked:
        """Return the model with a span layer of the annotated trees, whose folds models of `learner` read."""
        sentences = [sentence for fold in self._read(golds, learner) for sentence in fold]
        layer = fit_layer(sentences, self.settings)
        temperature = layer_temperature(sentences, self.settings, bracket_cost=Stacked.bracket_cost)
        return Stacked(model, layer, temperature)

    def _read(self, golds: Sequence[Tree], learner: Learner) -> Iterator[list[ReadSentence]]:
        """Yield the sentences of each fold, as a model reads them that learned from all other folds."""
        n_folds = min(self.n_folds or (_FEW_FOLDS if len(golds) > MANY_TREES else _FOLDS), len(golds))
        if n_folds < 2:
            return iter(())
        bounds = np.linspace(0, len(golds), n_folds + 1).astype(int).tolist()
        return in_order(read_fold, ((learner, golds, fold) for fold in pairwise(bounds)), n_jobs=self.n_jobs)


_FOLDS, _FEW_FOLDS = 5, 4


def _both(first: OnStep, second: OnStep | None) -> OnStep:
    """Return a function that calls both."""

    def on_step(step: Any) -> None:
        first(step)
        if second is not None:
            second(step)

    return on_step


def _of_steps(learner: Learner, steps: Sequence[Any]) -> Learner:
    """Return a learner by EM with the iterations that held-out trees chose; any other as it is."""
    looked_at = [step for step in steps if isinstance(step, Step) and not isnan(step.f1)]
    if not looked_at or not isinstance(learner, EMLearner):
        return learner
    best = max(looked_at, key=lambda step: step.f1)
    return replace(learner, n_iterations=best.iteration)  # type: ignore[type-var]


def read_fold(learner: Learner, golds: Sequence[Tree], fold: tuple[int, int]) -> list[ReadSentence]:
    """Return the sentences of a fold, the trees [start, end), as a model reads them that learned from all others.

    Those that it has no tree for are left out.
    """
    start, end = fold
    with _quiet():
        parser = learner.fit([*golds[:start], *golds[end:]]).parser()
    sentences = []
    for tree in golds[start:end]:
        words, gold = tree.words, set(strip_root(tree)[1].spans())
        posteriors = parser.posteriors(words)
        if not posteriors.is_of_one:
            is_gold = np.array([bracket in gold for bracket in posteriors.brackets], dtype=np.uint8)
            sentences.append(ReadSentence(words, posteriors, is_gold))
    return sentences


@contextmanager
def _quiet() -> Iterator[None]:
    """Within, no warnings: what the learner of a fold has to say, that of the model has said."""
    logger = logging.getLogger("spacy_lpcfg")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
