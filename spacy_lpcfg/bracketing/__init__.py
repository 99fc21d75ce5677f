"""Unsupervised bracketing with word vectors, a tree metric, and minimal latent trees (Parikh, Cohen and Xing 2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.bracketer import Bracketer as Bracketer
    from spacy_lpcfg.bracketing.bracketer import BracketerError as BracketerError
    from spacy_lpcfg.bracketing.bracketer import Brackets as Brackets
    from spacy_lpcfg.bracketing.extensions.groups import TagGroups as TagGroups
    from spacy_lpcfg.bracketing.extensions.self_training import SelfTraining as SelfTraining
    from spacy_lpcfg.bracketing.learner import SpectralBracketer as SpectralBracketer
    from spacy_lpcfg.bracketing.paper.anchors import PaperAnchors as PaperAnchors
    from spacy_lpcfg.bracketing.paper.brown import Brown as Brown
    from spacy_lpcfg.bracketing.paper.embeddings import CCA as CCA
    from spacy_lpcfg.bracketing.paper.embeddings import GivenVectors as GivenVectors

if not TYPE_CHECKING:  # else mypy would accept any name
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "extensions.groups": ["TagGroups"],
            "extensions.self_training": ["SelfTraining"],
            "paper.anchors": ["PaperAnchors"],
            "paper.brown": ["Brown"],
            "paper.embeddings": ["CCA", "GivenVectors"],
            "bracketer": ["Bracketer", "BracketerError", "Brackets"],
            "learner": ["SpectralBracketer"],
        },
    )
