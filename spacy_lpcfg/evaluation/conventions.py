"""Systematic differences of annotation between trees and a model: labels, and local trees over the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spacy_lpcfg.trees.tree import Span, Tree

_FEWEST = 2  # times that a difference in local trees occurs
_LONGEST = 12  # words of an example


class Difference(NamedTuple):
    """A systematic difference of annotation between gold trees and the trees of a model.

    what (str): Description of the difference, in English: first the gold trees, then the model.
    n (int): Number of occurrences.
    example (str): The words of one occurrence, at most the first 12.
    """

    what: str
    n: int
    example: str


def most_frequent(counts: Mapping[str, int], examples: Mapping[str, str], *, fewest: int = 1) -> list[Difference]:
    """Return the differences that occur at least `fewest` times, in descending order of frequency.

    counts (mapping of str to int): The number of occurrences of each difference, by its description.
    examples (mapping of str to str): The words of an example of each difference.
    fewest (int): The minimum number of occurrences.
    """
    order = sorted((what for what, n in counts.items() if n >= fewest), key=lambda what: (-counts[what], what))
    return [Difference(what, counts[what], examples[what]) for what in order]


def unknown_labels(golds: Iterable[Tree], labels: Collection[str], tags: Collection[str]) -> list[Difference]:
    """Return the labels and tags that occur in trees but are unknown to a model, the most frequent first.

    golds (iterable of Tree): Normalized trees.
    labels, tags (collection of str): The labels and tags of the model.
    """
    counts, examples = Counter[str](), dict[str, str]()
    for gold in golds:
        for node in gold.nodes():
            if node.label not in (tags if node.is_leaf else labels):
                what = f"{'tag' if node.is_leaf else 'label'} {node.label}, which the model lacks"
                counts[what] += 1
                examples.setdefault(what, _words(node.words))
    return most_frequent(counts, examples)


def local_differences(golds: Sequence[Tree], parses: Sequence[Tree]) -> list[Difference]:
    """Return the differences in local trees that occur more than once, the most frequent first.

    A local tree is a bracket with the labels of its children. Where both trees have the same bracket, the labels of its
    children are compared, without their common prefix and suffix. Brackets over the same words with different labels
    are a difference too.

    golds (sequence of Tree): Normalized gold trees.
    parses (sequence of Tree): Normalized trees of a model over the same words.
    """
    counts, examples = Counter[str](), dict[str, str]()
    for gold, parse in zip(golds, parses, strict=True):
        words = gold.words
        for what, start, end in _differences(gold, parse):
            counts[what] += 1
            examples.setdefault(what, _words(words[start:end]))
    return most_frequent(counts, examples, fewest=_FEWEST)


def _differences(gold: Tree, parse: Tree) -> Iterator[tuple[str, int, int]]:
    """Yield (description, start, end) of each difference between the local trees of two trees."""
    ours, theirs = _local_trees(gold), _local_trees(parse)
    for (start, end, label), children in ours.items():
        others = theirs.get((start, end, label))
        if others is not None and children != others:
            yield f"in {label}: {_shown(children, others)}, the model {_shown(others, children)}", start, end
    relabelled: dict[tuple[int, int], str] = {}
    for start, end, label in theirs:
        if (start, end, label) not in ours:
            relabelled.setdefault((start, end), label)
    for start, end, label in ours:
        if (start, end, label) not in theirs and (start, end) in relabelled:
            yield f"{label}, the model {relabelled[start, end]}", start, end


def _local_trees(tree: Tree) -> dict[Span, tuple[str, ...]]:
    """Return the labels of the children of each bracket; of equal brackets, the outermost counts."""
    found: dict[Span, tuple[str, ...]] = {}
    stack = [(tree, 0)]
    while stack:
        node, start = stack.pop()
        if node.is_leaf:
            continue
        found.setdefault((start, start + len(node), node.label), tuple(child.label for child in node.children))
        for child in node.children:
            stack.append((child, start))
            start += len(child)
    return found


def _shown(labels: Sequence[str], others: Sequence[str]) -> str:
    """Format `labels` without the prefix and suffix shared with `others`; "nothing" if no label remains."""
    shortest = min(len(labels), len(others))
    first = next((i for i in range(shortest) if labels[i] != others[i]), shortest)
    last = next((i for i in range(shortest - first) if labels[-1 - i] != others[-1 - i]), shortest - first)
    return " ".join(labels[first : len(labels) - last]) or "nothing"


def _words(words: Sequence[str]) -> str:
    return " ".join(words[:_LONGEST]) + (" ..." if len(words) > _LONGEST else "")
