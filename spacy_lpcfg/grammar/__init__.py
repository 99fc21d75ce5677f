"""The frozen grammar at which learners and decoders meet, ensembles of them, their lexicon and their storage."""

from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.nltk import grammar_from_pcfg, pcfg_text

__all__ = [
    "Ensemble",
    "Grammar",
    "Lexicon",
    "grammar_from_pcfg",
    "pcfg_text",
]
