"""Treebank formats: a module for each, and `FORMATS`, the table of their readers and writers."""

from spacy_lpcfg.trees.formats.table import DIALECTS, FORMATS, PENN, TreeFormat, told

__all__ = ["DIALECTS", "FORMATS", "PENN", "TreeFormat", "told"]
