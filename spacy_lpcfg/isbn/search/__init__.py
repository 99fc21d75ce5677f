"""Beam search for derivations."""

from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.search._search import Search

__all__ = ["Networks", "Search"]
