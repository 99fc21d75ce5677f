"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.combination.combined import Combined
    from spacy_lpcfg.combination.distillation import Distillation
    from spacy_lpcfg.combination.learner import Combination, MirroredLearner

__all__ = [
    "Combination",
    "Combined",
    "Distillation",
    "MirroredLearner",
]

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Combination": "learner",
            "Combined": "combined",
            "Distillation": "distillation",
            "MirroredLearner": "learner",
        },
    )
