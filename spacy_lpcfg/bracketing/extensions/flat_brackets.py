"""Removal of brackets that treebanks do not annotate, from any parser's trees; `SpanModel.is_flat` does the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spacy_lpcfg.trees.tree import Span

_NOMINAL = frozenset({"ADJ", "DET", "NOUN", "NUM", "PROPN"})
_MODIFIERS = _NOMINAL | {"PRON"}
_OPENS_NONE = frozenset({"CCONJ", "INTJ"})
_VERBS = frozenset({"AUX", "VERB"})


def without_flat(spans: Sequence[Span], tags: Sequence[str], *, keep: Collection[Span] = ()) -> list[Span]:
    """Remove the brackets of a binary tree that treebanks do not annotate, such as brackets within flat noun phrases.

    spans (sequence of (start, end, label)): The brackets in pre-order, each over two words or more.
    tags (sequence of str): Universal tags of the words.
    keep (collection of (start, end, label)): Brackets that are never removed; their labels do not matter.
    RETURNS (list of (start, end, label)): The remaining brackets in pre-order.
    """
    bounds = {(start, end) for start, end, _ in keep}
    kept: list[Span] = []
    above: list[Span] = []
    for span in spans:
        while above and above[-1][1] <= span[0]:
            above.pop()
        if not above or span[:2] in bounds or not _is_flat(span, above[-1], tags):
            kept.append(span)
        above.append(span)
    return kept


def _is_flat(span: Span, parent: Span, tags: Sequence[str]) -> bool:
    """Return whether treebanks do not annotate a bracket, given its parent in the binary tree and the words' tags."""
    start, end, _ = span
    first = tags[start]
    if first in _OPENS_NONE or (first == "ADV" and tags[start + 1] in _VERBS):
        return True
    if parent[0] == start - 1 and tags[start - 1] in _MODIFIERS and first in _NOMINAL:
        return True
    return parent[1] == end + 1 and tags[end - 1] in _NOMINAL and tags[end] in _NOMINAL
