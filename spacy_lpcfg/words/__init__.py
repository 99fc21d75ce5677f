"""Signatures of unknown words, and word classes learned from raw text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.words.learning import ClassLearner as ClassLearner

if not TYPE_CHECKING:  # else mypy would accept any name
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "learning": ["ClassLearner"],
        },
    )
