"""Phrase structure from dependencies, as of Universal Dependencies."""

from spacy_lpcfg.trees.phrases.conversion import Phrases, phrases_of, read_phrases
from spacy_lpcfg.trees.phrases.projective import lifted

__all__ = ["Phrases", "lifted", "phrases_of", "read_phrases"]
