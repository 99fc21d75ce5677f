"""The frozen grammar at which learners and decoders meet, its lexicon and its storage."""

from spacy_lpcfg.grammar.grammar import Grammar, GrammarError
from spacy_lpcfg.grammar.lexicon import Lexicon

__all__ = ["Grammar", "GrammarError", "Lexicon"]
