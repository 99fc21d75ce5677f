"""Coarse-to-fine parsing: forests, marginals, and the trees they choose."""

from spacy_lpcfg.chart.ensemble import EnsembleParser, parser_of
from spacy_lpcfg.chart.parser import EXHAUSTIVE, Parser, Settings
from spacy_lpcfg.chart.states import StateVectors
from spacy_lpcfg.parsing.result import Parse

__all__ = ["EXHAUSTIVE", "EnsembleParser", "Parse", "Parser", "Settings", "StateVectors", "parser_of"]
