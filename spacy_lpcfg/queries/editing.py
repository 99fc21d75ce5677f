"""Edit trees by rules in Tsurgeon's language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.checks import shown
from spacy_lpcfg.queries.edit_rules import EditRule, RuleError
from spacy_lpcfg.queries.index import TreeIndex, TreeMatch, below_root
from spacy_lpcfg.queries.operations import Site, nodes_of, tree_of
from spacy_lpcfg.queries.pattern import ROOT_LABEL
from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.heads import ENGLISH
from spacy_lpcfg.trees.transforms import ROOT_LABELS

OnFire = Callable[[TreeMatch, "Tree | None"], None]

MOST_FIRINGS = 200
"""Limit on the firings of a rule in a tree, to which the number of its nodes is added."""
NODES_PER_FIRING = 10
"""Limit on the nodes of an edited tree, as a multiple of the limit on firings."""
_N_TREES = 1_000  # trees that are indexed at a time


def edit(tree: Tree, rules: Sequence[EditRule], heads: HeadRules = ENGLISH) -> Tree | None:
    """Edit one tree by rules; arguments and errors as for `edit_trees`, which is much faster for many trees.

    RETURNS (Tree or None): The edited tree; None if the rules deleted it as a whole.
    """
    return next(edit_trees([tree], rules, heads=heads))


def edit_trees(
    trees: Iterable[Tree],
    rules: Sequence[EditRule],
    *,
    heads: HeadRules = ENGLISH,
    counts: Counter[EditRule] | None = None,
    on_fire: OnFire | None = None,
) -> Iterator[Tree | None]:
    """Edit trees by rules: each rule in turn fires at its first match until it no longer matches.

    If the pattern of any rule mentions ROOT, a tree with another root is edited below a new root ROOT, which is removed
    afterwards.

    trees (iterable of Tree): The trees.
    rules (sequence of EditRule): The rules, as `read_rules` and `parse_rules` return them.
    heads (HeadRules): Head rules of the treebank's language, for relations such as <#.
    counts (Counter of EditRule or None): Receives the number of times that each rule fired.
    on_fire (callable or None): Called after each firing with the match, and with the resulting tree or None.
    YIELDS (Tree or None): The edited tree; None if the rules deleted it as a whole.
    RAISES (RuleError): If a rule does not stop, makes a tree or a label too large, or its operations cannot be carried
        out at a match or change nothing.
        (ValueError): If a regular expression takes too long.
    """
    counts = Counter() if counts is None else counts
    has_root = any(rule.pattern.has_root for rule in rules)
    for originals in in_batches(trees, _N_TREES):
        is_new = [has_root and tree.label != ROOT_LABEL for tree in originals]
        batch = _Batch([below_root(tree) if new else tree for tree, new in zip(originals, is_new, strict=True)], heads)
        for rule in rules:
            batch.apply(rule, counts, on_fire)
        for old, tree, new in zip(originals, batch.trees, is_new, strict=True):
            yield tree and (_without_new_root(tree, old) if new else tree).with_source_of(old)


def _without_new_root(tree: Tree, original: Tree) -> Tree:
    """Undo `below_root`: remove the root ROOT, or restore the artificial root that it replaced."""
    if tree.label != ROOT_LABEL:
        return tree
    if original.label in ROOT_LABELS:
        return Tree(original.label, tree.children)
    return tree.children[0] if len(tree.children) == 1 else Tree("", tree.children)


class _Indexed(NamedTuple):
    """An index of a subset of a batch, with the numbers of its trees in the batch."""

    trees: TreeIndex
    numbers: list[int]

    def first_matches(self, rule: EditRule, *, without: Container[int] = ()) -> dict[int, TreeMatch]:
        """Return the first match in each tree, by the number of the tree, except for trees in `without`."""
        matches: dict[int, TreeMatch] = {}
        for match in self.trees.search(rule.pattern):
            number = self.numbers[match.node.tree_number]
            if number not in without:
                matches.setdefault(number, match)
        return matches


class _Batch:
    """Trees that are edited together, with an index of the original trees and one of the changed trees."""

    def __init__(self, trees: list[Tree], heads: HeadRules) -> None:
        self.trees: list[Tree | None] = [*trees]
        self.heads = heads
        self.limits = [MOST_FIRINGS + sum(1 for _ in tree.nodes()) for tree in trees]
        self.numbers_of_changed: set[int] = set()
        self.before, self.changed = self._indexed(range(len(trees))), self._indexed(())

    def apply(self, rule: EditRule, counts: Counter[EditRule], on_fire: OnFire | None) -> None:
        """Apply a rule to the trees until it matches in none of them."""
        matches = self.before.first_matches(rule, without=self.numbers_of_changed)
        matches |= self.changed.first_matches(rule)
        n_firings = 0
        while matches:
            n_firings += 1
            for number, match in matches.items():
                limit = self.limits[number]
                if n_firings > limit:
                    raise _error(f"the rule still matches after it fired {limit:,} times in the tree", rule, match)
                self.trees[number] = edited = _fire(rule, match, NODES_PER_FIRING * limit)
                counts[rule] += 1
                if on_fire is not None:
                    on_fire(match, edited)
            self.numbers_of_changed |= matches.keys()
            matches = self._indexed(matches).first_matches(rule)
        if n_firings:
            self.changed = self._indexed(self.numbers_of_changed)

    def _indexed(self, numbers: Iterable[int]) -> _Indexed:
        """Index the trees of the given numbers, except for deleted ones."""
        trees = {number: tree for number in numbers if (tree := self.trees[number]) is not None}
        return _Indexed(TreeIndex.from_trees(trees.values(), self.heads), [*trees])


def _fire(rule: EditRule, match: TreeMatch, max_nodes: int) -> Tree | None:
    """Return the tree of a match after the operations of the rule; None if they deleted it as a whole.

    RAISES (RuleError): If an operation cannot be carried out, or the tree is the same as before or too large.
    """
    root = match.node.root
    tree = root.tree
    nodes = nodes_of(tree)
    names = {name: nodes[node.number - root.number] for name, node in match.names.items()}
    site = Site(nodes[0], names, match.variables)
    try:
        for operation in rule.operations:
            if site.root is not None and all(name in match.names for name in operation.only_if):
                operation.run(site, *operation.arguments)
                site.check_size(max_nodes)
        edited = None if site.root is None else tree_of(site.root)
    except ValueError as error:
        raise _error(str(error), rule, match) from error
    if edited == tree:
        raise _error("the rule changes nothing, so that it matches for ever, in the tree", rule, match)
    return edited


def _error(message: str, rule: EditRule, match: TreeMatch) -> RuleError:
    return RuleError(f"{message}: {shown(str(match.node.root.tree))}", rule.path, rule.line)
