"""Constraints on the tree of a sentence that a user sets before parsing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spacy_lpcfg.trees.tree import Span

ANY = ""
"""In place of a label, stands for any."""


@dataclass(frozen=True)
class Constraints:
    """Constraints on the brackets of a tree, as half-open (start, end, label); the label `ANY` stands for any label.

    required (tuple of (start, end, label)): Brackets that the tree must have.
    forbidden (tuple of (start, end, label)): Brackets that the tree must not have.
    whole (tuple of (start, end)): Spans that no bracket of the tree may cross. A span need not be a bracket itself.

    `bool(constraints)` is False if there are none.
    """

    required: tuple[Span, ...] = ()
    forbidden: tuple[Span, ...] = ()
    whole: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden or self.whole)

    def check(self, n_words: int) -> None:
        """Raise ValueError if a span is empty or not within the words of the sentence."""
        labelled = [(start, end) for start, end, _ in (*self.required, *self.forbidden)]
        for start, end in (*labelled, *self.whole):
            if not 0 <= start < end <= n_words:
                raise ValueError(
                    f"Expected constraints on spans within the {n_words} words of the sentence, got [{start}, {end})."
                )

    def within(self, brackets: Mapping[Span, float]) -> dict[Span, float]:
        """Drop the brackets that violate the constraints, and set the posteriors of required ones to 1.

        A required bracket that `brackets` lacks is not added.

        brackets (mapping of (start, end, label) to float): Posteriors of brackets. For a required bracket with the
            label `ANY`, the most probable bracket over its span gets 1.
        RETURNS (dict of (start, end, label) to float): The remaining brackets in the order of `brackets`.
        """
        whole = [*self.whole, *((start, end) for start, end, _ in self.required)]
        allowed = {
            bracket: p
            for bracket, p in brackets.items()
            if not any(_matches(bracket, span) for span in self.forbidden)
            and not any(crosses(bracket[0], bracket[1], *span) for span in whole)
        }
        for span in self.required:
            likeliest = max(
                (bracket for bracket in allowed if _matches(bracket, span)), key=allowed.__getitem__, default=None
            )
            if likeliest is not None:
                allowed[likeliest] = 1.0
        return allowed

    def allow(self, brackets: Iterable[Span]) -> bool:
        """Return whether a tree with these brackets satisfies the constraints."""
        if not self:
            return True
        spans = list(brackets)
        known = {*spans, *((start, end, ANY) for start, end, _ in spans)}
        is_crossed = any(crosses(start, end, *span) for span in self.whole for start, end, _ in spans)
        return known.issuperset(self.required) and known.isdisjoint(self.forbidden) and not is_crossed


NO_CONSTRAINTS = Constraints()


def crosses(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Return whether two spans overlap without one being within the other."""
    return start < other_start < end < other_end or other_start < start < other_end < end


def find_crossing(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two spans that cross each other, in the order of their starts; None if no spans cross."""
    around: list[tuple[int, int]] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        while around and around[-1][1] <= start:
            around.pop()
        if around and around[-1][1] < end:
            return around[-1], (start, end)
        around.append((start, end))
    return None


def _matches(bracket: Span, span: Span) -> bool:
    return bracket[:2] == span[:2] and span[2] in (ANY, bracket[2])
