"""How widely a network searches, and how it chooses a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spacy_lpcfg.checks import POSITIVE, SHARE, one_of, whole

MAX_COUNT = 100_000_000
"""Of anything that a search counts."""
MAX_IDLE_BYTES = 1 << 25
"""Room that a search or a lattice may keep for the next sentence."""
_BREADTH = whole(1, MAX_COUNT)
DECODINGS = ("mbr", "most-probable")
"""The decodings that a search carries out by itself."""
GUIDES = ("labels", "fenceposts")


@dataclass(frozen=True)
class LatticeSettings:
    """How widely a network searches where other models say what brackets and tags are likely.

    guide (str): "labels" allows the brackets that are likely; "fenceposts" those with any label that begin where a
        likely one begins and end where one ends.
    width (int): most vertices that are kept after each word, and on each level within a word.
    nats (float): how much less probable than the best one a vertex may be: on its level, beside what has come to the
        end of the word so far, and after the word.
    min_bracket, min_tag (float): brackets and tags less likely than this are left out.
    RAISES (ValueError): On another guide, a width below 1, or numbers out of range.
    """

    guide: str = "fenceposts"
    width: int = 12
    nats: float = 6.0
    min_bracket: float = 5e-3
    min_tag: float = 1e-2

    def __post_init__(self) -> None:
        one_of(*GUIDES)(guide=self.guide)
        _BREADTH(width=self.width)
        POSITIVE(nats=self.nats)
        SHARE(min_bracket=self.min_bracket, min_tag=self.min_tag)

    @property
    def wider(self) -> LatticeSettings:
        """What a sentence gets of which no derivation is left."""
        return replace(
            self,
            width=min(4 * self.width, MAX_COUNT),
            nats=2 * self.nats,
            min_bracket=0.1 * self.min_bracket,
            min_tag=0.1 * self.min_tag,
        )


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
    lattice (LatticeSettings or None): how posteriors are found where other models' posteriors guide the search; None
        for the beam there too.
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
    lattice: LatticeSettings | None = None

    def __post_init__(self) -> None:
        one_of(*DECODINGS)(decoding=self.decoding)
        _BREADTH(beam=self.beam, branching=self.branching, unary_cap=self.unary_cap, max_pops=self.max_pops)
