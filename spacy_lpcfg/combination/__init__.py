"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.combination.combined import Combined as Combined
    from spacy_lpcfg.combination.distillation import Distillation as Distillation
    from spacy_lpcfg.combination.learner import Combination as Combination
    from spacy_lpcfg.combination.learner import MirroredLearner as MirroredLearner

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "combined": ["Combined"],
            "distillation": ["Distillation"],
            "learner": ["Combination", "MirroredLearner"],
        },
    )
