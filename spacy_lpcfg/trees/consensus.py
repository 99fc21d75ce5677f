"""The tree of least expected loss, of brackets with probabilities from any source (minimum Bayes risk)."""

from __future__ import annotations

from collections.abc import Mapping

from spacy_lpcfg.trees.tree import Span

_Bounds = tuple[int, int]


def consensus(posteriors: Mapping[Span, float], n_words: int, *, cost: float) -> list[Span]:
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
    """The spans that nest and gain most, of the first one and those within it."""
    values: dict[_Bounds, float] = {}
    within: dict[_Bounds, list[_Bounds]] = {}
    for start, end in sorted(order, key=lambda bounds: bounds[1] - bounds[0]):
        inner = [bounds for bounds in values if start <= bounds[0] and bounds[1] <= end]
        value, within[start, end] = _best_row(inner, values)
        values[start, end] = gains[start, end] + value
    chosen, agenda = [], [order[0]]
    while agenda:
        chosen.append(agenda.pop())
        agenda += within[chosen[-1]]
    return chosen


def _best_row(spans: list[_Bounds], values: Mapping[_Bounds, float]) -> tuple[float, list[_Bounds]]:
    """Which spans side by side are worth most, and how much."""
    ends = sorted({end for _, end in spans})
    best: list[tuple[float, list[_Bounds]]] = [(0.0, [])]
    for i, end in enumerate(ends):
        found = best[-1]
        for span in spans:
            if span[1] == end:
                before = best[sum(e <= span[0] for e in ends[:i])]
                if before[0] + values[span] > found[0]:
                    found = before[0] + values[span], [*before[1], span]
        best.append(found)
    return best[-1]
