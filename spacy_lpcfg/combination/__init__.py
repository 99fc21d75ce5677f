"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from spacy_lpcfg.combination.combined import Combined
from spacy_lpcfg.combination.learner import Combination
from spacy_lpcfg.combination.parser import CombinedParser

__all__ = ["Combination", "Combined", "CombinedParser"]
