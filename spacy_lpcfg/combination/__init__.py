"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from spacy_lpcfg.combination.combined import Combined, Learned, learned_from_bytes, learned_from_disk, words_of
from spacy_lpcfg.combination.distillation import Distillation
from spacy_lpcfg.combination.learner import PRESETS, Combination
from spacy_lpcfg.combination.parser import CombinedParser, parser_of

__all__ = [
    "PRESETS",
    "Combination",
    "Combined",
    "CombinedParser",
    "Distillation",
    "Learned",
    "learned_from_bytes",
    "learned_from_disk",
    "parser_of",
    "words_of",
]
