"""Head rules learned from trees that have no heads, by EM. Not a benchmark; `treebanks.py` measures it.

The idea is that of Sangati and Zuidema (2009, "Unsupervised methods for head assignments", section 4): good heads make
a treebank likely under a grammar that knows them. Here a phrase that is no head draws the tag of its head word by its
label, a node draws its children and which of them is the head by its label and that tag, and the head child has the
same tag. Differs from the paper: heads are tags, not words, and what EM finds becomes a table as those of
`head_tables`, since a learner asks rules, not trees.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from math import prod
from typing import Any

from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.heads import Step, in_turn
from spacy_lpcfg.trees.transforms import basic_category

Shares = dict[str, float]  # of tags
Events = defaultdict[tuple[Any, ...], float]
_ITERATIONS = 8


def learned_heads(trees: Iterable[Tree]) -> HeadRules:
    """The table of rules for normalised trees."""
    treebank = list(map(_cut, trees))
    model = counts = Events(lambda: 1.0)
    for _ in range(_ITERATIONS):
        counts = Events(float)
        for tree in treebank:
            found: dict[int, Any] = {}
            _inside(tree, model, found)
            _expect(tree, {}, 1.0, found, counts)
        totals = Events(float)
        for event, n in counts.items():
            totals[event[:2]] += n
        model = Events(float, {event: n / totals[event[:2]] for event, n in counts.items() if n})
    return _table(counts)


def _cut(tree: Tree) -> Tree:
    """The tree with tags as head rules see them, `N-A` as `N`."""
    return tree.fold(lambda node, below: Tree(basic_category(node.label), below, node.word))


def _inside(node: Tree, model: Events, memo: dict[int, Any]) -> tuple[Shares, float]:
    """Weights of a node by the tag of its head, and their total where the node is no head.

    memo (dict): For each node below, by its id: the weight of each choice of a head child for each tag, and the shares
        of tags where the child is no head.
    """
    below = [_inside(child, model, memo) for child in node.children]
    weights: Shares = defaultdict(float)
    choices: dict[str, list[float]] = {}
    if node.is_leaf:
        weights[node.label] = 1.0
    labels = tuple(child.label for child in node.children)
    for i, (tag_weights, _) in enumerate(below):
        others = prod(total for j, (_, total) in enumerate(below) if j != i)
        for tag, weight in tag_weights.items():
            share = weight * others * model[node.label, tag, labels, i]
            weights[tag] += share
            choices.setdefault(tag, [0.0] * len(labels))[i] = share
    scale = sum(weights.values()) or 1.0
    top = {tag: weight / scale * model[node.label, "", tag] for tag, weight in weights.items()}
    total = sum(top.values())
    memo[id(node)] = choices, {tag: weight / (total or 1.0) for tag, weight in top.items()}
    return {tag: weight / scale for tag, weight in weights.items()}, total


def _expect(node: Tree, as_head: Shares, as_top: float, memo: dict[int, Any], counts: Events) -> None:
    """Add the expected events of a node and all below it.

    as_head (dict): The probability that the node has the same head as its parent, by the head's tag
    as_top (float): The probability that it has not
    """
    choices, top = memo[id(node)]
    shares: Shares = defaultdict(float, as_head)
    for tag, share in top.items():
        counts[node.label, "", tag] += as_top * share
        shares[tag] += as_top * share
    labels = tuple(child.label for child in node.children)
    heads: list[Shares] = [{} for _ in labels]
    for tag, of_children in choices.items():
        for i, weight in enumerate(of_children):
            if weight:
                heads[i][tag] = shares[tag] * weight / sum(of_children)
                counts[node.label, tag, labels, i] += heads[i][tag]
    for child, head in zip(node.children, heads, strict=True):
        _expect(child, head, sum(shares.values()) - sum(head.values()), memo, counts)


def _table(counts: Events) -> HeadRules:
    """For each label the categories of children, those first that are most often heads where they can be."""
    n_seen: Counter[tuple[str, str]] = Counter()
    n_heads: Counter[tuple[str, str]] = Counter()
    n_left: Counter[tuple[str, str]] = Counter()
    for (label, _, *step), n in counts.items():
        if len(step) == 2 and len(step[0]) > 1:
            (labels, head) = step
            n_seen.update({(label, category): n for category in set(labels)})
            n_heads[label, labels[head]] += n
            n_left[label, labels[head]] += n * (labels.index(labels[head]) == head)
    rules: dict[str, list[tuple[float, Step]]] = defaultdict(list)
    for (label, category), n in n_seen.items():
        if not category.replace("+", "").isalnum():  # punctuation, which rules look at last
            continue
        heads = n_heads[label, category]
        side = "left" if 2 * n_left[label, category] >= heads else "right"
        rules[label].append(((heads + 0.1) / (n + 1.0), *in_turn(side, category)))
    ranked = {label: sorted(weighted, key=lambda pair: -pair[0]) for label, weighted in rules.items()}
    return HeadRules({label: tuple(step for _, step in weighted) for label, weighted in ranked.items()})


def lines_of(rules: HeadRules) -> list[str]:
    """A table as a file has it."""
    return [
        f"{label}: {', '.join(f'{side} {category}' for side, found in steps for category in found)}\n"
        for label, steps in rules.table.items()
    ]
