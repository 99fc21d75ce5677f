"""The tree of least expected loss, of brackets with probabilities from any source (minimum Bayes risk)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from spacy_lpcfg.trees.tree import Span

_Bounds = tuple[int, int]


def mbr_brackets(posteriors: Mapping[Span, float], n_words: int, *, cost: float) -> list[Span]:
    """The brackets that nest and have the largest sum of posteriors, each less `cost`.

    posteriors (mapping of (start, end, label) to float): probabilities of brackets. Of several labels over the same
        words, the one that comes first in the mapping is the outermost.
    n_words (int): of the sentence; a bracket over all of them is always there, with the likeliest label if none is
        likely enough, but over one word only where there is any.
    cost (float): brackets less likely are left out; 0.5 gives those that more than half of the trees have.
    RETURNS (list of (start, end, label)): in pre-order.
    RAISES (ValueError): If no bracket spans a sentence of several words.
    """
    whole = [span for span in posteriors if span[:2] == (0, n_words)]
    if n_words == 1 and not whole:
        return []
    if not whole:
        raise ValueError(f"Expected a bracket over all {n_words} words, got none among {len(posteriors)}.")
    kept = {span: p - cost for span, p in posteriors.items() if p > cost}
    if not any(span in kept for span in whole):
        best = max(whole, key=posteriors.__getitem__)
        kept[best] = posteriors[best] - cost
    gains: dict[_Bounds, float] = {}
    labels: dict[_Bounds, list[str]] = {}
    for (start, end, label), gain in kept.items():
        gains[start, end] = gains.get((start, end), 0.0) + gain
        labels.setdefault((start, end), []).append(label)
    order = sorted(gains, key=_outer_first)
    if _cross(order):
        order = sorted(_best_nesting(order, gains), key=_outer_first)
    return [(start, end, label) for start, end in order for label in labels[start, end]]


def _outer_first(bounds: _Bounds) -> _Bounds:
    return bounds[0], -bounds[1]


def _cross(order: list[_Bounds]) -> bool:
    """Whether any two cross, of spans in pre-order."""
    open_ends: list[int] = []
    for start, end in order:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and open_ends[-1] < end:
            return True
        open_ends.append(end)
    return False


def _best_nesting(order: list[_Bounds], gains: Mapping[_Bounds, float]) -> list[_Bounds]:
    """The spans that nest and gain most, of the first one and those within it; from spans in pre-order."""
    starts = [start for start, _ in order]
    values: dict[_Bounds, float] = {}
    within: dict[_Bounds, list[_Bounds]] = {}
    for start, end in sorted(order, key=lambda bounds: bounds[1] - bounds[0]):
        beginning = order[bisect_left(starts, start) : bisect_left(starts, end)]
        inner = [bounds for bounds in beginning if bounds[1] <= end and bounds in values]
        value, within[start, end] = _best_row(inner, values)
        values[start, end] = gains[start, end] + value
    chosen, agenda = [], [order[0]]
    while agenda:
        chosen.append(agenda.pop())
        agenda += within[chosen[-1]]
    return chosen


def _best_row(spans: list[_Bounds], values: Mapping[_Bounds, float]) -> tuple[float, list[_Bounds]]:
    """Which spans side by side are worth most, and how much."""
    of_end: dict[int, list[_Bounds]] = {}
    for span in spans:
        of_end.setdefault(span[1], []).append(span)
    ends = sorted(of_end)
    best = [0.0]  # of the spans up to none of the ends, the first one, ...
    last: list[tuple[_Bounds, int] | None] = [None]  # the span there, and how many ends come before it
    for end in ends:
        best.append(best[-1])
        last.append(None)
        for span in of_end[end]:
            n_before = bisect_right(ends, span[0])
            if best[n_before] + values[span] > best[-1]:
                best[-1], last[-1] = best[n_before] + values[span], (span, n_before)
    row, n = [], len(ends)
    while n:
        chosen = last[n]
        if chosen is None:
            n -= 1
        else:
            row.append(chosen[0])
            n = chosen[1]
    return best[-1], row[::-1]
