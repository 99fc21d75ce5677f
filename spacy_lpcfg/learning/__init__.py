"""Learners: from a treebank to a Grammar, or to an Ensemble."""

from spacy_lpcfg.learning.clusters import Clusters
from spacy_lpcfg.learning.em import EM
from spacy_lpcfg.learning.ensemble import Ensembles
from spacy_lpcfg.learning.latent.statistics import StateSmoothing
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.learning.spectral import Smoothing, Spectral
from spacy_lpcfg.learning.split_merge import SplitMerge
from spacy_lpcfg.learning.stepwise import StepwiseEM
from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG
from spacy_lpcfg.learning.tuning import tune

__all__ = [
    "EM",
    "Clusters",
    "Ensembles",
    "LexicalSettings",
    "Pivot",
    "Smoothing",
    "Spectral",
    "SplitMerge",
    "StateSmoothing",
    "StepwiseEM",
    "TreebankPCFG",
    "tune",
]
