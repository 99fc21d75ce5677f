"""Where treebanks differ systematically: in labels, and in the local trees over the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spacy_lpcfg.trees.tree import Span, Tree

_FEWEST = 2  # times that a difference in local trees occurs
_LONGEST = 12  # words of an example


class Difference(NamedTuple):
    """A difference between given trees and those of a model.

    what (str): What the given trees have and the model does not, in words.
    n (int): How often it occurs.
    example (str): Words of the given trees where it does.
    """

    what: str
    n: int
    example: str


def most_frequent(counts: Mapping[str, int], examples: Mapping[str, str], *, fewest: int = 1) -> list[Difference]:
    """Return the differences that occur often enough, the most frequent ones first."""
    order = sorted((what for what, n in counts.items() if n >= fewest), key=lambda what: (-counts[what], what))
    return [Difference(what, counts[what], examples[what]) for what in order]


def unknown_labels(golds: Iterable[Tree], labels: Collection[str], tags: Collection[str]) -> list[Difference]:
    """Return the labels and tags of trees that are not among those of a model.

    golds (iterable of Tree): Normalized trees.
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
    """Return the differences in local trees that occur more than once.

    Where both trees have a bracket over the same words, their children are compared without those that both begin with,
    and that both end with. A bracket of which only the label differs counts for itself.

    golds, parses (sequence of Tree): Normalized trees over the same words, of people and of a model.
    """
    counts, examples = Counter[str](), dict[str, str]()
    for gold, parse in zip(golds, parses, strict=True):
        words = gold.words
        for what, start, end in _differences(gold, parse):
            counts[what] += 1
            examples.setdefault(what, _words(words[start:end]))
    return most_frequent(counts, examples, fewest=_FEWEST)


def _differences(gold: Tree, parse: Tree) -> Iterator[tuple[str, int, int]]:
    """Yield each difference of two trees, with the span that it is in."""
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
    """Return the labels of the children of each bracket; of equal brackets, of the outermost one."""
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
    """Return the labels between those that both sequences begin and end with."""
    shortest = min(len(labels), len(others))
    first = next((i for i in range(shortest) if labels[i] != others[i]), shortest)
    last = next((i for i in range(shortest - first) if labels[-1 - i] != others[-1 - i]), shortest - first)
    return " ".join(labels[first : len(labels) - last]) or "nothing"


def _words(words: Sequence[str]) -> str:
    return " ".join(words[:_LONGEST]) + (" ..." if len(words) > _LONGEST else "")
