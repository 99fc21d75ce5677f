"""Coarse-to-fine chart parsing with latent-variable PCFGs: forests, marginals, and decoding."""

from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.chart.settings import EXHAUSTIVE, ChartSettings

__all__ = ["EXHAUSTIVE", "ChartSettings", "Parser"]
