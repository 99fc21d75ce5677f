"""Cross-validation of the settings with which a trained model is adapted to new trees."""

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
from spacy_lpcfg.evidence.learning import ClassifierSettings, continue_classifier, interpolated
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.adaptation.map_em import PriorEM
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.tree import Tree

Adaptable: TypeAlias = Grammar | EvidenceGrammar
CLASSIFIER = ClassifierSettings(n_epochs=5, rate=3e-3)
"""Settings for training the classifier further: half of the learning rate that it was first trained with."""
N_FOLDS = 5
_MOST_TESTED = 500  # trees that are parsed for each candidate
_MOST_CALIBRATED = 200  # trees that tau is fitted on


@dataclass(frozen=True)
class AdaptationSettings:
    """Settings of the adaptation of a model to new trees; the defaults leave the model unchanged.

    strength (float or None): Weight of the grammar as a prior, in trees, see `PriorEM`; None to leave the grammar
        unchanged.
    share (float): Interpolation weight, from 0 to 1, of the classifier that is trained further on the new trees; 0
        leaves the classifier unchanged, see `interpolated`.
    weights (EvidenceWeights or None): Weights of the evidence; None to leave the weights of the model unchanged, and
        for a grammar without evidence.
    """

    strength: float | None = None
    share: float = 0.0
    weights: EvidenceWeights | None = None

    @property
    def summary(self) -> str:
        """A description in English of how far each part of the model is adapted."""
        parts = ["grammar kept" if self.strength is None else f"grammar as {self.strength:,.0f} trees beside yours"]
        if self.weights is not None:
            parts.append(f"classifier {self.share:.0%} of its way" if self.share else "classifier kept")
            parts.append(f"powers {self.weights.span_power:g} of spans and {self.weights.tag_power:g} of tags")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Adaptation:
    """Adapter of a model to new trees, with a cache of the adapted grammars and of the adapted classifier.

    base (Adaptable): The model to adapt.
    prior (Prior or None): The expected counts of its grammar; None to leave the grammar unchanged.
    trees (sequence of Tree): Normalized trees without roots to learn from.
    seed (int): Seed for training the classifier.
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
        """Return the model adapted with the given settings; `base` itself if they change nothing."""
        if settings.strength is None and not settings.share and settings.weights in (None, weights_of(self.base)):
            return self.base
        grammar = self._grammar(settings.strength)
        if isinstance(self.base, Grammar):
            return grammar
        evidence = self.base.evidence
        if settings.share:
            assert isinstance(evidence, EncoderEvidence)
            near = interpolated(evidence.classifier, self._classifier, settings.share)
            evidence = EncoderEvidence(evidence.encoder, near)
        return EvidenceGrammar(grammar, evidence, settings.weights or self.base.weights)

    def _grammar(self, strength: float | None) -> Grammar:
        if strength is None or self.prior is None:
            return grammar_of(self.base)
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


def grammar_of(model: Adaptable) -> Grammar:
    """Return the grammar of a model, without evidence."""
    return model if isinstance(model, Grammar) else model.grammar


def weights_of(model: Adaptable) -> EvidenceWeights | None:
    """Return the weights of the evidence of a model; None for a grammar without evidence."""
    return model.weights if isinstance(model, EvidenceGrammar) else None


def parser_of(model: Adaptable) -> Parser:
    """Return a chart parser for a model, with default settings."""
    if isinstance(model, Grammar):
        return grammar_parser(model)
    return EvidenceParser(model.grammar, model.evidence, model.weights)


class Fold(NamedTuple):
    """One fold of a cross-validation.

    tested (sequence of Tree): The trees to parse and score.
    others (Adaptation): The adaptation of the model to all trees outside this fold.
    """

    tested: Sequence[Tree]
    others: Adaptation


def folds_of(whole: Adaptation) -> list[Fold]:
    """Divide the trees of an adaptation into `N_FOLDS` folds of consecutive trees.

    Folds are consecutive so that the trees of a text are mostly tested by models adapted to other texts. If there are
    more than 500 trees, only every k-th tree of a fold is tested, so that at most about 500 trees are.
    """
    trees = whole.trees
    bounds = np.linspace(0, len(trees), N_FOLDS + 1).astype(int).tolist()
    step = -(-len(trees) // _MOST_TESTED)
    return [
        Fold(trees[start:end:step], whole.with_trees([*trees[:start], *trees[end:]])) for start, end in pairwise(bounds)
    ]


class CrossValidation:
    """Cross-validated scores of adaptation settings, cached by settings.

    folds (sequence of Fold): The folds.
    start (AdaptationSettings): The settings that leave the model unchanged.
    golds (list of Tree): The tested trees of all folds; an attribute only.
    parses (list of Tree): The trees that the unchanged model finds for the words of `golds`; an attribute only.
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
        """Return the F1 of settings, in percent; the model adapted to the other folds parses each fold."""
        if settings not in self._counts:
            self._counts[settings] = bracket_counts(self.golds, self._parses(settings))
        return float(f1_of(self._counts[settings].sum(axis=0)))

    def best(self, candidates: Sequence[AdaptationSettings]) -> AdaptationSettings:
        """Return the candidate with the highest F1; the first one on ties."""
        return max(candidates, key=self.f1)

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bracket counts of the unchanged and of the adapted model, int64 (n_tested, 3) each.

        Columns are as in `bracket_counts`. For each fold the model is adapted with the settings, among all scored so
        far, that have the best F1 on the other folds: a choice by the scores on the fold itself would be biased.
        """
        tried = list(self._counts)
        chosen = np.empty_like(self._counts[self.start])
        for fold in range(len(self.folds)):
            here = self._fold_of == fold
            scores = [f1_of(self._counts[settings][~here].sum(axis=0)) for settings in tried]
            chosen[here] = self._counts[tried[int(np.argmax(scores))]][here]
        return self._counts[self.start], chosen

    def tau(self, settings: AdaptationSettings) -> float:
        """Return the power of tree probabilities, from `TAUS`, with the lowest log-loss on brackets of tested trees."""
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
    """Return the numbers of matched, gold and test brackets of each sentence, int64 (n_sentences, 3).

    Parses are scored with the gold tags, which tell what is punctuation. With predicted tags, EVALB would leave out
    sentences in which a word is tagged as punctuation, and models would be compared on different sentences.

    golds, parses (sequence of Tree): The gold tree and the parse of each sentence, over the same words.
    """
    retagged = [parse.with_leaves(gold.leaves()) for gold, parse in zip(golds, parses, strict=True)]
    brackets = [score.brackets for score in evaluate(golds, retagged).sentences]
    return np.array([(each.matched, each.n_gold, each.n_test) for each in brackets], dtype=np.int64).reshape(-1, 3)
