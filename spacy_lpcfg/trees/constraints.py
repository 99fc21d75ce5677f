"""What a user knows of the tree of a sentence beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spacy_lpcfg.trees.tree import Span

ANY = ""
"""In place of a label: any."""


@dataclass(frozen=True)
class Constraints:
    """Spans that a tree must have or must not have, as half-open (start, end, label); the label `ANY` is any.

    required (tuple of (start, end, label)): brackets of the tree.
    forbidden (tuple of (start, end, label)): no brackets of it.
    whole (tuple of (start, end)): spans that no bracket crosses, be they brackets or part of a flat one.
    """

    required: tuple[Span, ...] = ()
    forbidden: tuple[Span, ...] = ()
    whole: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden or self.whole)

    def check(self, n_words: int) -> None:
        """RAISES (ValueError): If a span is empty or not within the words of the sentence."""
        for start, end, *_ in (*self.required, *self.forbidden, *self.whole):
            if not 0 <= start < end <= n_words:
                raise ValueError(
                    f"Expected constraints on spans within the {n_words} words of the sentence, got [{start}, {end})."
                )

    def allow(self, brackets: Iterable[Span]) -> bool:
        """Whether a tree of these brackets satisfies them."""
        found = list(brackets)
        return (
            all(any(_is(bracket, span) for bracket in found) for span in self.required)
            and not any(_is(bracket, span) for bracket in found for span in self.forbidden)
            and not any(crosses(bracket[0], bracket[1], *span) for bracket in found for span in self.whole)
        )


NO_CONSTRAINTS = Constraints()


def crosses(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Whether two spans overlap without one being within the other."""
    return start < other_start < end < other_end or other_start < start < other_end < end


def _is(bracket: Span, span: Span) -> bool:
    return bracket[:2] == span[:2] and span[2] in (ANY, bracket[2])
