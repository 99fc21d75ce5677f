"""The latent bigram model of Saul and Pereira (1997), learned by EM and by pivots, beside Kneser-Ney models."""

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
