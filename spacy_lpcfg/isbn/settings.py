"""How widely a network searches, and how it chooses a tree."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_lpcfg.checks import one_of, whole
from spacy_lpcfg.parsing.decodings import OF_NETWORK

MAX_COUNT = 100_000_000
"""Of anything that a search counts."""
_BREADTH = whole(1, MAX_COUNT)


@dataclass(frozen=True)
class BeamSettings:
    """How widely a parser searches, and which tree it chooses.

    beam (int): hypotheses that are kept after each word.
    branching (int): actions that are followed at each step: the most likely ones (and Shift).
    margin (float): in nats; the search for a word goes on while a hypothesis would enter the beam if it shifted its
        word with a probability that much above the greatest one so far.
    unary_cap (int): most nodes that are projected in a row.
    max_pops (int): most hypotheses that are looked at for a word; those at the end of a sentence that by then have not
        come to its end are completed by their most likely steps.
    final_margin (float): in nats; derivations of the whole sentence are sought until they fall so far below the best.
    tolerance (float): residual of the equations for the means, where the approximation is "mean-field".
    decoding (str): "mbr" chooses the brackets that nest and have the largest sum of posteriors, each less
        `bracket_cost` (minimum Bayes risk over the derivations that are left); "most-probable" the tree of `n_best(1)`.
    bracket_cost (float): a bracket less likely than this is better left out; more of it for precision, less for recall.
    RAISES (ValueError): On another way of decoding, or sizes below 1 or above `MAX_COUNT`.
    """

    beam: int = 30
    branching: int = 5
    margin: float = 1.0
    unary_cap: int = 4
    max_pops: int = 4_000
    final_margin: float = 8.0
    tolerance: float = 0.1
    decoding: str = "mbr"
    bracket_cost: float = 0.5

    def __post_init__(self) -> None:
        one_of(*OF_NETWORK)(decoding=self.decoding)
        _BREADTH(beam=self.beam, branching=self.branching, unary_cap=self.unary_cap, max_pops=self.max_pops)
