"""Learning of a grammar with evidence: a grammar and a span classifier or features, from the same trees.

The weights of the evidence and tau are fitted on held-out trees; then, unless the caller gave these trees, grammar and
evidence learn again from all trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spacy_lpcfg.chart.evidence_parser import EvidenceParser, EvidenceWeights
from spacy_lpcfg.checks import SEED, shown
from spacy_lpcfg.evaluation.calibration import TAUS, bracket_losses
from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder, RememberingEncoder
from spacy_lpcfg.evidence.feature_learning import FeatureSettings, learn_features
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import Learner, OnStep, keeps_functions
from spacy_lpcfg.learning.limits import learnable
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree

_POWERS_OF_FEATURES = 0.3, 0.3  # lower than an encoder's, since features tell less
_SPAN_SHARES = 0.7, 1.0  # of the power of spans that a kind of evidence begins with
_ONE_OF, _FEWEST, _MOST = 20, 10, 300  # share and numbers of trees that weights are fitted on
_ENOUGH = 100  # trees to choose the power of spans by; of 25, it loses half a point of F1 on the sample treebank


@dataclass(frozen=True)
class EvidenceLearner:
    """Learner of a grammar with evidence, from a pretrained encoder or from sparse features of words.

    learner (Learner): Learner of the grammar.
    encoder (Encoder or None): The encoder, which is not trained; None for sparse features instead.
    start (SpanClassifier or None): A classifier that was learned on the vectors of the encoder, to start from, so that
        few trees suffice; None to start from random weights.
    classifier (ClassifierSettings): Settings of the learner of the span classifier; ignored without an encoder.
    features (FeatureSettings): Settings of the learner of features; ignored with an encoder.
    seed (int): Seed of the learner of evidence.
    RAISES (ValueError): If a setting is out of range.
    """

    learner: Learner
    encoder: Encoder | None = None
    start: SpanClassifier | None = None
    classifier: ClassifierSettings = ClassifierSettings()
    features: FeatureSettings = FeatureSettings()
    seed: int = 0

    def __post_init__(self) -> None:
        SEED(seed=self.seed)

    @property
    def functions(self) -> bool:
        """Whether labels keep their function labels, as in NP-SBJ."""
        return keeps_functions(self.learner)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> EvidenceGrammar:
        """Learn a grammar and evidence from trees, and fit the weights of the evidence.

        trees (Iterable[Tree]): Training trees, raw or normalized.
        held_out (Iterable[Tree] or None): Trees to fit `EvidenceWeights` on; `learner` gets them too. Without any,
            every twentieth training tree is held out, but at most about 300; then grammar and evidence are learned
            again from all trees. With fewer than 200 training trees, none is held out, and the weights have their
            defaults.
        on_step (callable or None): Called after every step of `learner`, as in `Learner.fit`.
        RAISES (ValueError): If there are no trees with constituents, or if `learner` does not learn a grammar.
        """
        prepare = partial(normalize_rooted, functions=self.functions)
        treebank = list(filter(None, map(prepare, learnable(trees))))
        golds = list(filter(None, map(prepare, held_out or ())))
        learn = partial(self._learn, None if self.encoder is None else RememberingEncoder(self.encoder))
        if golds:
            return with_fitted_weights(learn(treebank, golds, on_step), golds[:: len(golds) // _MOST + 1])
        step = max(_ONE_OF, len(treebank) // _MOST)
        if len(treebank) < step * _FEWEST:
            return learn(treebank, None, on_step)
        others = [tree for i, tree in enumerate(treebank) if i % step]
        fitted = with_fitted_weights(learn(others, None, None), treebank[::step])
        return replace(learn(treebank, None, on_step), weights=fitted.weights)

    def _learn(
        self,
        encoder: RememberingEncoder | None,
        treebank: Sequence[Tree],
        held_out: Sequence[Tree] | None,
        on_step: OnStep | None,
    ) -> EvidenceGrammar:
        grammar = self.learner.fit(treebank, held_out=held_out, on_step=on_step)
        if not isinstance(grammar, Grammar):
            raise ValueError(
                f"Expected a learner of a grammar, to which evidence is added, got {shown(self.learner)}, which learns "
                f"a {type(grammar).__name__}."
            )
        bare = [strip_root(tree)[1] for tree in treebank]
        if encoder is None:
            features = learn_features(bare, settings=self.features, seed=self.seed)
            return EvidenceGrammar(grammar, features, EvidenceWeights(*_POWERS_OF_FEATURES))
        classifier = learn_classifier(encoder, bare, settings=self.classifier, seed=self.seed, start=self.start)
        return EvidenceGrammar(grammar, EncoderEvidence(encoder.encoder, classifier))


def with_fitted_weights(model: EvidenceGrammar, golds: Sequence[Tree]) -> EvidenceGrammar:
    """Choose `span_power` and `tau` by grid search, so that the brackets of held-out trees have the largest likelihood.

    model (EvidenceGrammar): The model; the values tried for `span_power` are 0.7 and 1 times its own.
    golds (sequence of Tree): Normalized held-out trees. With fewer than 100, `span_power` is kept and only `tau` is
        fitted.
    RETURNS (EvidenceGrammar): A copy of the model with these weights.
    RAISES (ValueError): If the trees have no brackets.
    """
    bare = [strip_root(tree)[1] for tree in golds]
    shares = _SPAN_SHARES if len(bare) >= _ENOUGH else (1.0,)
    tried = [replace(model.weights, span_power=share * model.weights.span_power) for share in shares]
    parsers = [EvidenceParser(model.grammar, model.evidence, weights) for weights in tried]
    queries = parsers[0].prepare([Query(tree.words) for tree in bare])
    losses = np.array([bracket_losses(parser, queries, bare) for parser in parsers])
    power, tau = np.unravel_index(np.argmin(losses), losses.shape)
    return replace(model, weights=replace(tried[power], tau=TAUS[tau]))
