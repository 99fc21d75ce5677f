"""Learners, each from a treebank to a Grammar or an Ensemble, and what a learner of your own is made of."""

from spacy_lpcfg.learning.base import Learner, Step
from spacy_lpcfg.learning.clusters import Clusters
from spacy_lpcfg.learning.em import EM, EMFit, best_grammar
from spacy_lpcfg.learning.ensemble import Ensembles
from spacy_lpcfg.learning.induction import Induction, bracketed_tree
from spacy_lpcfg.learning.latent.statistics import Split, StateSmoothing
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.learning.spectral import Smoothing, Spectral
from spacy_lpcfg.learning.split_merge import SplitMerge
from spacy_lpcfg.learning.stepwise import StepwiseEM
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, build_grammar
from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG
from spacy_lpcfg.learning.tuning import tune

__all__ = [
    "EM",
    "Clusters",
    "EMFit",
    "Ensembles",
    "IndexedTreebank",
    "Induction",
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
    "bracketed_tree",
    "build_grammar",
    "tune",
]
