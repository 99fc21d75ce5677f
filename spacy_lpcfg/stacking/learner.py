"""Learning of a grammar, and of a span layer over it from the same trees.

The layer has to see how reliable the grammar's posteriors are on new sentences. So each fold of the treebank is parsed
by a grammar that learned from the other folds (jackknifing, as in stacking: Wolpert 1992).
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np

from spacy_lpcfg.blocks import UNSET, Block, make_blocks
from spacy_lpcfg.checks import shown, whole
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import MANY_TREES, Learner, OnStep, Step, has_functions
from spacy_lpcfg.learning.em import EMLearner
from spacy_lpcfg.learning.limits import learnable
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.stacking.fitting import LayerSettings, ReadSentence, fit_layer, layer_temperature
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class StackedLearner:
    """Learner of a grammar with a span layer over its posteriors.

    learner (Learner): Learner of the grammar that stays.
    jackknifed (Learner or None): A faster learner, for the models that parse the folds; None for `learner`.
    n_folds (int or None): Number of folds, at least 2; None for 5, or for 4 if there are more than 7,000 trees.
    settings (LayerSettings): Settings of the layer.
    n_jobs (int or None): Number of folds at a time, in processes as in joblib; the result is the same for any number.
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
        """Whether labels keep their functions, as NP-SBJ."""
        return has_functions(self.learner)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Stacked:
        """Learn from trees.

        trees (Iterable[Tree]): Raw or normalised trees, read once. From fewer than two, the layer leaves posteriors as
            they are.
        held_out (Iterable[Tree] or None): Trees on which a learner by EM chooses the number of iterations, which the
            learners of the folds take over.
        on_step (callable or None): Called after each step of `learner`.
        RAISES (ValueError): If there are no trees, or if `learner` learns no grammar.
        """
        normalized = (normalize_rooted(tree, functions=self.functions) for tree in learnable(trees))
        treebank = [tree for tree in normalized if tree is not None]
        steps: list[Any] = []
        model = self.learner.fit(treebank, held_out=held_out, on_step=_both(steps.append, on_step))
        if not isinstance(model, Grammar):
            raise ValueError(
                f"Expected a learner of a grammar below a span layer, got {shown(self.learner)}, which "
                f"learns a {type(model).__name__}."
            )
        return self._with_layer(model, treebank, self.jackknifed or _with_best_iteration(self.learner, steps))

    def _with_layer(self, model: Grammar, golds: Sequence[Tree], learner: Learner) -> Stacked:
        """Return the model with a span layer that is learned from annotated trees; `learner` is that of the folds."""
        sentences = [sentence for fold in self._parsed_folds(golds, learner) for sentence in fold]
        layer = fit_layer(sentences, self.settings)
        temperature = layer_temperature(sentences, self.settings, bracket_cost=Stacked.bracket_cost)
        return Stacked(model, layer, temperature)

    def _parsed_folds(self, golds: Sequence[Tree], learner: Learner) -> Iterator[list[ReadSentence]]:
        """Yield the sentences of each fold with the posteriors of a model that learned from the other folds."""
        n_folds = min(self.n_folds or (_FEW_FOLDS if len(golds) > MANY_TREES else _FOLDS), len(golds))
        if n_folds < 2:
            return iter(())
        bounds = np.linspace(0, len(golds), n_folds + 1).astype(int).tolist()
        return in_order(read_fold, ((learner, golds, fold) for fold in pairwise(bounds)), n_jobs=self.n_jobs)


_FOLDS, _FEW_FOLDS = 5, 4


def _both(first: OnStep, second: OnStep | None) -> OnStep:
    """Return a callback that calls both."""

    def on_step(step: Any) -> None:
        first(step)
        if second is not None:
            second(step)

    return on_step


def _with_best_iteration(learner: Learner, steps: Sequence[Any]) -> Learner:
    """Return a learner by EM that stops at the iteration of the best held-out F1; any other learner as it is."""
    scored = [step for step in steps if isinstance(step, Step) and not isnan(step.f1)]
    if not scored or not isinstance(learner, EMLearner):
        return learner
    best = max(scored, key=lambda step: step.f1)
    return replace(learner, n_iterations=best.iteration)  # type: ignore[type-var]


def read_fold(learner: Learner, golds: Sequence[Tree], fold: tuple[int, int]) -> list[ReadSentence]:
    """Return the sentences of a fold, with the posteriors of a model that learned from the trees outside the fold.

    Sentences that the model has no tree for are left out.

    fold ((int, int)): The range [start, end) of its trees.
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
    """Suppress warnings within the context: the learner of a fold would repeat those of the model's learner."""
    logger = logging.getLogger("spacy_lpcfg")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
