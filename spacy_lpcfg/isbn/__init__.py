"""Incremental sigmoid belief networks: generative left-to-right parsing (Henderson and Titov 2010)."""

from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.settings import BeamSettings

__all__ = [
    "ISBN",
    "BeamSettings",
    "IncrementalParser",
    "Relations",
]
