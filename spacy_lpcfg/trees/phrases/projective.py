"""Pseudo-projective parsing: dependencies are made projective by lifting arcs (Nivre and Nilsson, 2005)."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_lpcfg.trees.dependencies import NO_HEAD


def projectivize(heads: Sequence[int]) -> tuple[list[int], int]:
    """Make dependencies projective: move the shortest arc with a gap to the head of its head, until no arc has a gap.

    An arc from a head to a dependent has a gap if a word between them is no descendant of the head. Of several shortest
    arcs, the one of the first dependent is moved.

    heads (sequence of int, (n_words,)): The position of the head of each word, `NO_HEAD` for the root; they must form a
        tree.
    RETURNS (list of int, (n_words,), int): The heads of a projective tree, and the number of words whose head has
        changed.
    """
    new = list(heads)
    while (word := _shortest_with_gap(new)) is not None:
        new[word] = new[new[word]]
    return new, sum(old != head for old, head in zip(heads, new, strict=True))


def _shortest_with_gap(heads: Sequence[int]) -> int | None:
    """Return the dependent of the shortest arc that has a gap, None if all arcs are projective."""
    best: tuple[int, int] | None = None
    for word, head in enumerate(heads):
        if head == NO_HEAD or (best is not None and abs(word - head) >= best[0]):
            continue
        if not all(_is_below(between, head, heads) for between in range(min(word, head) + 1, max(word, head))):
            best = (abs(word - head), word)
    return None if best is None else best[1]


def _is_below(word: int, top: int, heads: Sequence[int]) -> bool:
    while word not in (top, NO_HEAD):
        word = heads[word]
    return word == top
