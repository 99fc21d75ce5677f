"""Language models: Kneser-Ney, and the aggregate Markov model of Saul and Pereira (1997), learned by EM or pivots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.language_model.learning import LanguageModelLearner as LanguageModelLearner
    from spacy_lpcfg.language_model.model import LanguageModel as LanguageModel
    from spacy_lpcfg.language_model.model import LanguageModelError as LanguageModelError
    from spacy_lpcfg.language_model.model import Perplexity as Perplexity
    from spacy_lpcfg.language_model.text import read_sentences as read_sentences

if not TYPE_CHECKING:  # else mypy would accept any name
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "learning": ["LanguageModelLearner"],
            "model": ["LanguageModel", "LanguageModelError", "Perplexity"],
            "text": ["read_sentences"],
        },
    )
