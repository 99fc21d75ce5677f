"""Constituency trees: the data structure, treebank files, invertible transforms, head rules and dependencies."""

from spacy_lpcfg.trees.brackets import TreebankError, parse_trees, write_trees
from spacy_lpcfg.trees.dependencies import NO_HEAD, Dependency, conllu, dependencies
from spacy_lpcfg.trees.files import TreeFiles
from spacy_lpcfg.trees.formats import DIALECTS
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH, HeadRules, head_rules, lexical_heads, rules_of_language
from spacy_lpcfg.trees.latex import to_latex
from spacy_lpcfg.trees.nltk import from_nltk, to_nltk
from spacy_lpcfg.trees.noise import with_noise
from spacy_lpcfg.trees.reading import dialect_of, read_trees
from spacy_lpcfg.trees.tags import coarse_tag, with_coarse_tags
from spacy_lpcfg.trees.transforms import (
    binarize,
    clean,
    collapse_unaries,
    escape_token,
    escape_tokens,
    expand_unaries,
    normalize,
    normalize_rooted,
    remove_empty,
    split_chain,
    strip_functions,
    strip_root,
    unbinarize,
    unescape_token,
)
from spacy_lpcfg.trees.tree import Tree

__all__ = [
    "DEFAULT",
    "DIALECTS",
    "ENGLISH",
    "NO_HEAD",
    "Dependency",
    "HeadRules",
    "Tree",
    "TreeFiles",
    "TreebankError",
    "binarize",
    "clean",
    "coarse_tag",
    "collapse_unaries",
    "conllu",
    "dependencies",
    "dialect_of",
    "escape_token",
    "escape_tokens",
    "expand_unaries",
    "from_nltk",
    "head_rules",
    "lexical_heads",
    "normalize",
    "normalize_rooted",
    "parse_trees",
    "read_trees",
    "remove_empty",
    "rules_of_language",
    "split_chain",
    "strip_functions",
    "strip_root",
    "to_latex",
    "to_nltk",
    "unbinarize",
    "unescape_token",
    "with_coarse_tags",
    "with_noise",
    "write_trees",
]
