"""Constraints on the trees of a Doc: registered callables for the setting `constraints` of the parsers."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from spacy.tokens import Doc

from spacy_lpcfg.parsing.constraints import Constraints

ConstraintsOf: TypeAlias = Callable[[Doc], Constraints]
"""A function that returns the constraints on the trees of a Doc, as half-open spans of its tokens."""


def make_entities() -> ConstraintsOf:
    """Create `spacy-lpcfg.entities.v1`, for the setting `constraints`: no constituent crosses an entity of `doc.ents`.

    An entity need not be a constituent itself, as "Bill Clinton" in (NP former president Bill Clinton). The component
    that finds entities has to come before the parser.

    RETURNS (callable): `entity_constraints`.
    """
    return entity_constraints


def entity_constraints(doc: Doc) -> Constraints:
    """Return constraints on the trees of a Doc: no constituent crosses an entity."""
    return Constraints(whole=tuple((ent.start, ent.end) for ent in doc.ents))


def constraints_by_sentence(constraints: Constraints, bounds: Sequence[tuple[int, int]]) -> list[Constraints]:
    """Split constraints on a Doc by sentence; spans that are not inside one sentence are dropped.

    constraints (Constraints): Constraints with token positions in the Doc.
    bounds (sequence of (int, int)): Start and end token of each sentence, consecutive.
    RETURNS (list of Constraints): The constraints of each sentence, still with positions in the Doc.
    """
    starts = [start for start, _ in bounds]

    def parted(spans: Sequence[Any]) -> list[tuple[Any, ...]]:
        spans_of: list[list[Any]] = [[] for _ in bounds]
        for span in spans:
            number = bisect_right(starts, span[0]) - 1
            if number >= 0 and span[1] <= bounds[number][1]:
                spans_of[number].append(span)
        return [tuple(spans) for spans in spans_of]

    return [Constraints(*fields) for fields in zip(*map(parted, vars(constraints).values()), strict=True)]


def constraints_within(constraints: Constraints, positions: Sequence[int]) -> Constraints:
    """Convert the positions of constraints from tokens of a Doc to words of a sentence; drop spans outside of it.

    constraints (Constraints): Constraints with token positions in the Doc.
    positions (sequence of int): Token positions of the sentence's words in the Doc, increasing, at least one.
    RETURNS (Constraints): The constraints whose spans are inside the sentence and contain a word.
    """

    def place(start: int, end: int) -> Iterator[tuple[int, int]]:
        first, last = bisect_left(positions, start), bisect_left(positions, end)
        if positions[0] <= start and end <= positions[-1] + 1 and first < last:
            yield first, last

    def labelled(spans: Sequence[tuple[int, int, str]]) -> tuple[tuple[int, int, str], ...]:
        return tuple((*span, label) for start, end, label in spans for span in place(start, end))

    whole = tuple(mapped for span in constraints.whole for mapped in place(*span))
    return Constraints(labelled(constraints.required), labelled(constraints.forbidden), whole)
