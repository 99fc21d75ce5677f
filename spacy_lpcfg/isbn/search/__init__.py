"""The search for derivations, by stage: words, history, positions, scoring, expansion, beam, and the whole."""

from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.search._search import Search

__all__ = ["Networks", "Search"]
