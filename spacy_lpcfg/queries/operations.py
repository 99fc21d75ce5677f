"""The operations of edit rules, which change one tree in place, as in Tsurgeon (Levy and Andrew 2006).

An operation is a function of a `Site`, the tree around one match, and of the arguments that a rule gives: names of
nodes that the match has bound, places, labels and new trees. All raise ValueError if they cannot be carried out at the
match, for example if it has not bound a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from spacy_lpcfg.checks import shown
from spacy_lpcfg.queries.regexes import MAX_SECONDS
from spacy_lpcfg.trees import Tree

if TYPE_CHECKING:
    from regex import Pattern

FOOT = "@"
"""The name of the node of an auxiliary tree below which other nodes are put."""
LONGEST_LABEL = 1_000
"""Limit on the characters of a label that a rule makes of another; words of the treebank may be longer."""
_LABEL = re.compile(r"[^\s()]+", re.ASCII)
_INDEX = re.compile(r"-([0-9]+)$")
_IN_REPLACEMENT = re.compile(r"\\(?P<escaped>.)|\$(?P<group>[0-9])|=\{(?P<node>[^}]+)\}|%\{(?P<variable>[^}]+)\}")


# Trees that can be changed -----------------------------------------------------------------------


class Node:
    """A node of a tree that can be changed; words are nodes below their tags, as in tree patterns.

    label (str): The label, the tag, or the word.
    is_word (bool): Whether the node is a word; ignored for a node with children.
    name (str or None): In a new tree, the name by which later operations of the rule refer to the node.
    """

    __slots__ = ("children", "is_word", "label", "name", "parent")

    def __init__(self, label: str, *, is_word: bool = False, name: str | None = None) -> None:
        self.label, self.is_word, self.name = label, is_word, name
        self.children: list[Node] = []
        self.parent: Node | None = None

    def insert(self, position: int, nodes: Iterable[Node]) -> None:
        """Insert nodes as children, before the child at `position` (from 0)."""
        nodes = list(nodes)
        self.children[position:position] = nodes
        for node in nodes:
            node.parent = self

    def take_children(self) -> list[Node]:
        """Remove and return all children."""
        children, self.children = self.children, []
        for child in children:
            child.parent = None
        return children

    def nodes(self) -> Iterator[Node]:
        """Yield the node and all nodes below it, in pre-order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children[::-1])

    def path(self) -> Iterator[Node]:
        """Yield the node and its ancestors, up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def copy(self) -> Node:
        """Return a copy of the node and all nodes below it."""
        copies: dict[Node, Node] = {}
        for node in self.nodes():
            copies[node] = copy = Node(node.label, is_word=node.is_word, name=node.name)
            if node is not self and node.parent is not None:
                parent = copies[node.parent]
                parent.insert(len(parent.children), [copy])
        return copies[self]


def nodes_of(tree: Tree) -> list[Node]:
    """Copy a tree into nodes, and return these in pre-order, words included."""
    nodes: list[Node] = []
    stack: list[tuple[Tree, Node | None]] = [(tree, None)]
    while stack:
        subtree, parent = stack.pop()
        node = Node(subtree.label)
        nodes.append(node)
        if parent is not None:
            parent.insert(len(parent.children), [node])
        if subtree.word is not None:
            nodes.append(Node(subtree.word, is_word=True))
            node.insert(0, nodes[-1:])
        stack += ((child, node) for child in subtree.children[::-1])
    return nodes


def tree_of(root: Node) -> Tree:
    """Return the `Tree` of a node and all nodes below it.

    RAISES (ValueError): If a phrase is empty, a node but the root has no label, or a word has sisters or no tag.
    """
    trees: dict[Node, Tree] = {}
    for node in reversed(list(root.nodes())):
        words = [child.label for child in node.children if child not in trees]
        if not node.children and not node.is_word:
            raise ValueError(f"{shown(node.label)} is left without words: use prune, which removes such nodes too")
        if not node.label and node is not root:
            raise ValueError("a node is left without a label")
        if words and len(node.children) > 1:
            raise ValueError(f"the word {shown(words[0])} is left with sisters: a word needs a tag of its own")
        if node.children:
            children = () if words else [trees[child] for child in node.children]
            trees[node] = Tree(node.label, children, words[0] if words else None)
    if root not in trees:
        raise ValueError(f"nothing is left but the word {shown(root.label)}, without a tag")
    return trees[root]


@dataclass
class Site:
    """The tree around one match of a pattern, while operations change it.

    root (Node or None): The root; None once the whole tree was deleted.
    names (dict of str to Node): The nodes that the match has bound, and the named nodes of new trees, by their names.
    variables (dict of str to str): The texts that groups of regular expressions matched, by their variables.
    """

    root: Node | None
    names: dict[str, Node]
    variables: dict[str, str] = field(default_factory=dict)

    def node(self, name: str) -> Node:
        """Return the node that a name is bound to.

        RAISES (ValueError): If no node has the name, or the node is no longer in the tree.
        """
        if name not in self.names:
            raise ValueError(f"nothing here is called {name}: where a node may be missing, write if exists {name}")
        node = self.names[name]
        if [*node.path()][-1] is not self.root:
            raise ValueError(f"{name} is in the tree no longer, as an operation before has removed it")
        return node

    def parent(self, name: str) -> tuple[Node, int]:
        """Return the parent of a named node, and the position of the node among its children.

        RAISES (ValueError): If the node is the root, or as for `node`.
        """
        node = self.node(name)
        if node.parent is None:
            raise ValueError(f"{name} is the root, which has no sisters")
        return node.parent, node.parent.children.index(node)

    def check_size(self, max_nodes: int) -> None:
        """Raise ValueError if the tree has more than `max_nodes` nodes."""
        if self.root is not None and any(islice(self.root.nodes(), max_nodes, None)):
            raise ValueError(
                f"the tree grows to more than {max_nodes:,} nodes, as by a rule that copies what it copied"
            )

    def replace(self, node: Node, others: Sequence[Node]) -> None:
        """Replace a node by any number of nodes with their subtrees; the root by at most one.

        RAISES (ValueError): If the node is the root, and several nodes would replace it.
        """
        parent = node.parent
        if parent is not None:
            position = parent.children.index(node)
            del parent.children[position]
            parent.insert(position, others)
        elif len(others) > 1:
            raise ValueError(f"{len(others)} nodes cannot take the place of the root {shown(node.label)}")
        else:
            self.root = others[0] if others else None
        node.parent = None

    def copy_new(self, new: Node) -> Node:
        """Return a copy of a new tree, and add its named nodes, such as the foot, to `names`."""
        copy = new.copy()
        self.names |= {node.name: node for node in copy.nodes() if node.name}
        return copy

    def copies(self, sources: Iterable[str | Node]) -> list[Node]:
        """Return copies, with their subtrees, of nodes of the tree, given by name, and of new trees."""
        return [self.copy_new(source) if isinstance(source, Node) else self.node(source).copy() for source in sources]


# Arguments of operations -------------------------------------------------------------------------


class Place(NamedTuple):
    """A place at which to insert a node: `$+` left of a named node, `$-` right of it, or `>i` as its child number i.

    Children are numbered from 1, or from -1 at the end.

    relation (str): `$+`, `$-`, or `>` with the number.
    name (str): The name of the node to which the relation leads.
    """

    relation: str
    name: str

    def find(self, site: Site) -> tuple[Node, int]:
        """Return the parent, and the position among its children, from 0, at which to insert.

        RAISES (ValueError): If there is no such place.
        """
        if self.relation.startswith("$"):
            parent, position = site.parent(self.name)
            return parent, position + (self.relation == "$-")
        parent, number = site.node(self.name), int(self.relation[1:])
        position = len(parent.children) + number + 1 if number < 0 else max(number - 1, 0)
        if not 0 <= position <= len(parent.children):
            raise ValueError(f"{self.name} has {len(parent.children)} children, so that there is no {self.relation}")
        return parent, position


class NewLabel(NamedTuple):
    """A new label for a node: `text`, or the old label with each match of `regex` replaced by `text`.

    In a replacement, `$1` stands for a group, `={x}` for the label of the node x, and `%{v}` for the text of the
    variable v; a backslash escapes.
    """

    text: str
    regex: Pattern[str] | None = None

    def of(self, label: str, site: Site) -> str:
        """Return the new label of a node, given its old one.

        RAISES (ValueError): If the label grows to more than `LONGEST_LABEL` characters, the regular expression takes
            too long, or a node or variable in the replacement is not bound.
        """
        if self.regex is None:
            return self.text
        limit, n_replaced = max(LONGEST_LABEL, len(label)), 0

        def replacement(match: Any) -> str:
            nonlocal n_replaced
            text = self._replacement(match, site)
            n_replaced += len(text)
            return text if n_replaced <= limit else fail()

        def fail() -> NoReturn:
            raise ValueError(f"the label grows to more than {limit:,} characters")

        try:
            new = self.regex.sub(replacement, label, timeout=MAX_SECONDS)
            return new if len(new) <= limit else fail()
        except TimeoutError as error:
            raise ValueError(f"the regular expression takes too long at {shown(label)}") from error

    def _replacement(self, match: Any, site: Site) -> str:
        def fill(part: re.Match[str]) -> str:
            if part["group"]:
                return match[int(part["group"])] or ""
            if part["node"]:
                return site.node(part["node"]).label
            if part["variable"]:
                if part["variable"] not in site.variables:
                    raise ValueError(f"nothing here has set the variable {part['variable']}")
                return site.variables[part["variable"]]
            return part["escaped"]

        return _IN_REPLACEMENT.sub(fill, self.text)

    def references(self) -> Iterator[tuple[str, str]]:
        """Yield each reference in a replacement: its kind, "group", "node" or "variable", and its number or name."""
        for part in _IN_REPLACEMENT.finditer(self.text) if self.regex else ():
            if part.lastgroup and part.lastgroup != "escaped":
                yield part.lastgroup, part[part.lastgroup]


# Operations --------------------------------------------------------------------------------------


def delete(site: Site, *names: str) -> None:
    """Delete named nodes with all nodes below them."""
    for name in names:
        site.replace(site.node(name), [])


def prune(site: Site, *names: str) -> None:
    """Delete named nodes with all nodes below them, and each ancestor that is left without children."""
    for name in names:
        _prune(site, site.node(name))


def _prune(site: Site, node: Node) -> None:
    """Delete a node, and with it each ancestor that has no other child."""
    while node.parent is not None and len(node.parent.children) == 1:
        node = node.parent
    site.replace(node, [])


def excise(site: Site, top: str, bottom: str) -> None:
    """Replace `top` by the children of `bottom`, a node below it or itself; all other nodes below `top` are deleted.

    RAISES (ValueError): If `top` is neither `bottom` nor above it, or is the root and `bottom` has several children.
    """
    highest, lowest = site.node(top), site.node(bottom)
    if highest not in lowest.path():
        raise ValueError(f"{top} is neither {bottom} nor above it")
    if highest.parent is None and len(lowest.children) > 1:
        raise ValueError(f"the root {shown(highest.label)} has several children, which would be left without a root")
    site.replace(highest, lowest.take_children())


def relabel(site: Site, name: str, label: NewLabel) -> None:
    """Give a named node another label.

    RAISES (ValueError): If the label is empty or has white space or parentheses, or as for `NewLabel.of`.
    """
    node = site.node(name)
    new = label.of(node.label, site)
    if not _LABEL.fullmatch(new):
        raise ValueError(f"a label is not empty and has neither white space nor round brackets, got {shown(new)}")
    node.label = new


def insert(site: Site, source: str | Node, place: Place) -> None:
    """Insert at a place a copy of a named node with its subtree, or of a new tree."""
    (node,) = site.copies([source])
    parent, position = place.find(site)
    parent.insert(position, [node])


def move(site: Site, name: str, place: Place) -> None:
    """Move a named node with its subtree to a place."""
    node = site.node(name)
    site.replace(node, [])
    parent, position = place.find(site)
    parent.insert(position, [node])


def move_and_prune(site: Site, name: str, place: Place) -> None:
    """Move a named node with its subtree, and delete each former ancestor that is left without children."""
    before = site.node(name).parent
    move(site, name, place)
    if before is not None and not before.children:
        _prune(site, before)


def replace(site: Site, name: str, *sources: str | Node) -> None:
    """Replace a named node by copies of other named nodes, or of new trees."""
    copies = site.copies(sources)
    site.replace(site.node(name), copies)


def create_subtree(site: Site, new: Node, first: str, last: str | None = None) -> None:
    """Put a new node over the sisters from `first` to `last`; over `first` alone if there is no `last`.

    new (Node): The new tree, below whose foot the sisters are put; mostly one node that is its own foot.
    RAISES (ValueError): If the two nodes are no sisters.
    """
    ends = [site.node(name) for name in (first, last or first)]
    parent, nodes = ends[0].parent, ends[:1]
    if parent is not ends[1].parent:
        raise ValueError(f"{first} and {last} are no sisters")
    if parent is not None:
        start, end = sorted(map(parent.children.index, ends))
        nodes = parent.children[start : end + 1]
    _adjoin(site, new, nodes)


def _adjoin(site: Site, new: Node, nodes: Sequence[Node]) -> None:
    """Replace adjacent sisters by a copy of an auxiliary tree, and put the sisters below its foot."""
    root = site.copy_new(new)
    site.replace(nodes[0], [root])
    for node in nodes[1:]:
        site.replace(node, [])
    site.names[FOOT].insert(0, nodes)


def adjoin(site: Site, new: Node, name: str) -> None:
    """Replace a named node by an auxiliary tree (new tree with a foot), and put the node's children below the foot."""
    target, root = site.node(name), site.copy_new(new)
    site.replace(target, [root])
    site.names[FOOT].insert(0, target.take_children())


def adjoin_to_head(site: Site, new: Node, name: str) -> None:
    """Put the children of an auxiliary tree's root below a named node, and the node's old children below the foot."""
    target, root = site.node(name), site.copy_new(new)
    site.names[FOOT].insert(0, target.take_children())
    target.insert(0, root.take_children())


def adjoin_to_foot(site: Site, new: Node, name: str) -> None:
    """Replace a named node by an auxiliary tree, and put the node, with its children, in place of the foot."""
    target, root = site.node(name), site.copy_new(new)
    site.replace(target, [root])
    site.replace(site.names[FOOT], [target])


def coindex(site: Site, *names: str) -> None:
    """Append one new index, which no label of the tree has yet, to the labels of named nodes: NP becomes NP-1."""
    labels = (node.label for node in site.root.nodes()) if site.root else ()
    taken = (int(match[1][:9]) for match in map(_INDEX.search, labels) if match)
    index = max(taken, default=0) + 1
    for node in map(site.node, names):
        node.label += f"-{index}"


OPERATIONS: dict[str, tuple[Callable[..., None], str]] = {
    "delete": (delete, "name+"),
    "prune": (prune, "name+"),
    "excise": (excise, "name name"),
    "relabel": (relabel, "name label"),
    "insert": (insert, "source place"),
    "move": (move, "name place"),
    "moveprune": (move_and_prune, "name place"),
    "replace": (replace, "name source+"),
    "createSubtree": (create_subtree, "frame name name?"),
    "adjoin": (adjoin, "auxiliary name"),
    "adjoinH": (adjoin_to_head, "auxiliary name"),
    "adjoinF": (adjoin_to_foot, "auxiliary name"),
    "coindex": (coindex, "name+"),
}
"""The function of each operation, and the kinds of its arguments in rules; + is one or more, ? one or none."""
