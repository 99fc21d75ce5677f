"""Language models: the aggregate Markov model of Saul and Pereira (1997), learned by EM or pivots, and Kneser-Ney."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.language_model.aggregate import Aggregate
    from spacy_lpcfg.language_model.learning import (
        METHODS,
        AggregateEM,
        AggregatePivot,
        AggregatePivotEM,
        LanguageModelFit,
        LanguageModelLearner,
        fit,
        interpolate,
    )
    from spacy_lpcfg.language_model.model import LanguageModel, LanguageModelError, Perplexity
    from spacy_lpcfg.language_model.pivot import PivotSettings
    from spacy_lpcfg.language_model.text import EDGE, UNKNOWN, TextVocabulary, read_sentences

__all__ = [
    "EDGE",
    "METHODS",
    "UNKNOWN",
    "Aggregate",
    "AggregateEM",
    "AggregatePivot",
    "AggregatePivotEM",
    "LanguageModel",
    "LanguageModelError",
    "LanguageModelFit",
    "LanguageModelLearner",
    "Perplexity",
    "PivotSettings",
    "TextVocabulary",
    "fit",
    "interpolate",
    "read_sentences",
]

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Aggregate": "aggregate",
            "AggregateEM": "learning",
            "AggregatePivot": "learning",
            "AggregatePivotEM": "learning",
            "EDGE": "text",
            "LanguageModel": "model",
            "LanguageModelError": "model",
            "LanguageModelFit": "learning",
            "LanguageModelLearner": "learning",
            "METHODS": "learning",
            "Perplexity": "model",
            "PivotSettings": "pivot",
            "TextVocabulary": "text",
            "UNKNOWN": "text",
            "fit": "learning",
            "interpolate": "learning",
            "read_sentences": "text",
        },
    )
