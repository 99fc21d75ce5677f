"""Constituency trees: the `Tree` class, treebank files, normalization, head rules, and conversion to dependencies."""

from spacy_lpcfg.trees.brackets import parse_trees, write_trees
from spacy_lpcfg.trees.dependencies import Dependency, conllu, dependencies
from spacy_lpcfg.trees.errors import TreebankError
from spacy_lpcfg.trees.files import TreeFiles
from spacy_lpcfg.trees.heads import HeadRules, head_rules
from spacy_lpcfg.trees.latex import to_latex
from spacy_lpcfg.trees.nltk import from_nltk, to_nltk
from spacy_lpcfg.trees.reading import read_trees
from spacy_lpcfg.trees.transforms import clean, normalize
from spacy_lpcfg.trees.tree import Tree

__all__ = [
    "Dependency",
    "HeadRules",
    "Tree",
    "TreeFiles",
    "TreebankError",
    "clean",
    "conllu",
    "dependencies",
    "from_nltk",
    "head_rules",
    "normalize",
    "parse_trees",
    "read_trees",
    "to_latex",
    "to_nltk",
    "write_trees",
]
