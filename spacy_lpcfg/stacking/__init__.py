"""Discriminative span layers: rescoring of a grammar's bracket posteriors by features of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.stacking.fitting import LayerSettings
    from spacy_lpcfg.stacking.learner import StackedLearner
    from spacy_lpcfg.stacking.stacked import Stacked

__all__ = ["LayerSettings", "Stacked", "StackedLearner"]

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "LayerSettings": "fitting",
            "Stacked": "stacked",
            "StackedLearner": "learner",
        },
    )
