"""Coarse-to-fine parsing: forests, marginals, and the trees they choose."""

from spacy_lpcfg.chart.parser import EXHAUSTIVE, Parse, Parser, Settings

__all__ = ["EXHAUSTIVE", "Parse", "Parser", "Settings"]
