"""Removal of brackets that treebanks do not annotate, from any parser's trees; `SpanModel.is_flat` does the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spacy_lpcfg.bracketing._spans import ADVERB, MODIFIER, NOMINAL, OPENS_NONE, VERB, is_flat
from spacy_lpcfg.trees.tree import Span

FLAGS = dict.fromkeys(("ADJ", "DET", "NOUN", "NUM", "PROPN"), NOMINAL | MODIFIER)
FLAGS |= {"PRON": MODIFIER, "CCONJ": OPENS_NONE, "INTJ": OPENS_NONE, "ADV": ADVERB, "AUX": VERB, "VERB": VERB}
"""The flags of universal tags, by which `is_flat` finds brackets that treebanks do not annotate."""


def without_flat(spans: Sequence[Span], tags: Sequence[str], *, keep: Collection[Span] = ()) -> list[Span]:
    """Remove the brackets of a binary tree that treebanks do not annotate, such as brackets within flat noun phrases.

    spans (sequence of (start, end, label)): The brackets in pre-order, each over two words or more.
    tags (sequence of str): Universal tags of the words.
    keep (collection of (start, end, label)): Brackets that are never removed; their labels do not matter.
    RETURNS (list of (start, end, label)): The remaining brackets in pre-order.
    """
    flags = bytes(FLAGS.get(tag, 0) for tag in tags)
    bounds = {(start, end) for start, end, _ in keep}
    kept: list[Span] = []
    above: list[Span] = []
    for span in spans:
        while above and above[-1][1] <= span[0]:
            above.pop()
        if not above or span[:2] in bounds or not is_flat(flags, *span[:2], *above[-1][:2]):
            kept.append(span)
        above.append(span)
    return kept
