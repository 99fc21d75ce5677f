"""Search for patterns in trees (Tregex's language), list phrases and clauses, and measure syntactic complexity."""

from spacy_lpcfg.queries.complexity import Complexity, complexity
from spacy_lpcfg.queries.index import TreeIndex, TreeMatch, TreeNode
from spacy_lpcfg.queries.pattern import PatternError, TreePattern
from spacy_lpcfg.queries.phrases import Clause, clauses, phrases

__all__ = [
    "Clause",
    "Complexity",
    "PatternError",
    "TreeIndex",
    "TreeMatch",
    "TreeNode",
    "TreePattern",
    "clauses",
    "complexity",
    "phrases",
]
