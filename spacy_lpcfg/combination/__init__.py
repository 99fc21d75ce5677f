"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from spacy_lpcfg.combination.combined import Combined, Learned, known_words, learned_from_bytes, learned_from_disk
from spacy_lpcfg.combination.distillation import Distillation
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.combination.parser import CombinedParser, check_decoding, parser_of
from spacy_lpcfg.combination.presets import PRESETS, TEMPERATURES, preset

__all__ = [
    "PRESETS",
    "TEMPERATURES",
    "Combination",
    "Combined",
    "CombinedParser",
    "Distillation",
    "Learned",
    "Mirrored",
    "MirroredLearner",
    "check_decoding",
    "known_words",
    "learned_from_bytes",
    "learned_from_disk",
    "parser_of",
    "preset",
]
