"""Discriminative span layers: rescoring of a grammar's bracket posteriors by features of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.stacking.fitting import LayerSettings as LayerSettings
    from spacy_lpcfg.stacking.learner import StackedLearner as StackedLearner
    from spacy_lpcfg.stacking.stacked import Stacked as Stacked

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "fitting": ["LayerSettings"],
            "learner": ["StackedLearner"],
            "stacked": ["Stacked"],
        },
    )
