"""Minimum Bayes risk decoding: the tree of least expected loss, given posteriors of brackets from any source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from spacy_lpcfg.parsing.constraints import find_crossing
from spacy_lpcfg.trees.tree import Span

_Bounds = tuple[int, int]


def mbr_brackets(posteriors: Mapping[Span, float], n_words: int, *, cost: float) -> list[Span]:
    """Return the brackets of the minimum Bayes risk tree, which has the largest sum of (posterior - `cost`).

    posteriors (mapping of (start, end, label) to float): Probabilities of brackets; where several have the same words,
        the outermost comes first.
    n_words (int): Number of words of the sentence. The result always has a bracket over all of them: the most probable
        one if the posterior of none is above `cost`. A sentence of one word has none if `posteriors` has none over it.
    cost (float): Other brackets are left out unless their posterior is above this. At 0.5 the result has the brackets
        of more than half of the trees.
    RETURNS (list of (start, end, label)): The brackets in pre-order.
    RAISES (ValueError): If `posteriors` has no bracket over all words of a sentence of several words.
    """
    whole = (0, n_words)
    likely = {whole, *((start, end) for (start, end, _), p in posteriors.items() if p > cost)}
    scores: dict[_Bounds, dict[str, float]] = {}
    for (start, end, label), p in posteriors.items():
        if (start, end) in likely:
            scores.setdefault((start, end), {})[label] = p - cost
    if whole not in scores:
        if n_words == 1:
            return []
        raise ValueError(f"Expected a bracket over all {n_words} words, got none among {len(posteriors)}.")
    labels = {bounds: _best_labels(of_label) for bounds, of_label in scores.items()}
    gains = {bounds: sum(scores[bounds][label] for label in of_span) for bounds, of_span in labels.items()}
    order = sorted(gains, key=_outer_first)
    if find_crossing(order) is not None:
        order = sorted(_best_nesting(order, gains), key=_outer_first)
    return [(start, end, label) for start, end in order for label in labels[start, end]]


def _best_labels(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return the labels, at least one, with the largest sum of scores over one span."""
    good = tuple(label for label, score in scores.items() if score > 0)
    return good or (max(scores, key=scores.__getitem__),)


def _outer_first(bounds: _Bounds) -> _Bounds:
    return bounds[0], -bounds[1]


def _best_nesting(order: list[_Bounds], gains: Mapping[_Bounds, float]) -> list[_Bounds]:
    """Return the spans, no two of which cross, with the largest total gain, including the first one of `order`.

    order (list of (start, end)): Spans in pre-order; the first spans the sentence.
    gains (mapping of (start, end) to float): The gain of each span.
    """
    starts = [start for start, _ in order]
    values: dict[_Bounds, float] = {}
    within: dict[_Bounds, list[_Bounds]] = {}
    for start, end in sorted(order, key=lambda bounds: bounds[1] - bounds[0]):
        beginning = order[bisect_left(starts, start) : bisect_left(starts, end)]
        inner = [bounds for bounds in beginning if bounds[1] <= end and bounds in values]
        value, within[start, end] = _best_row(inner, values)
        values[start, end] = gains[start, end] + value
    spans_of_tree, agenda = [], [order[0]]
    while agenda:
        spans_of_tree.append(agenda.pop())
        agenda += within[spans_of_tree[-1]]
    return spans_of_tree


def _best_row(spans: list[_Bounds], values: Mapping[_Bounds, float]) -> tuple[float, list[_Bounds]]:
    """Return the largest total value of disjoint spans, and these spans from left to right (interval scheduling)."""
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
        step = last[n]
        if step is None:
            n -= 1
        else:
            row.append(step[0])
            n = step[1]
    return best[-1], row[::-1]
