"""Learners: from a treebank to a Grammar."""

from spacy_lpcfg.learning.lexical import LexicalSettings
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.learning.spectral import Smoothing, Spectral
from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG
from spacy_lpcfg.learning.tuning import tune

__all__ = ["LexicalSettings", "Pivot", "Smoothing", "Spectral", "TreebankPCFG", "tune"]
