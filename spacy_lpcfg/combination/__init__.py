"""Several models of one treebank as one parser: grammars and belief networks err differently."""

from spacy_lpcfg.combination.combined import Combined, model_from_bytes, model_from_disk
from spacy_lpcfg.combination.distillation import Distillation
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.combination.presets import PRESETS, TEMPERATURES, preset

__all__ = [
    "PRESETS",
    "TEMPERATURES",
    "Combination",
    "Combined",
    "CombinedParser",
    "Distillation",
    "Mirrored",
    "MirroredLearner",
    "model_from_bytes",
    "model_from_disk",
    "preset",
]
