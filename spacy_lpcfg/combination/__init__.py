"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from spacy_lpcfg.combination.combined import Combined, Learned, known_words, learned_from_bytes, learned_from_disk
from spacy_lpcfg.combination.distillation import Distillation
from spacy_lpcfg.combination.learner import PRESETS, TEMPERATURE, Combination, MirroredLearner
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.combination.parser import CombinedParser, parser_of

__all__ = [
    "PRESETS",
    "TEMPERATURE",
    "Combination",
    "Combined",
    "CombinedParser",
    "Distillation",
    "Learned",
    "Mirrored",
    "MirroredLearner",
    "known_words",
    "learned_from_bytes",
    "learned_from_disk",
    "parser_of",
]
