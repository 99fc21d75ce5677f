"""Coarse-to-fine chart parsing: forests, marginals, and decoding."""

from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.chart.settings import EXHAUSTIVE, ChartSettings
from spacy_lpcfg.parsing.result import Parse

__all__ = ["EXHAUSTIVE", "ChartSettings", "Parse", "Parser"]
