"""Latent-variable grammars: the frozen grammar, the lexicon, and the text format of NLTK."""

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.nltk import grammar_from_pcfg, pcfg_text

__all__ = [
    "Grammar",
    "grammar_from_pcfg",
    "pcfg_text",
]
