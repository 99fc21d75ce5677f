"""Tregex by its definitions: a matcher that tries every node of a tree for every node of a pattern.

It shares with the library how a pattern is read, and nothing of how it is matched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from spacy_lpcfg.queries import TreePattern
from spacy_lpcfg.queries.pattern import LabelTest, Part, Relation
from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.heads import ENGLISH


@dataclass(eq=False)
class Node:
    """A node of a tree in which words are nodes too."""

    label: str
    number: int  # in pre-order
    parent: Node | None
    children: list[Node] = field(default_factory=list)
    words: tuple[int, int] = (0, 0)

    @property
    def above(self) -> list[Node]:
        return [] if self.parent is None else [self.parent, *self.parent.above]

    @property
    def place(self) -> int:
        """Among its sisters, from 1."""
        return 1 if self.parent is None else self.parent.children.index(self) + 1


def nodes_of(tree: Tree) -> list[Node]:
    """All nodes, in pre-order."""
    found: list[Node] = []
    n_words = 0

    def add(label: str, parent: Node | None) -> Node:
        node = Node(label, len(found), parent)
        found.append(node)
        if parent is not None:
            parent.children.append(node)
        return node

    def visit(tree: Tree, parent: Node | None) -> None:
        nonlocal n_words
        node, start = add(tree.label, parent), n_words
        if tree.word is not None:
            n_words += 1
            add(tree.word, node).words = (start, n_words)
        for child in tree.children:
            visit(child, node)
        node.words = (start, n_words)

    visit(tree, None)
    return found


# Relations, of A to B ----------------------------------------------------------------------------


def head(node: Node, rules: HeadRules) -> Node | None:
    return node.children[rules.head(node.label, [child.label for child in node.children])] if node.children else None


def heads(a: Node, b: Node, rules: HeadRules) -> bool:
    """Whether B is a head of A, at any depth."""
    below = head(a, rules)
    return below is not None and (below is b or heads(below, b, rules))


def _follows_at_once(a: Node, b: Node) -> bool:
    return a.words[1] == b.words[0]


def _is_unary_chain(a: Node, b: Node) -> bool:
    return a in b.above and all(len(node.children) == 1 for node in (a, *b.above[: b.above.index(a)]))


def _nth(of: list[Node], number: int) -> Node | None:
    if abs(number) > len(of):
        return None
    return of[number - 1] if number > 0 else of[number]


def _leaves(a: Node, nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if not node.children and a in node.above]


def _is_chain(a: Node, b: Node, nodes: list[Node], step: Callable[[Node, Node], bool], test: LabelTest) -> bool:
    """Whether steps lead from A to B, all between being such nodes."""
    reached, waiting = set(), [a]
    while waiting:
        node = waiting.pop()
        new = [other for other in nodes if step(node, other) and other not in reached]
        reached.update(new)
        waiting += [other for other in new if holds(test, other)]
    return b in reached


def sisters(a: Node, b: Node) -> bool:
    return a is not b and a.parent is not None and a.parent is b.parent


DEFINITIONS: dict[str, Callable[[Node, Node], bool]] = {
    "<": lambda a, b: b.parent is a,
    "<<": lambda a, b: a in b.above,
    "<:": lambda a, b: b.parent is a and len(a.children) == 1,
    "<<:": _is_unary_chain,
    "<<,": lambda a, b: a in b.above and all(node.place == 1 for node in [b, *b.above[: b.above.index(a)]]),
    "<<-": lambda a, b: (
        a in b.above
        and all(node.place == len(node.parent.children) for node in [b, *b.above[: b.above.index(a)]] if node.parent)
    ),
    "$": sisters,
    "$+": lambda a, b: sisters(a, b) and b.place == a.place + 1,
    "$++": lambda a, b: sisters(a, b) and b.place > a.place,
    ".": _follows_at_once,
    "..": lambda a, b: a.words[1] <= b.words[0],
    "<<<": lambda a, b: a in b.above and not b.children,
    "==": lambda a, b: a is b,
    "<=": lambda a, b: a is b or b.parent is a,
    ":": lambda a, b: True,
}
TURNED = {
    ">": "<", ">>": "<<", ">:": "<:", ">>:": "<<:", ">>,": "<<,", ">>-": "<<-", "$-": "$+", "$--": "$++", ",": ".",
    ",,": "..", ">i": "<i", ">#": "<#", ">>#": "<<#", ">+": "<+", ",+": ".+",
}  # fmt: skip


def related(relation: Relation, a: Node, b: Node, nodes: list[Node], rules: HeadRules) -> bool:
    if relation.symbol in TURNED:
        turned = Relation(TURNED[relation.symbol], relation.number, relation.through)
        return related(turned, b, a, nodes, rules)
    if relation.symbol in ("<i", "<<<i"):
        return _nth(a.children if relation.symbol == "<i" else _leaves(a, nodes), relation.number) is b
    if relation.symbol in ("<#", "<<#"):
        return head(a, rules) is b if relation.symbol == "<#" else heads(a, b, rules)
    if relation.through is not None:
        return _is_chain(a, b, nodes, DEFINITIONS[relation.symbol[:-1]], relation.through)
    return DEFINITIONS[relation.symbol](a, b)


# Patterns ----------------------------------------------------------------------------------------


def basic(label: str) -> str:
    return re.split("[-=]", label)[0] or label


def holds(test: LabelTest, node: Node) -> bool:
    label = basic(node.label) if test.is_basic else node.label
    if test.text.startswith("/"):
        found = re.search(test.text[1:-1], label) is not None
    elif test.text == "_ROOT_":
        found = node.parent is None
    else:
        found = test.text == "__" or label in test.text.split("|")
    return found != test.is_negated


def match(pattern: Part, node: Node, nodes: list[Node], bound: dict, rules: HeadRules) -> Iterator[dict]:
    """Yield the bindings of each way in which a node matches a pattern."""
    if pattern.same:
        is_one = pattern.same in bound and (bound[pattern.same] is node) != pattern.test.is_negated
    elif pattern.like:
        is_basic = pattern.test.is_basic
        other = bound.get(pattern.like)
        labels = {basic(each.label) if is_basic else each.label for each in (node, other) if each}
        is_one = other is not None and (len(labels) == 1) != pattern.test.is_negated
    else:
        is_one = holds(pattern.test, node)
    if not is_one:
        return
    bound = dict(bound)
    if pattern.groups:
        found = re.search(pattern.test.text[1:-1], basic(node.label) if pattern.test.is_basic else node.label)
        for number, variable in pattern.groups:
            if bound.setdefault(("variable", variable), found[number] or "") != (found[number] or ""):
                return
    if pattern.name:
        bound[pattern.name] = node
    yield from condition(Part("all", pattern.parts), node, nodes, bound, rules)


def condition(part: Part, node: Node, nodes: list[Node], bound: dict, rules: HeadRules) -> Iterator[dict]:
    if part.kind == "step":
        for other in nodes:
            if related(part.relation, node, other, nodes, rules):
                yield from match(part.parts[0], other, nodes, bound, rules)
    elif part.kind == "all":
        ways = [bound]
        for each in part.parts:
            ways = [found for way in ways for found in condition(each, node, nodes, way, rules)]
        yield from ways
    elif part.kind == "any":
        for each in part.parts:
            yield from condition(each, node, nodes, bound, rules)
    else:
        ways = list(condition(part.parts[0], node, nodes, bound, rules))
        yield from ways if part.kind == "optional" and ways else [] if ways else [bound]


def search(tree: Tree, text: str, rules: HeadRules = ENGLISH) -> set[tuple]:
    """For each match the number of its node in the tree, and name and number of those that it names."""
    nodes = nodes_of(tree)
    return {
        (node.number, *((name, found.number) for name, found in bound.items() if isinstance(name, str)))
        for root in TreePattern(text).roots
        for node in nodes
        for bound in match(root, node, nodes, {}, rules)
    }
