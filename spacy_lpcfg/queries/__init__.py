"""Tree queries: search by patterns (Tregex's language), edits by rules (Tsurgeon's), clauses, syntactic complexity."""

from spacy_lpcfg.queries.complexity import Complexity, complexity
from spacy_lpcfg.queries.edit_rules import EditRule, RuleError, parse_rules, read_rules
from spacy_lpcfg.queries.editing import edit, edit_trees
from spacy_lpcfg.queries.index import TreeIndex, TreeMatch, TreeNode
from spacy_lpcfg.queries.pattern import PatternError, TreePattern
from spacy_lpcfg.queries.phrases import Clause, clauses, phrases
from spacy_lpcfg.queries.simplify import ClauseWord, SplitClause, split_clauses

__all__ = [
    "Clause",
    "ClauseWord",
    "Complexity",
    "EditRule",
    "PatternError",
    "RuleError",
    "SplitClause",
    "TreeIndex",
    "TreeMatch",
    "TreeNode",
    "TreePattern",
    "clauses",
    "complexity",
    "edit",
    "edit_trees",
    "parse_rules",
    "phrases",
    "read_rules",
    "split_clauses",
]
