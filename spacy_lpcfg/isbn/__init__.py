"""Incremental sigmoid belief networks: generative parsing from left to right (Henderson and Titov 2010)."""

from spacy_lpcfg.isbn.derivations import Step, derive, tree_of
from spacy_lpcfg.isbn.events import Events, events_of
from spacy_lpcfg.isbn.inventory import Candidates, Inventory, take_inventory
from spacy_lpcfg.isbn.network import APPROXIMATIONS, ISBN, ISBNError, Network, start_network
from spacy_lpcfg.isbn.parser import IncrementalParser, Prefix
from spacy_lpcfg.isbn.prefix import OpenNode, PrefixTree
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.settings import BeamSettings

__all__ = [
    "APPROXIMATIONS",
    "ISBN",
    "BeamSettings",
    "Candidates",
    "Events",
    "ISBNError",
    "IncrementalParser",
    "Inventory",
    "Network",
    "OpenNode",
    "Prefix",
    "PrefixTree",
    "Relations",
    "Step",
    "derive",
    "events_of",
    "start_network",
    "take_inventory",
    "tree_of",
]
