"""Classes of words, learned from raw text, for words that a treebank does not have."""

from spacy_lpcfg.words.classes import NO_CLASSES, WordClasses
from spacy_lpcfg.words.learning import ClassLearner

__all__ = ["NO_CLASSES", "ClassLearner", "WordClasses"]
