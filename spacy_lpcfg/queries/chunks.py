"""Chunks of a sentence (Abney 1992): runs of words that are joined by constituency alone, not by dependency.

Abney (1992), "Prosodic structure, performance structure and phrase structure", Speech and Natural Language: Proceedings
    of a Workshop, section 2, for trees in Penn Treebank annotation. A noun, verb, adjective or adverb licenses by
    dependency the phrases that follow it in its own phrase. All other phrases and words are licensed by immediate
    constituency; words that are joined by constituency alone, without a clause boundary between them, are a chunk.

Decided here, where the paper leaves it open or has it otherwise:

- Auxiliaries, `to` and adverbs before a verb are in its chunk, and so are single words right after a head (`chapter
  seven`, `came back`). Coordinated words without phrases of their own are one chunk (`bread and butter`).
- Commas, colons, dashes, parentheses and stops are pauses, which always separate chunks. Other punctuation is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.transforms import ESCAPED_BRACKETS, ROOT_LABELS, basic_category

CLAUSES = frozenset({*ROOT_LABELS, "FRAG", "PRN", "RRC", "S", "SBAR", "SBARQ", "SINV", "SQ"})
PAUSES = frozenset({",", ";", ":", ".", "!", "?", "-", "--", "...", "\u2013", "\u2014", "\u2026"})
OPENING = frozenset({"-LRB-", "-LSB-", "-LCB-", "``", "(", "[", "{", "\u201c", "\u2018", "\u00ab", "\u00bf", "\u00a1"})
CURRENCIES = frozenset({"$", "#", "SYM"})
COORDINATORS = frozenset({"CC", "CCONJ"})
VERBS = ("VB", "VERB", "AUX", "MD")
_FUNCTIONAL = frozenset({"PP", "WHPP", "CONJP", "PRT", "QP"})


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a tree without punctuation.

    label (str): The category; the tag for a word.
    start, end (int): The range [start, end) of its words.
    children (tuple of Node): The children from left to right; empty for a word.
    head_child (int): The position of the head among the children.
    head (int): The position of the head word in the sentence; for a verb phrase the main verb.
    """

    label: str
    start: int
    end: int
    children: tuple[Node, ...] = ()
    head_child: int = 0
    head: int = 0

    @property
    def is_clause(self) -> bool:
        return bool(self.children) and self.label in CLAUSES


@dataclass(frozen=True)
class Chunk:
    """A chunk: a run of adjacent words that are joined by constituency alone, not by dependency.

    start, end (int): The range [start, end) of its words.
    governor (int or None): The position of the word that licenses the chunk by dependency; None if there is none.
    is_verbal (bool): Whether the chunk contains the verb of a verb phrase or clause.
    """

    start: int
    end: int
    governor: int | None
    is_verbal: bool


class Gap(NamedTuple):
    """The gap between two adjacent words.

    node (Node): The smallest node around both words.
    child (int): The position, among the children of `node`, of the child that begins right after the gap.
    is_pause (bool): Whether a punctuation mark in the gap is a pause, at which chunks end.
    """

    node: Node
    child: int
    is_pause: bool


def is_mark(leaf: Tree) -> bool:
    """Return whether a leaf is a punctuation mark and not a word; currency signs are words."""
    word = leaf.word or ""
    return leaf.label in ESCAPED_BRACKETS or (leaf.label not in CURRENCIES and not any(map(str.isalnum, word)))


def is_opening(leaf: Tree) -> bool:
    """Return whether a mark is an opening quotation mark or parenthesis, which belongs to the word after it."""
    return leaf.label == "``" or leaf.label in OPENING or leaf.word in OPENING


class ClauseTree:
    """A sentence without its punctuation, with its heads, chunks and the gaps between its words; built by `of`.

    root (Node): The root of the tree without punctuation.
    words (sequence of Tree, (n_words,)): The leaves that are words.
    pauses (sequence of bool, (n_words - 1,)): Whether a pause, such as a comma, follows each word but the last.

    It has the attribute `root`, and:

    nodes (list of Node): All nodes in pre-order.
    words, tags (list of str, (n_words,)): The words without punctuation, and their tags.
    gaps (list of Gap, (n_words - 1,)): The gap after each word but the last.
    chunks (list of Chunk, (n_words,)): The chunk of each word.
    """

    def __init__(self, root: Node, words: Sequence[Tree], pauses: Sequence[bool]) -> None:
        self.root = root
        self.words = [leaf.word or "" for leaf in words]
        self.tags = [leaf.label for leaf in words]
        self.nodes = list(_nodes(root))
        self.gaps = _gaps(self.nodes, pauses)
        self.chunks = _chunks(root)

    @classmethod
    def of(cls, tree: Tree, rules: HeadRules) -> ClauseTree | None:
        """Build the clause tree of a clean tree; return None if it has only punctuation.

        tree (Tree): A tree with the labels of the Penn Treebank.
        rules (HeadRules): Head rules for the tree.
        """
        root = _without_marks(tree, rules)
        words: list[Tree] = []
        pauses: list[bool] = []
        for leaf in tree.leaves():
            if not is_mark(leaf):
                words.append(leaf)
                pauses.append(False)
            elif pauses and (leaf.label in ESCAPED_BRACKETS or leaf.word in PAUSES):
                pauses[-1] = True
        return None if root is None else cls(root, words, pauses[:-1])

    @cached_property
    def auxiliaries(self) -> set[int]:
        """The positions of auxiliaries: verbs that have a VP as a sister, and precede the head or are in a clause."""
        with_verb = [node for node in self.nodes if any(child.label == "VP" for child in node.children)]
        return {
            child.start
            for node in with_verb
            for i, child in enumerate(node.children)
            if child.label.startswith(VERBS) and (node.is_clause or i < node.head_child)
        }

    @cached_property
    def clause_ends(self) -> set[int]:
        """The ends of all clauses, exclusive: the positions of the words right after them."""
        return {node.end for node in self.nodes if node.is_clause}


def is_dependent(node: Node, i: int) -> bool:
    """Return whether child `i` (from 0) of a node is licensed by dependency, as a dependent of the node's head."""
    head, children = node.head_child, node.children
    if node.is_clause or i <= head:
        return False
    between = children[head + 1 : i + 1]
    is_coordinated = any(child.label in COORDINATORS for child in between)
    if all(not child.children for child in between):
        return is_coordinated and any(child.children for child in children)
    return is_coordinated or node.label not in _FUNCTIONAL


def _without_marks(tree: Tree, rules: HeadRules) -> Node | None:
    positions = count()

    def build(node: Tree, below: list[Node | None]) -> Node | None:
        if node.is_leaf:
            if is_mark(node):
                return None
            position = next(positions)
            return Node(node.label, position, position + 1, head=position)
        children = tuple(child for child in below if child)
        if not children:
            return None
        label = basic_category(node.label)
        head = _head(label, children, rules)
        return Node(label, children[0].start, children[-1].end, children, head, children[head].head)

    return tree.fold(build)


def _head(label: str, children: Sequence[Node], rules: HeadRules) -> int:
    """Return the position of the head child, which in a verb phrase with auxiliaries is the inner verb phrase."""
    if label == "VP":
        for i, child in enumerate(children):
            if child.label == "VP":
                return i
            if child.label in COORDINATORS or (child.children and child.label != "ADVP"):
                break
    return rules.head(label, [child.label for child in children])


def _nodes(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children[::-1])


def _gaps(nodes: Sequence[Node], pauses: Sequence[bool]) -> list[Gap]:
    at = {node.children[i].start: (node, i) for node in nodes for i in range(1, len(node.children))}
    return [Gap(*at[i], is_pause) for i, is_pause in enumerate(pauses, start=1)]


def _chunks(root: Node) -> list[Chunk]:
    """Return the chunk of each word; words of one chunk share the object."""
    licences: list[tuple[int | None, bool]] = [(None, root.label == "VP")]  # governor, and whether it is verbal
    keys = [0] * root.end
    stack = [(root, 0)]
    while stack:
        node, key = stack.pop()
        if not node.children:
            keys[node.start] = key
        previous = key
        for i, child in enumerate(node.children):
            if not _is_adverb_and_verb(node, i):
                previous = key
                if node.is_clause or is_dependent(node, i):
                    is_governed = not node.is_clause and child.label not in COORDINATORS
                    previous = len(licences)
                    licences.append((node.head if is_governed else None, False))
            if child.label == "VP" or (node.is_clause and child.label.startswith(VERBS)):
                licences[previous] = (licences[previous][0], True)
            stack.append((child, previous))
    return _runs(keys, licences)


def _is_adverb_and_verb(node: Node, i: int) -> bool:
    """Return whether child `i` of a clause is a verb phrase after a one-word ADVP, which shares its chunk."""
    if not node.is_clause or i == 0 or node.children[i].label != "VP":
        return False
    before = node.children[i - 1]
    return before.label == "ADVP" and before.end - before.start == 1


def _runs(keys: Sequence[int], licences: Sequence[tuple[int | None, bool]]) -> list[Chunk]:
    """Return the chunk of each word: a run of words with the same key, which is an index into `licences`."""
    starts = [i for i, key in enumerate(keys) if i == 0 or key != keys[i - 1]]
    runs = [
        Chunk(start, end, *licences[keys[start]]) for start, end in zip(starts, [*starts[1:], len(keys)], strict=True)
    ]
    return [run for run in runs for _ in range(run.start, run.end)]
