"""`TreeBuilder`, which builds trees from the tokens of a bracketed text; dialects in `formats` are its subclasses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.errors import BrokenFileError, TreebankError
from spacy_lpcfg.trees.tree import Tree

MAX_NODES = 2**20
"""Limit on the nodes of a tree, which bounds memory."""
END = ""
"""The token for a position where a tree must be complete."""
TREE_NAMES = frozenset({"ID", "METADATA"})


class TooLargeTree(BrokenFileError):
    """A tree that exceeds a limit on size; reading does not continue after it."""


class OpenNode:
    """A node whose closing parenthesis has not been read yet."""

    __slots__ = ("children", "is_pruned", "label", "word")

    def __init__(self) -> None:
        self.is_pruned = False  # whether a dialect has left out children
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Tree] = []

    def __str__(self) -> str:
        return "( ...)" if self.label is None else f"({self.label:.80} ...)"


class TreeBuilder:
    """A builder of trees from the tokens of a bracketed text; after an error it skips to the next tree.

    Each dialect of brackets is a subclass.

    path (str): What error messages call the text, such as the name of its file.
    dropped (Counter or None): Receives the counts of the elements that the dialect removes or changes, by descriptions
        such as "codes".
    """

    def __init__(self, path: str, dropped: Counter[str] | None = None) -> None:
        self.path = path
        self.dropped: Counter[str] = Counter() if dropped is None else dropped
        self.forget()

    def forget(self) -> None:
        """Reset the state, as if nothing had been read."""
        self.is_broken = False
        self.line = 0  # where the current tree began
        self._n_nodes = 0  # nodes of the current tree so far
        self._stack: list[OpenNode] = []
        self._finished: Tree | None = None  # a complete tree, an error if text follows it

    def finished(self, tree: Tree) -> Tree | None:
        """Convert a complete tree of the dialect to its final form; return None to drop the tree.

        This class removes nodes `(ID ...)` and `(METADATA ...)` below an unlabelled root; dialects override the method.

        RAISES (ValueError): If the tree is malformed.
        """
        return _without_names(tree)

    @property
    def depth(self) -> int:
        """The number of nodes that are still open after the tokens read so far."""
        return len(self._stack)

    @property
    def is_open(self) -> bool:
        """Whether the tokens read so far end inside a tree."""
        return bool(self._stack)

    def read(self, tokens: Iterable[str], number: int) -> Iterator[Tree]:
        """Read the tokens of a line and yield the trees that they complete.

        After an error, call it again with the remaining tokens.

        tokens (iterable of str): Parentheses, labels, words, and `END` where a tree must be complete.
        number (int): The number of the line, for error messages.
        RAISES (TreebankError): If a tree is malformed, or too large (TooLargeTree).
        """
        for token in tokens:
            if token == "(":
                if not self._stack:
                    yield from self._take_finished()
                    self.line = number
                    self.is_broken = False
                    self._n_nodes = 0
                self._open(number)
            elif self.is_broken:
                self._skip(token)
            elif token == ")":
                self._close(number)
            elif token == END:
                self._end()
            else:
                self._text(token, number)
        yield from self._take_finished()

    def _take_finished(self) -> Iterator[Tree]:
        tree, self._finished = self._finished, None
        if tree is not None:
            yield tree

    def _skip(self, token: str) -> None:
        if token == END:
            self._stack.clear()
        elif token == ")" and self._stack:
            self._stack.pop()

    def _open(self, number: int) -> None:
        node = OpenNode()
        self._stack.append(node)
        self._n_nodes += 1
        if self._n_nodes > MAX_NODES:
            raise TooLargeTree(_TOO_MANY_NODES.format(n=MAX_NODES), self.path, self.line)
        if len(self._stack) == 1 or self.is_broken:
            return
        parent = self._stack[-2]
        if parent.word is not None:
            self._open_beside_word(parent, number)
        if parent.label is None:
            if len(self._stack) > 2:
                raise self._error(_NO_LABEL, number)
            parent.label = ""

    def _open_beside_word(self, parent: OpenNode, number: int) -> None:
        raise self._error(_WORD_BESIDE_NODES.format(word=shown(parent.word), node=parent), number)

    def _text(self, token: str, number: int) -> None:
        if not self._stack:
            raise self._error(_TEXT_OUTSIDE.format(word=shown(token)), number, stray=True)
        node = self._stack[-1]
        if node.label is None:
            node.label = token
        elif node.children:
            raise self._error(_WORD_BESIDE_NODES.format(word=shown(token), node=node), number)
        elif node.word is not None:
            self._another_word(node, token, number)
        else:
            node.word = token

    def _another_word(self, node: OpenNode, token: str, number: int) -> None:
        raise self._error(_TWO_WORDS.format(node=node, first=shown(node.word), second=shown(token)), number)

    def _close(self, number: int) -> None:
        if not self._stack:
            raise self._error(_NOT_OPENED, number, stray=True)
        trees = self._closed(self._stack.pop(), number)
        if self._stack:
            self._stack[-1].children.extend(trees)
        elif trees:
            try:
                self._finished = self.finished(trees[0])
            except ValueError as error:
                raise self._error(str(error), self.line) from error

    def _closed(self, node: OpenNode, number: int) -> list[Tree]:
        """Convert a closed node to subtrees of its parent; at most one tree if it has no parent."""
        if node.word is None and not node.children:
            raise self._error(_EMPTY_NODE.format(node=node), number)
        return [Tree(node.label or "", node.children, node.word)]

    def _end(self) -> None:
        if self._stack:
            n_open = len(self._stack)
            self._stack.clear()
            raise self._error(_NOT_CLOSED.format(n_open=n_open), self.line)

    def _error(self, message: str, number: int, *, stray: bool = False) -> TreebankError:
        """Return the error of the current tree, or of a token outside of trees, with the line on which it began."""
        self.is_broken = True
        if stray and self._finished is None:
            self.line = number
        self._finished = None
        seen = f" (seen in line {number})" if number > self.line else ""
        return TreebankError(f"{message}{seen}", self.path, self.line)


_NOT_OPENED = (
    "Expected a new tree, but got a closing bracket that closes nothing. Remove it, or add the "
    "opening bracket that is missing before it."
)
_NOT_CLOSED = (
    "Expected closing brackets for the tree that begins here, but {n_open} of its nodes are still "
    "open where the next tree begins or the text ends. Add the missing brackets."
)
_TEXT_OUTSIDE = (
    "Expected a tree in brackets, but got {word} outside of any. Remove it, or check that the "
    "file holds bracketed trees."
)
_EMPTY_NODE = (
    "Expected a word or other nodes in {node}, but got nothing. Remove the node, or write a leaf as (TAG word)."
)
_WORD_BESIDE_NODES = (
    "Expected one word or other nodes in {node}, but got {word} beside other nodes. Give the "
    "word a tag: (TAG word). In a word, write brackets as -LRB- and -RRB-."
)
_TWO_WORDS = (
    "Expected one word in {node}, but got {first} and {second}. Join a word with a space by "
    "an underscore, give each word a tag: (TAG word), and remove lemmas."
)
_TOO_MANY_NODES = (
    "Expected a tree of at most {n:,} nodes, but it goes on. Close the brackets of the one that begins here."
)
_NO_LABEL = (
    "Expected a label after the opening bracket, but got another bracket. Only the outermost "
    "bracket of a tree may be unlabelled: give this one a label."
)


def _without_names(tree: Tree) -> Tree | None:
    """Remove nodes `(ID ...)` and `(METADATA ...)` below an unlabelled root; set the `sent_id`.

    RETURNS (Tree or None): The tree; None if no other node is left.
    """
    if tree.label != "" or all(child.label not in TREE_NAMES for child in tree.children):
        return tree
    children = [child for child in tree.children if child.label not in TREE_NAMES]
    return Tree("", children).with_id(sent_id_of(tree)) if children else None


def sent_id_of(tree: Tree) -> str:
    """Return the word of a node `(ID ...)` right below the root; "" if there is none."""
    return next((child.word for child in tree.children if child.label == "ID" and child.word), "")
