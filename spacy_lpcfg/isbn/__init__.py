"""Incremental sigmoid belief networks: generative left-to-right parsing (Henderson and Titov 2010)."""

from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.network import APPROXIMATIONS, ISBN, Network, start_network
from spacy_lpcfg.isbn.parser import IncrementalParser, Prefix
from spacy_lpcfg.isbn.prefix import OpenNode, PrefixTree
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.settings import BeamSettings, LatticeSettings
from spacy_lpcfg.isbn.transitions import Transition, derive, tree_of
from spacy_lpcfg.isbn.vocabulary import Candidates, NetworkVocabulary, take_vocabulary

__all__ = [
    "APPROXIMATIONS",
    "ISBN",
    "BeamSettings",
    "Candidates",
    "DecisionEvents",
    "IncrementalParser",
    "LatticeSettings",
    "Network",
    "NetworkVocabulary",
    "OpenNode",
    "Prefix",
    "PrefixTree",
    "Relations",
    "Transition",
    "derive",
    "events_of",
    "start_network",
    "take_vocabulary",
    "tree_of",
]
