"""Latent-variable grammars: the immutable grammar, its lexicon, and conversion to and from NLTK's text format."""

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.nltk import grammar_from_pcfg, pcfg_text

__all__ = [
    "Grammar",
    "grammar_from_pcfg",
    "pcfg_text",
]
