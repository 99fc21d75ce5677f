"""Conversion of dependencies, as Universal Dependencies annotate them, to phrase structure trees."""

from spacy_lpcfg.trees.phrases.conversion import Phrases, phrases_of, read_phrases

__all__ = ["Phrases", "phrases_of", "read_phrases"]
