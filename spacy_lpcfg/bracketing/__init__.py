"""Unsupervised bracketing: word vectors, an additive tree metric, and minimal latent trees (Parikh, Cohen and Xing
2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.anchors import PaperAnchors, TagGroups
    from spacy_lpcfg.bracketing.bracketer import Bracketer, BracketerError, Brackets
    from spacy_lpcfg.bracketing.brown import Brown
    from spacy_lpcfg.bracketing.embeddings import CCA, GivenVectors
    from spacy_lpcfg.bracketing.learner import SpectralBracketer
    from spacy_lpcfg.bracketing.self_training import SelfTraining

__all__ = [
    "CCA",
    "Bracketer",
    "BracketerError",
    "Brackets",
    "Brown",
    "GivenVectors",
    "PaperAnchors",
    "SelfTraining",
    "SpectralBracketer",
    "TagGroups",
]

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Bracketer": "bracketer",
            "BracketerError": "bracketer",
            "Brackets": "bracketer",
            "Brown": "brown",
            "CCA": "embeddings",
            "GivenVectors": "embeddings",
            "PaperAnchors": "anchors",
            "SelfTraining": "self_training",
            "SpectralBracketer": "learner",
            "TagGroups": "anchors",
        },
    )
