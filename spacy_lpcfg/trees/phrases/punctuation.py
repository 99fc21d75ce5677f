"""Punctuation, which is removed before phrases are built from dependencies, and put back afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_lpcfg.trees.dependency_sentences import DependencySentence
from spacy_lpcfg.trees.tree import Span

_OPENING = frozenset("([{（［｛【〔〈《「『")
_CLOSING = frozenset(")]}）］｝】〕〉》」』")
_TAGS = {
    **dict.fromkeys(",،、，՝", ","),
    **dict.fromkeys(".!?。！？؟۔।॥։՞…", "."),
    **dict.fromkeys(":;؛：；-–—―/·•~", ":"),
    **dict.fromkeys("`“„«‘‚‹「『《〈", "``"),
    **dict.fromkeys("”»’›」』》〉\"'", "''"),
    **dict.fromkeys("([{（［｛【〔", "-LRB-"),
    **dict.fromkeys(")]}）］｝】〕", "-RRB-"),
}


def punctuation_tag(word: str) -> str:
    """Return the Penn Treebank tag of a punctuation mark by its first character; ":" for an unknown mark."""
    return _TAGS.get(word[:1], ":")


def words_without_punctuation(sentence: DependencySentence) -> list[int]:
    """Return the positions of all words but punctuation, in order.

    A punctuation mark with dependents counts as a word, and so do all marks of a sentence without any word.
    """
    children = sentence.children()
    kept = [i for i, part in enumerate(sentence.parts_of_speech) if part != "PUNCT" or children[i]]
    return kept or list(range(len(sentence.words)))


def bracketed_words(sentence: DependencySentence) -> frozenset[int]:
    """Return the positions of words with an opening parenthesis before and a closing one after them as dependents."""
    words = sentence.words
    return frozenset(
        head
        for head, below in enumerate(sentence.children())
        if any(words[i] in _OPENING for i in below if i < head) and any(words[i] in _CLOSING for i in below if i > head)
    )


def with_punctuation(spans: Sequence[Span], kept: Sequence[int], sentence: DependencySentence) -> list[Span]:
    """Move the labelled spans of a tree without punctuation to their positions in the sentence with punctuation.

    A mark is placed below the lowest phrase that has words on both sides of it; marks at an end of the sentence are
    below the root. The parentheses around an aside (PRN) are within it.

    spans (sequence of Span): The labelled spans of the tree without punctuation, in pre-order.
    kept (sequence of int): The position in the sentence of each word of the tree.
    RETURNS (list of Span): The spans in the sentence, in pre-order.
    """
    n_words = len(sentence.words)
    places = set(kept)
    moved = [[kept[start], kept[end - 1] + 1] for start, end, _ in spans]
    above: list[int] = []
    for i, (start, _, label) in enumerate(spans):
        while above and spans[above[-1]][1] <= start:
            above.pop()
        above.append(i)
        if label == "PRN":
            first, last = _with_brackets(moved[i], places, sentence.words)
            for j in above:
                moved[j] = [min(moved[j][0], first), max(moved[j][1], last)]
    moved[0] = [0, n_words]
    return [(start, end, label) for (start, end), (_, _, label) in zip(moved, spans, strict=True)]


def _with_brackets(span: Sequence[int], places: set[int], words: Sequence[str]) -> tuple[int, int]:
    """Extend a span to opening parentheses and brackets right before it, and closing ones right after it."""
    start, end = span
    while start > 0 and start - 1 not in places and words[start - 1] in _OPENING:
        start -= 1
    while end < len(words) and end not in places and words[end] in _CLOSING:
        end += 1
    return start, end
