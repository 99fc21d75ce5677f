"""Alternative trees of a sentence: the likeliest of different brackets, and how one tree differs from another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spacy_lpcfg.parsing.distribution import MAX_N_BEST
from spacy_lpcfg.parsing.result import Analysis
from spacy_lpcfg.trees.tree import Span, Tree

_FACTOR = 4  # times as many trees are asked for as are wanted, if too many differ in tags alone
_MAX_WORDS = 4  # of a span that are all shown


class TreeDifference(NamedTuple):
    """The brackets and tags, as (start, end, label), that one of two trees has and the other lacks.

    added (list of Span): Those of the second tree alone.
    missing (list of Span): Those of the first tree alone.
    """

    added: list[Span]
    missing: list[Span]


def best_bracketings(n_best: Callable[[int], list[Analysis]], n: int) -> list[Analysis]:
    """Return the most probable trees whose brackets differ, best first: of trees that differ in tags alone the best.

    n_best (callable): Of a number, that many most probable trees, best first.
    n (int): How many trees are wanted. There are fewer if the 4 n most probable trees, or the
        first `MAX_N_BEST`, have fewer bracketings.
    """
    distinct: dict[tuple[Span, ...], Analysis] = {}
    for wanted in (n, min(_FACTOR * n, MAX_N_BEST)):
        analyses = n_best(wanted)
        for each in analyses:
            distinct.setdefault(tuple(each.tree.spans()), each)
        if len(distinct) >= n or len(analyses) < wanted:
            break
    return [*distinct.values()][:n]


def tree_difference(first: Tree, second: Tree) -> TreeDifference:
    """Return how a tree differs from another one of the same words."""
    own, other = _labelled(first), _labelled(second)
    return TreeDifference([*(other - own).elements()], [*(own - other).elements()])


def show_span(words: Sequence[str], span: Span) -> str:
    """Return a bracket or tag with its words; long ones with the first two and the last: NP(the old ... lake).

    words (sequence of str): Of the sentence.
    """
    start, end, label = span
    shown = [*words[start:end]] if end - start <= _MAX_WORDS else [*words[start : start + 2], "...", words[end - 1]]
    return f"{label}({' '.join(shown)})"


def _labelled(tree: Tree) -> Counter[Span]:
    """The brackets and tags of a tree; a bracket counts as often as it is in a unary chain."""
    return Counter([*tree.spans(), *((i, i + 1, tag) for i, tag in enumerate(tree.tags))])
