"""Cross-validation of how a model goes on learning: settings are tried on trees that the model has not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart.evidence_parser import EvidenceParser, EvidenceWeights
from spacy_lpcfg.chart.parser import Parser, grammar_parser
from spacy_lpcfg.evaluation.bootstrap import f1_of
from spacy_lpcfg.evaluation.calibration import TAUS, bracket_losses
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, continue_classifier, held_near
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.adaptation.map_em import PriorEM
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.tree import Tree

Adaptable: TypeAlias = Grammar | EvidenceGrammar
CLASSIFIER = ClassifierSettings(n_epochs=5, rate=3e-3)
"""How the classifier goes on: the rate is half of that by which it has learned."""
N_FOLDS = 5
_MOST_TESTED = 500  # trees that are parsed for each candidate
_MOST_CALIBRATED = 200  # trees that tau is fitted on


@dataclass(frozen=True)
class AdaptationSettings:
    """How far a model goes from where it is; the default is to stay.

    strength (float or None): The number of trees that the grammar stands for, see `PriorEM`; None to keep it.
    share (float): How far the classifier goes from its weights to those that the new trees teach, see `held_near`.
    weights (EvidenceWeights or None): How much evidence counts; None for a grammar without.
    """

    strength: float | None = None
    share: float = 0.0
    weights: EvidenceWeights | None = None

    @property
    def summary(self) -> str:
        """How far each part goes, in words."""
        parts = ["grammar kept" if self.strength is None else f"grammar as {self.strength:,.0f} trees beside yours"]
        if self.weights is not None:
            parts.append(f"classifier {self.share:.0%} of its way" if self.share else "classifier kept")
            parts.append(f"powers {self.weights.span_power:g} of spans and {self.weights.tag_power:g} of tags")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Adaptation:
    """The adaptation of a model to trees; what different settings share is learned once.

    base (Adaptable): The model.
    prior (Prior or None): The expected counts of its grammar; None if the grammar has to stay.
    trees (sequence of Tree): Normalized trees without roots.
    seed (int): Seed of the learner of the classifier.
    """

    base: Adaptable
    prior: Prior | None
    trees: Sequence[Tree]
    seed: int = 0
    _grammars: dict[float | None, Grammar] = field(default_factory=dict)

    def with_trees(self, trees: Sequence[Tree]) -> Adaptation:
        """Return the adaptation of the same model to other trees."""
        return Adaptation(self.base, self.prior, trees, self.seed)

    def model(self, settings: AdaptationSettings) -> Adaptable:
        """Return the model adapted as the settings say; the base itself if they change nothing."""
        if settings.strength is None and not settings.share and settings.weights in (None, weights_of(self.base)):
            return self.base
        grammar = self._grammar(settings.strength)
        if isinstance(self.base, Grammar):
            return grammar
        evidence = self.base.evidence
        if settings.share:
            assert isinstance(evidence, EncoderEvidence)
            near = held_near(evidence.classifier, self._classifier, settings.share)
            evidence = EncoderEvidence(evidence.encoder, near)
        return EvidenceGrammar(grammar, evidence, settings.weights or self.base.weights)

    def _grammar(self, strength: float | None) -> Grammar:
        if strength is None or self.prior is None:
            return self.base if isinstance(self.base, Grammar) else self.base.model
        if strength not in self._grammars:
            self._grammars[strength] = self._em.fit(strength)
        return self._grammars[strength]

    @cached_property
    def _em(self) -> PriorEM:
        assert self.prior is not None
        return PriorEM(self.prior, NewTrees.read(self.prior.grammar, self.trees))

    @cached_property
    def _classifier(self) -> SpanClassifier:
        assert isinstance(self.base, EvidenceGrammar)
        assert isinstance(self.base.evidence, EncoderEvidence)
        evidence = self.base.evidence
        return continue_classifier(
            evidence.encoder, self.trees, start=evidence.classifier, settings=CLASSIFIER, seed=self.seed
        )


def weights_of(model: Adaptable) -> EvidenceWeights | None:
    """Return how much evidence counts in a model; None for a grammar without."""
    return model.weights if isinstance(model, EvidenceGrammar) else None


def parser_of(model: Adaptable) -> Parser:
    """Return the parser by a model."""
    if isinstance(model, Grammar):
        return grammar_parser(model)
    return EvidenceParser(model.model, model.evidence, model.weights)


class Fold(NamedTuple):
    """Trees to test on, and the model that goes on with those of all other folds."""

    tested: Sequence[Tree]
    others: Adaptation


def folds_of(whole: Adaptation) -> list[Fold]:
    """Divide trees into consecutive folds, so that trees of a text are tested by models of other texts."""
    trees = whole.trees
    bounds = np.linspace(0, len(trees), N_FOLDS + 1).astype(int).tolist()
    step = -(-len(trees) // _MOST_TESTED)
    return [
        Fold(trees[start:end:step], whole.with_trees([*trees[:start], *trees[end:]])) for start, end in pairwise(bounds)
    ]


class CrossValidation:
    """The scores of settings, each over the trees of all folds.

    folds (sequence of Fold): The folds.
    start (AdaptationSettings): The settings by which the model stays as it is.

    golds, parses (list of Tree): The tested trees, and those of the model as it is for their words.
    """

    def __init__(self, folds: Sequence[Fold], start: AdaptationSettings) -> None:
        self.folds = folds
        self.start = start
        self.golds = [tree for fold in folds for tree in fold.tested]
        self._fold_of = np.repeat(np.arange(len(folds)), [len(fold.tested) for fold in folds])
        self._counts: dict[AdaptationSettings, np.ndarray] = {}
        self.parses = self._parses(start)
        self._counts[start] = bracket_counts(self.golds, self.parses)

    def f1(self, settings: AdaptationSettings) -> float:
        """Return the F1 of some settings in percent, each fold parsed by the model that goes on with the others."""
        if settings not in self._counts:
            self._counts[settings] = bracket_counts(self.golds, self._parses(settings))
        return float(f1_of(self._counts[settings].sum(axis=0)))

    def best(self, candidates: Sequence[AdaptationSettings]) -> AdaptationSettings:
        """Return the settings with the best F1, the first one of equals."""
        return max(candidates, key=self.f1)

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return bracket counts (n_tested, 3) of the model as it is, and of the one that goes on.

        The settings for a fold are the best on the other folds, since the best on its own would be too good.
        """
        tried = list(self._counts)
        chosen = np.empty_like(self._counts[self.start])
        for fold in range(len(self.folds)):
            here = self._fold_of == fold
            scores = [f1_of(self._counts[settings][~here].sum(axis=0)) for settings in tried]
            chosen[here] = self._counts[tried[int(np.argmax(scores))]][here]
        return self._counts[self.start], chosen

    def tau(self, settings: AdaptationSettings) -> float:
        """Return the power of the probabilities of trees with the best likelihood of brackets."""
        losses = np.zeros(len(TAUS))
        step = -(-len(self.golds) // _MOST_CALIBRATED)
        for fold in self.folds:
            golds = [tree for tree in fold.tested[::step] if tree.spans()]
            if golds:
                parser = parser_of(fold.others.model(settings))
                queries = parser.prepare([Query(tree.words) for tree in golds])
                losses += bracket_losses(parser, queries, golds) * sum(len(tree.spans()) for tree in golds)
        return TAUS[int(np.argmin(losses))]

    def _parses(self, settings: AdaptationSettings) -> list[Tree]:
        parses: list[Tree] = []
        before = None
        for fold in self.folds:
            model = fold.others.model(settings)
            if model is not before:
                parser, before = parser_of(model), model
            parses += (
                parser.parse(query).tree for query in parser.prepare([Query(tree.words) for tree in fold.tested])
            )
        return parses


def bracket_counts(golds: Sequence[Tree], parses: Sequence[Tree]) -> np.ndarray:
    """Return the matched, gold and test brackets of each sentence, int64 (n, 3).

    Gold tags say what is punctuation: else a sentence in which a model tags a word as punctuation would count for
    nothing, and models would be compared on different sentences.
    """
    retagged = [parse.with_leaves(gold.leaves()) for gold, parse in zip(golds, parses, strict=True)]
    brackets = [score.brackets for score in evaluate(golds, retagged).sentences]
    return np.array([(each.matched, each.n_gold, each.n_test) for each in brackets], dtype=np.int64).reshape(-1, 3)
