"""Alternatives to the tree of a sentence: other trees, how two trees differ, and the rivals of doubtful brackets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from spacy_lpcfg.parsing.constraints import crosses
from spacy_lpcfg.parsing.distribution import MAX_N_BEST
from spacy_lpcfg.parsing.result import Analysis
from spacy_lpcfg.trees.tree import Span, Tree

_FACTOR = 4  # times as many trees are asked for as are wanted, if too many differ in tags alone
_MAX_WORDS = 4  # of a span that are all shown
DOUBTFUL = 0.8
"""Probability below which a bracket is doubtful, unless another threshold is given."""
LIKELY_RIVAL = 0.05
"""Least probability of a rival, and of a bracket that a tree lacks, to be listed."""


class TreeDifference(NamedTuple):
    """The difference of two trees of a sentence: brackets and tags, as (start, end, label).

    added (list of Span): Brackets and tags that only the second tree has.
    missing (list of Span): Brackets and tags that only the first tree has.
    """

    added: list[Span]
    missing: list[Span]


class DoubtfulBracket(NamedTuple):
    """An uncertain bracket, in the tree or missing from the tree, with its likely alternatives.

    bracket (Span): As (start, end, label).
    probability (float): Posterior probability of the bracket.
    rivals (dict of Span to float): Probabilities of its alternatives, the most probable first: brackets that cross it,
        and brackets with another label over the same words. Empty if no alternative has a probability of
        `LIKELY_RIVAL`.
    is_in_tree (bool): Whether the tree has the bracket.
    """

    bracket: Span
    probability: float
    rivals: dict[Span, float]
    is_in_tree: bool


def doubtful_brackets(
    scores: Sequence[tuple[Span, float]], posteriors: Mapping[Span, float], *, threshold: float = DOUBTFUL
) -> list[DoubtfulBracket]:
    """Return the uncertain brackets of a sentence, in pre-order: brackets in the tree, and brackets missing from it.

    A bracket of the tree is uncertain if its probability is below `threshold`. A bracket that the tree lacks is
    uncertain if its probability is above 1 - `threshold`, and at least `LIKELY_RIVAL`. Two brackets of the tree are
    never listed as rivals of each other.

    scores (sequence of (Span, float)): All brackets of the tree with their probabilities.
    posteriors (mapping of Span to float): Probabilities of all brackets that the sentence may have. Those below
        `LIKELY_RIVAL` are ignored, except for brackets of the tree.
    threshold (float): A probability from 0 to 1.
    RETURNS (list of DoubtfulBracket): Empty if no bracket is uncertain.
    """
    tree = dict(scores)
    others = {bracket: p for bracket, p in posteriors.items() if p >= LIKELY_RIVAL and bracket not in tree}
    doubtful = [*((bracket, p) for bracket, p in scores if p < threshold)]
    doubtful += [(bracket, p) for bracket, p in others.items() if 1 - p < threshold]
    candidates = sorted({**tree, **others}.items(), key=lambda candidate: -candidate[1])
    found = []
    for bracket, p in sorted(doubtful, key=lambda each: (each[0][0], -each[0][1])):
        rivals = {
            other: q
            for other, q in candidates
            if q >= LIKELY_RIVAL and not (bracket in tree and other in tree) and _are_rivals(bracket, other)
        }
        found.append(DoubtfulBracket(bracket, p, rivals, bracket in tree))
    return found


def _are_rivals(first: Span, second: Span) -> bool:
    """Return whether two brackets cross, or have different labels over the same words."""
    return first != second and (first[:2] == second[:2] or crosses(*first[:2], *second[:2]))


def best_bracketings(n_best: Callable[[int], list[Analysis]], n: int) -> list[Analysis]:
    """Return the most probable trees with different brackets, best first, each with its best tags.

    Trees that differ in tags alone count as one, so more than n trees may be computed.

    n_best (callable): Called with a number k, returns the k most probable trees, best first.
    n (int): Maximum number of trees. Fewer are returned if the 4 n (at most `MAX_N_BEST`) most probable trees have
        fewer distinct bracketings.
    """
    distinct: dict[tuple[Span, ...], Analysis] = {}
    for wanted in (n, min(_FACTOR * n, MAX_N_BEST)):
        analyses = n_best(wanted)
        for analysis in analyses:
            distinct.setdefault(tuple(analysis.tree.spans()), analysis)
        if len(distinct) >= n or len(analyses) < wanted:
            break
    return [*distinct.values()][:n]


def tree_difference(first: Tree, second: Tree) -> TreeDifference:
    """Compare the brackets and tags of two trees over the same words."""
    spans, other = _labelled(first), _labelled(second)
    return TreeDifference([*(other - spans).elements()], [*(spans - other).elements()])


def show_span(words: Sequence[str], span: Span) -> str:
    """Format a bracket or tag with its words, such as "NP(the old ... lake)".

    A span of more than 4 words is shown by its first two words and the last.

    words (sequence of str): The words of the sentence.
    span (Span): The bracket or tag, as (start, end, label).
    """
    start, end, label = span
    shown = [*words[start:end]] if end - start <= _MAX_WORDS else [*words[start : start + 2], "...", words[end - 1]]
    return f"{label}({' '.join(shown)})"


def _labelled(tree: Tree) -> Counter[Span]:
    """Count the brackets and tags of a tree; a label that is repeated in a unary chain counts repeatedly."""
    return Counter([*tree.spans(), *((i, i + 1, tag) for i, tag in enumerate(tree.tags))])
