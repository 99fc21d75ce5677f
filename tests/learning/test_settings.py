"""Settings that cannot be are refused when they are given, and the error says what was expected and what came."""

import re
from math import inf, nan

import pytest

from spacy_lpcfg.learning import EM, LexicalSettings, Pivot, Smoothing, SplitMerge, StateSmoothing
from spacy_lpcfg.learning.moments.convex_em import ConvexEM
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.pivot import PivotFeatures
from spacy_lpcfg.learning.treebank.settings import RuleSettings

BAD = [
    (StateSmoothing, {"rules": 2}),
    (StateSmoothing, {"rules": -1}),
    (StateSmoothing, {"words": -3}),
    (StateSmoothing, {"rare_words": -5}),
    (StateSmoothing, {"rare_rules": nan}),
    (Smoothing, {"c": -1}),
    (Smoothing, {"nu": 1.5}),
    (LexicalSettings, {"rare": -1}),
    (LexicalSettings, {"min_posterior": 2}),
    *((ConvexEM, {"max_iterations": n}) for n in (0, 2.5)),
    (ConvexEM, {"tolerance": nan}),
    *((learner, {"n_states": 0}) for learner in (EM, Pivot, SplitMerge)),
    *((EM, {"n_states": n}) for n in ("16", 2.5, True)),
    *((learner, {"tokens_per_state": -1}) for learner in (EM, Pivot, SplitMerge)),
    *((learner, {"n_iterations": -1}) for learner in (Pivot, SplitMerge)),
    (EM, {"n_iterations": -1}),
    (EM, {"noise": nan}),
    (EM, {"noise": inf}),
    (EM, {"noise": "0.1"}),
    (EM, {"tokens_per_state": nan}),
    (RuleSettings, {"markov": -1}),
    (Features, {"kappa": -5}),
    (Features, {"leaf": ()}),
    (PivotFeatures, {"precision": -1}),
    (PivotFeatures, {"prior": nan}),
    (PivotFeatures, {"shrink": -1}),
    (PivotFeatures, {"matching": "guess"}),
]


@pytest.mark.parametrize(("kind", "settings"), BAD, ids=str)
def test_settings_that_cannot_be_are_refused_when_given(kind, settings):
    ((name, value),) = settings.items()
    with pytest.raises(ValueError, match=rf"Expected .*{name}.*, got .*{re.escape(repr(value))}|'{name}', got none"):
        kind(**settings)
