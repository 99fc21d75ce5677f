"""The forms in which treebanks are written: one file each, and the table of them all."""

from spacy_lpcfg.trees.dialects.table import DIALECTS, Dialect, first_lines, looks_like, told

__all__ = ["DIALECTS", "Dialect", "first_lines", "looks_like", "told"]
