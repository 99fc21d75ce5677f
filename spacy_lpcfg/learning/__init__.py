"""Learners, each from a treebank to a Grammar or an Ensemble, and what a learner of your own is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.learning.base import Learner, Step
    from spacy_lpcfg.learning.clusters import Clusters
    from spacy_lpcfg.learning.em import EM, EMFit, best_grammar
    from spacy_lpcfg.learning.ensemble import Ensembles
    from spacy_lpcfg.learning.latent.statistics import Split, StateSmoothing
    from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
    from spacy_lpcfg.learning.pivot import Pivot
    from spacy_lpcfg.learning.spectral import Smoothing, Spectral
    from spacy_lpcfg.learning.split_merge import SplitMerge
    from spacy_lpcfg.learning.stepwise import StepwiseEM
    from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, build_grammar
    from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG

__all__ = [
    "EM",
    "Clusters",
    "EMFit",
    "Ensembles",
    "IndexedTreebank",
    "Learner",
    "LexicalSettings",
    "Parameters",
    "Pivot",
    "Smoothing",
    "Spectral",
    "Split",
    "SplitMerge",
    "StateSmoothing",
    "Step",
    "StepwiseEM",
    "TreebankPCFG",
    "best_grammar",
    "build_grammar",
]

if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Clusters": "clusters",
            "EM": "em",
            "EMFit": "em",
            "Ensembles": "ensemble",
            "IndexedTreebank": "treebank.assembly",
            "Learner": "base",
            "LexicalSettings": "lexicon.lexical",
            "Parameters": "treebank.assembly",
            "Pivot": "pivot",
            "Smoothing": "spectral",
            "Spectral": "spectral",
            "Split": "latent.statistics",
            "SplitMerge": "split_merge",
            "StateSmoothing": "latent.statistics",
            "Step": "base",
            "StepwiseEM": "stepwise",
            "TreebankPCFG": "treebank_pcfg",
            "best_grammar": "em",
            "build_grammar": "treebank.assembly",
        },
    )
