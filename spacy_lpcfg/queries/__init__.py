"""Asking trees: patterns in Tregex's language, and an index of trees to ask them of."""

from spacy_lpcfg.queries.index import TreeIndex, TreeMatch, TreeNode
from spacy_lpcfg.queries.pattern import PatternError, TreePattern

__all__ = [
    "PatternError",
    "TreeIndex",
    "TreeMatch",
    "TreeNode",
    "TreePattern",
]
