"""What is known of the trees of a Doc beforehand: registered callables for the setting `constraints` of the parsers."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from spacy.tokens import Doc

from spacy_lpcfg.parsing.constraints import Constraints

ConstraintsOf: TypeAlias = Callable[[Doc], Constraints]
"""Gives the constraints on the trees of a Doc; positions are those of its tokens, half-open."""


def make_entities() -> ConstraintsOf:
    """`spacy-lpcfg.entities.v1`: no bracket crosses an entity of `doc.ents`.

    An entity may still be a part of a flat phrase, as "Bill Clinton" in (NP former president Bill Clinton). A component
    that finds entities has to come before the parser.
    """
    return entity_constraints


def entity_constraints(doc: Doc) -> Constraints:
    """Keeps the entities of a Doc whole."""
    return Constraints(whole=tuple((ent.start, ent.end) for ent in doc.ents))


def constraints_by_sentence(constraints: Constraints, bounds: Sequence[tuple[int, int]]) -> list[Constraints]:
    """Constraints on a Doc as those on each of its sentences; spans that are not all within one are left out.

    bounds (sequence of (int, int)): start and end of each sentence, one after the other
    """
    starts = [start for start, _ in bounds]

    def parted(spans: Sequence[Any]) -> list[tuple[Any, ...]]:
        found: list[list[Any]] = [[] for _ in bounds]
        for span in spans:
            number = bisect_right(starts, span[0]) - 1
            if number >= 0 and span[1] <= bounds[number][1]:
                found[number].append(span)
        return [tuple(each) for each in found]

    return [Constraints(*each) for each in zip(*map(parted, vars(constraints).values()), strict=True)]


def constraints_within(constraints: Constraints, positions: Sequence[int]) -> Constraints:
    """Constraints on a Doc as those on a sentence; spans that are not all within it are left out.

    positions (sequence of int): of the sentence's words in the Doc
    """

    def place(start: int, end: int) -> Iterator[tuple[int, int]]:
        first, last = bisect_left(positions, start), bisect_left(positions, end)
        if positions[0] <= start and end <= positions[-1] + 1 and first < last:
            yield first, last

    def labelled(spans: Sequence[tuple[int, int, str]]) -> tuple[tuple[int, int, str], ...]:
        return tuple((*found, label) for start, end, label in spans for found in place(start, end))

    whole = tuple(found for span in constraints.whole for found in place(*span))
    return Constraints(labelled(constraints.required), labelled(constraints.forbidden), whole)
