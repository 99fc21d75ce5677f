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
    from spacy_lpcfg.bracketing.embeddings import CCA, EmbeddingError, GivenVectors
    from spacy_lpcfg.bracketing.latent_tree import LatentTree, minimal_tree
    from spacy_lpcfg.bracketing.learner import SpectralBracketer
    from spacy_lpcfg.bracketing.metric import TooLittleText
    from spacy_lpcfg.bracketing.self_training import SelfTraining
    from spacy_lpcfg.bracketing.tags import is_punctuation, universal
    from spacy_lpcfg.bracketing.top import oracle_split, top_split

__all__ = [
    "CCA",
    "Bracketer",
    "BracketerError",
    "Brackets",
    "Brown",
    "EmbeddingError",
    "GivenVectors",
    "LatentTree",
    "PaperAnchors",
    "SelfTraining",
    "SpectralBracketer",
    "TagGroups",
    "TooLittleText",
    "is_punctuation",
    "minimal_tree",
    "oracle_split",
    "top_split",
    "universal",
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
            "EmbeddingError": "embeddings",
            "GivenVectors": "embeddings",
            "LatentTree": "latent_tree",
            "PaperAnchors": "anchors",
            "SelfTraining": "self_training",
            "SpectralBracketer": "learner",
            "TagGroups": "anchors",
            "TooLittleText": "metric",
            "is_punctuation": "tags",
            "minimal_tree": "latent_tree",
            "oracle_split": "top",
            "top_split": "top",
            "universal": "tags",
        },
    )
