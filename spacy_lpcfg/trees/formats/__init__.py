"""The formats in which trees are written: one file each, and the table of them all."""

from spacy_lpcfg.trees.formats.table import DIALECTS, FORMATS, PENN, TreeFormat, told

__all__ = ["DIALECTS", "FORMATS", "PENN", "TreeFormat", "told"]
