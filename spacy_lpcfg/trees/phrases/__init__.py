"""Phrase structure from dependencies in the annotation of Universal Dependencies."""

from spacy_lpcfg.trees.phrases.conversion import Phrases, phrases_of, read_phrases

__all__ = ["Phrases", "phrases_of", "read_phrases"]
