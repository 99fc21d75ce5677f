"""Settings of the beam search with networks."""

from dataclasses import dataclass

from spacy_lpcfg.checks import POSITIVE, Check, whole

MAX_COUNT = 100_000_000
"""Upper limit of the sizes of a search."""
MAX_IDLE_BYTES = 1 << 25
"""Bytes that an idle search may keep for reuse."""
_BREADTH = whole(1, MAX_COUNT)
_NATS = Check(
    "a number of at least 0",
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0,
)


@dataclass(frozen=True)
class BeamSettings:
    """Settings of beam search.

    beam (int): Number of hypotheses (partial derivations) that are kept after each word.
    branching (int): Number of most probable actions with which a hypothesis is extended, in addition to Shift.
    margin (float): Slack of the stopping rule, in nats: the search for a word ends when no hypothesis could enter the
        beam even if it shifted the word with a log-probability that is `margin` above the greatest one so far.
    unary_cap (int): Maximum number of Project actions in a row.
    max_pops (int): Maximum number of hypotheses that are expanded for a word; at the end of a sentence the remaining
        ones are completed greedily.
    final_margin (float): Complete derivations that are this many nats less probable than the best one are not searched
        for.
    tolerance (float): Convergence tolerance of the equations for the means; for the approximation "mean-field" only.
    RAISES (ValueError): If a setting is of another type or out of range; sizes are from 1 to `MAX_COUNT`.
    """

    beam: int = 30
    branching: int = 5
    margin: float = 1.0
    unary_cap: int = 4
    max_pops: int = 4_000
    final_margin: float = 8.0
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        _BREADTH(beam=self.beam, branching=self.branching, unary_cap=self.unary_cap, max_pops=self.max_pops)
        _NATS(margin=self.margin, final_margin=self.final_margin)
        POSITIVE(tolerance=self.tolerance)
