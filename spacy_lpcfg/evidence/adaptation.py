"""Adaptation of a trained model to further trees, without the trees that it was trained on.

Each part of the model is adapted: the grammar by EM with a prior (`learning/adaptation`), the span classifier by
further training on the vectors of the same encoder, and the weights of the evidence by fitting them again. How far each
part is adapted is chosen by cross-validation. The model stays as it is unless its F1 rises in 90% of bootstrap samples.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.checks import SEED, counted, shown
from spacy_lpcfg.evaluation.bootstrap import f1_of, sentence_draws
from spacy_lpcfg.evaluation.conventions import Difference, local_differences, unknown_labels
from spacy_lpcfg.evidence.encoder import Encoder, RememberingEncoder
from spacy_lpcfg.evidence.folds import (
    Adaptable,
    Adaptation,
    AdaptationSettings,
    CrossValidation,
    folds_of,
    grammar_of,
    weights_of,
)
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.evidence.pipeline import PipelineEvidence
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.learning.adaptation.spelling import spelling_differences
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.limits import learnable
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree

logger = logging.getLogger(__name__)
FEWEST_TREES = 20
MOST_TOLD = 10
"""Maximum number of differences in annotation that are reported."""
_STRENGTHS = 10.0, 1.0  # in trees of the grammar for each new one
_LEAST_STRENGTH = 250.0  # as 25 trees, en forgets half a point of F1 on GUM, as 250 nothing
_SHARES = 0.5, 1.0
_SPAN_FACTORS, _TAG_FACTORS = (0.6, 1.6), (0.5,)
_SURE = 0.9  # share of the samples in which an adapted model has to be better


class AdaptationTrial(NamedTuple):
    """The F1 of adaptation settings in cross-validation.

    settings (AdaptationSettings): The settings.
    f1 (float): The F1, in percent.
    """

    settings: AdaptationSettings
    f1: float


class Conventions(NamedTuple):
    """The differences in annotation between the new trees and the trees that the model was trained on.

    differences (list of Difference): At most `MOST_TOLD` (10) differences; they are found before anything is learned.
    """

    differences: list[Difference]


class Adapted(NamedTuple):
    """The result of `adapt`.

    model (Grammar or EvidenceGrammar): The adapted model; the given model if it was not adapted.
    is_adapted (bool): Whether the model was adapted, because its F1 rises in at least 90% of bootstrap samples.
    n_trees, n_tested (int): Number of trees, and of the trees that were parsed in cross-validation.
    base_f1, f1 (float): F1 of the given and of the adapted model, in percent, by cross-validation.
    gain (tuple[float, float]): The 2.5th and 97.5th percentile of `f1 - base_f1`, by a paired bootstrap of sentences.
    settings (AdaptationSettings): The best settings, with which the model was adapted if `is_adapted`.
    """

    model: Adaptable
    is_adapted: bool
    n_trees: int
    n_tested: int
    base_f1: float
    f1: float
    gain: tuple[float, float]
    settings: AdaptationSettings

    @property
    def summary(self) -> str:
        """A description in English: both F1, their difference, and how the model was adapted."""
        low, high = self.gain
        part = f"{self.n_tested:,} of " if self.n_tested < self.n_trees else ""
        tested = f"{part}{counted(self.n_trees, 'tree')}"
        scores = (
            f"F1 on {tested} by cross-validation: {self.base_f1:.2f} as it was, {self.f1:.2f} adapted, "
            f"difference {self.f1 - self.base_f1:+.2f} (95% of samples: {low:+.2f} to {high:+.2f})"
        )
        if not self.is_adapted:
            return f"{scores}\nThe model is kept as it was: no gain is sure enough."
        tau = "" if self.settings.weights is None else f", tau {self.settings.weights.tau:g}"
        return f"{scores}\nAdapted: {self.settings.summary}{tau}."


def adapt(model: ParsingModel, trees: Iterable[Tree], *, seed: int = 0, on_step: OnStep | None = None) -> Adapted:
    """Adapt a trained model to trees, such as corrected parses, if its F1 then rises in 90% of bootstrap samples.

    model (ParsingModel): A grammar, with or without evidence (scores of spans and tags from a classifier). Evidence
        from features of words stays unchanged, and so does a grammar without rule probabilities (a spectral one).
    trees (iterable of Tree): At least `FEWEST_TREES` (20), raw or normalized.
    seed (int): Seed for training the classifier, and of the bootstrap.
    on_step (callable or None): Called once with the `Conventions`, then with an `AdaptationTrial` for each of the
        settings that are tried.
    RAISES (ValueError): If there are too few trees, if the model is no grammar, or if its evidence comes from a spaCy
        pipeline.
    """
    SEED(seed=seed)
    report = on_step or (lambda _: None)
    base, raw = _checked(model), list(learnable(trees))
    golds = _golds(base, raw)
    adaptation = Adaptation(_with_encoder(base, RememberingEncoder), _prior(base), golds, seed)
    folds = CrossValidation(folds_of(adaptation), AdaptationSettings(weights=weights_of(base)))
    report(Conventions(_differences(base, raw, golds, folds)))
    settings = _chosen(folds, adaptation, report)
    return _adapted(base, adaptation, folds, settings)


def _adapted(base: Adaptable, adaptation: Adaptation, folds: CrossValidation, settings: AdaptationSettings) -> Adapted:
    """Adapt the model to all trees with the given settings if F1 rises in 90% of bootstrap samples, else keep it."""
    before, after = folds.counts()
    gains = bootstrap_gains(before, after, adaptation.seed)
    is_adapted = settings != folds.start and float((gains > 0).mean()) >= _SURE
    model = base
    if is_adapted:
        if settings.weights is not None:
            settings = replace(settings, weights=replace(settings.weights, tau=folds.tau(settings)))
        model = _with_encoder(adaptation.model(settings), _without_memory)
    base_f1, f1 = (float(f1_of(counts.sum(axis=0))) for counts in (before, after))
    low, high = np.percentile(gains, (2.5, 97.5)).tolist()
    return Adapted(model, is_adapted, len(adaptation.trees), len(before), base_f1, f1, (low, high), settings)


def _checked(model: ParsingModel) -> Adaptable:
    """Return the model if it can be adapted, else raise ValueError."""
    if isinstance(model, EvidenceGrammar) and isinstance(model.evidence, PipelineEvidence):
        raise ValueError(
            f"Expected a model that can parse words alone, got one with evidence of {model.evidence.summary}: train "
            "its pipeline further by `spacy train`."
        )
    if isinstance(model, (Grammar, EvidenceGrammar)):
        return model
    raise ValueError(
        f"Expected a grammar to go on from, with evidence or without, got a model of another kind: {model.summary}."
    )


def bootstrap_gains(before: np.ndarray, after: np.ndarray, seed: int) -> np.ndarray:
    """Return the difference in F1, after minus before, in percent, for each bootstrap sample, float64 (n_samples,).

    before, after (int64, (n_sentences, 3)): Numbers of matched, gold and test brackets of each sentence, by two models.
    """
    times = sentence_draws(len(before), seed)
    return f1_of(times @ after) - f1_of(times @ before)


def _chosen(folds: CrossValidation, adaptation: Adaptation, report: Callable[[Any], None]) -> AdaptationSettings:
    """Search for the settings with the best F1 greedily, one part of the model after the other."""
    best = folds.start
    report(AdaptationTrial(best, folds.f1(best)))
    for alternatives in _rounds(adaptation):
        others = alternatives(best)
        best = folds.best([best, *others])
        for settings in others:
            report(AdaptationTrial(settings, folds.f1(settings)))
    return best


def _rounds(adaptation: Adaptation) -> Iterator[Callable[[AdaptationSettings], list[AdaptationSettings]]]:
    """Yield, for each part of the model in turn, a function from the best settings so far to alternatives to try."""
    base, n_trees = adaptation.base, len(adaptation.trees)
    if isinstance(base, EvidenceGrammar) and isinstance(base.evidence, EncoderEvidence):
        yield lambda settings: [replace(settings, share=share) for share in _SHARES]
    if adaptation.prior is not None:
        strengths = dict.fromkeys(max(factor * n_trees, _LEAST_STRENGTH) for factor in _STRENGTHS)
        yield lambda settings: [replace(settings, strength=strength) for strength in strengths]
    if isinstance(base, EvidenceGrammar):
        yield partial(_scaled, name="span_power", factors=_SPAN_FACTORS)
        yield partial(_scaled, name="tag_power", factors=_TAG_FACTORS)


def _scaled(settings: AdaptationSettings, *, name: str, factors: Sequence[float]) -> list[AdaptationSettings]:
    """Return copies of the settings in which one power of the evidence, `name`, is multiplied by each factor."""
    assert settings.weights is not None
    power = getattr(settings.weights, name)
    return [replace(settings, weights=replace(settings.weights, **{name: factor * power})) for factor in factors]


def _golds(base: Adaptable, trees: Iterable[Tree]) -> list[Tree]:
    """Normalize trees and strip their roots; keep function labels if the labels of the model have them.

    RAISES (ValueError): If there are fewer than `FEWEST_TREES`.
    """
    normal = map(partial(normalize_rooted, functions=base.has_functions), trees)
    golds = [strip_root(tree)[1] for tree in normal if tree is not None]
    if len(golds) < FEWEST_TREES:
        raise ValueError(
            f"Expected at least {FEWEST_TREES} trees to adapt a model, got {len(golds)}: correct more sentences."
        )
    return golds


def _prior(base: Adaptable) -> Prior | None:
    """Return the prior from the model's grammar; None, with a warning, if the grammar has no expected counts."""
    try:
        return Prior.of(grammar_of(base))
    except ValueError as error:
        logger.warning("The grammar stays as it is. %s", error)
        return None


def _with_encoder(model: Adaptable, change: Callable[[Encoder], Encoder]) -> Adaptable:
    """Return the model with its encoder replaced by `change(encoder)`; the model itself if it has no encoder."""
    if isinstance(model, Grammar) or not isinstance(model.evidence, EncoderEvidence):
        return model
    return replace(model, evidence=EncoderEvidence(change(model.evidence.encoder), model.evidence.classifier))


def _without_memory(encoder: Encoder) -> Encoder:
    return encoder.encoder if isinstance(encoder, RememberingEncoder) else encoder


def _differences(
    base: Adaptable, raw: Sequence[Tree], golds: Sequence[Tree], folds: CrossValidation
) -> list[Difference]:
    """Return the differences between the conventions of the trees and of the model, at most `MOST_TOLD`.

    Unknown labels and tags come first (at most half of `MOST_TOLD`), then spelling, the root label, and local
    trees, the most frequent first.
    """
    parses = filter(None, map(partial(normalize_rooted, functions=base.has_functions), folds.parses))
    differences = [
        *unknown_labels(golds, base.labels, base.tags)[: MOST_TOLD // 2],
        *spelling_differences(grammar_of(base), golds),
        *_root_difference(base, raw),
        *local_differences(folds.golds, [strip_root(tree)[1] for tree in parses]),
    ]
    return differences[:MOST_TOLD]


def _root_difference(base: Adaptable, raw: Iterable[Tree]) -> list[Difference]:
    """Return the difference in the artificial root label, if the most frequent root of the trees is not the model's.

    RETURNS (list of Difference): One difference, or an empty list. Trees without a root do not differ, since trees that
        the package writes have none.
    """
    roots = Counter(strip_root(tree)[0] for tree in raw)
    root, n = roots.most_common(1)[0]
    if root in ("", base.root_label):
        return []
    what = f"root {root}, the model {base.root_label or 'none'} (roots are not learned)"
    return [Difference(what, n, shown(root))]
