"""Unsupervised bracketing by word vectors, a tree metric, and minimal latent trees (Parikh, Cohen and Xing 2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.anchors import PaperAnchors as PaperAnchors
    from spacy_lpcfg.bracketing.anchors import TagGroups as TagGroups
    from spacy_lpcfg.bracketing.bracketer import Bracketer as Bracketer
    from spacy_lpcfg.bracketing.bracketer import BracketerError as BracketerError
    from spacy_lpcfg.bracketing.bracketer import Brackets as Brackets
    from spacy_lpcfg.bracketing.brown import Brown as Brown
    from spacy_lpcfg.bracketing.embeddings import CCA as CCA
    from spacy_lpcfg.bracketing.embeddings import GivenVectors as GivenVectors
    from spacy_lpcfg.bracketing.learner import SpectralBracketer as SpectralBracketer
    from spacy_lpcfg.bracketing.self_training import SelfTraining as SelfTraining

if not TYPE_CHECKING:  # else mypy would accept any name
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "anchors": ["PaperAnchors", "TagGroups"],
            "bracketer": ["Bracketer", "BracketerError", "Brackets"],
            "brown": ["Brown"],
            "embeddings": ["CCA", "GivenVectors"],
            "learner": ["SpectralBracketer"],
            "self_training": ["SelfTraining"],
        },
    )
