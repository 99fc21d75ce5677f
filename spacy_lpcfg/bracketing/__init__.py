"""Brackets without a treebank: vectors of words, an additive tree metric, minimal latent trees."""

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
