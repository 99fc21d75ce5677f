"""The constituency tree, an immutable data structure that is used throughout the package.

A node is either a *leaf* (a preterminal: its label is the tag, and it has a word) or an inner node (a label and at
least one child). No function here is recursive, so that only memory limits the depth of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.source import SentenceSource

Result = TypeVar("Result")
Span = tuple[int, int, str]


class Tree:
    """A labelled, ordered tree over the words of a sentence.

    label (str): The category, or the tag when the node is a leaf; "" for an unlabelled root.
    children (tuple[Tree, ...]): The children from left to right; empty for a leaf.
    word (str or None): The word of a leaf; None for an inner node.
    source (SentenceSource or None): Metadata of the sentence at a root, such as its ID; ignored in comparisons.
    RAISES (ValueError): Unless exactly one of `children` and `word` is given.

    Trees are immutable, and equal when labels, words and shape are equal. `len(tree)` is the number of words.
    """

    __slots__ = ("children", "label", "source", "word")

    label: str
    children: tuple[Tree, ...]
    word: str | None
    source: SentenceSource | None

    def __init__(
        self,
        label: str,
        children: Iterable[Tree] = (),
        word: str | None = None,
        *,
        source: SentenceSource | None = None,
    ) -> None:
        children = tuple(children)
        if bool(children) == (word is not None):
            raise ValueError(
                f"A node has either children or a word, but {shown(label)} got {len(children)} children "
                f"and the word {shown(word)}. Give a leaf its word, and any other node its children."
            )
        _set_label(self, label)
        _set_children(self, children)
        _set_word(self, word)
        _set_source(self, source)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Tree is immutable: build a new one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A Tree is immutable: {name!r} cannot be deleted.")

    @property
    def sent_id(self) -> str:
        """The ID of the sentence in its treebank; "" if it has none."""
        return self.source.sent_id if self.source else ""

    def with_id(self, sent_id: str) -> Tree:
        """Return the tree with another sentence ID, and the rest of its `source` unchanged."""
        if sent_id == self.sent_id:
            return self
        return self.with_source((self.source or SentenceSource())._replace(sent_id=sent_id))

    def with_source(self, source: SentenceSource | None) -> Tree:
        """Return the tree with another `source`; its `text` is dropped unless it has as many words as the tree."""
        if source is self.source:
            return self
        if source and source.text and len(source.text.words) != len(self):
            source = source._replace(text=None)
        return Tree(self.label, self.children, self.word, source=source)

    def with_source_of(self, original: Tree) -> Tree:
        """Return the tree with the `source` of the tree that it was made from, without `text` if the words differ."""
        source = original.source
        if source and source.text and self.words != original.words:
            source = source._replace(text=None)
        return self.with_source(source)

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a preterminal: a tag over a word."""
        return self.word is not None

    @property
    def words(self) -> list[str]:
        """The words of the sentence, left to right."""
        return [node.word for node in self.nodes() if node.word is not None]

    @property
    def tags(self) -> list[str]:
        """The tags of the words, left to right."""
        return [leaf.label for leaf in self.leaves()]

    def leaves(self) -> list[Tree]:
        """Return the preterminals, left to right."""
        return [node for node in self.nodes() if node.word is not None]

    def nodes(self) -> Iterator[Tree]:
        """Yield all nodes in pre-order (a node before its children, left to right), leaves included."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children[::-1])

    def spans(self) -> list[Span]:
        """Return the labelled span of each inner node, in pre-order; preterminals have none.

        RETURNS (list of (int, int, str)): Start, end and label; the words of the node are [start, end), counted from 0.
        """
        spans: list[Span] = []
        position = 0
        stack: list[Tree | int] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, int):  # the subtree of spans[item] is complete
                start, _, label = spans[item]
                spans[item] = (start, position, label)
            elif item.word is not None:
                position += 1
            else:
                stack.append(len(spans))
                spans.append((position, position, item.label))
                stack.extend(item.children[::-1])
        return spans

    def fold(self, function: Callable[[Tree, list[Result]], Result]) -> Result:
        """Compute a value bottom-up, as a recursive function would, but without recursion.

        function (callable): Called for every node in post-order, left to right, with the node and the list of the
            results of its children (empty for a leaf).
        RETURNS: The result of the root.
        """
        results: list[Result] = []
        for node in reversed(self._right_to_left()):
            if node.children:
                n_children = len(node.children)
                below = results[-n_children:]
                del results[-n_children:]
                results.append(function(node, below))
            else:
                results.append(function(node, []))
        return results[0]

    def with_leaves(self, leaves: Iterable[Tree]) -> Tree:
        """Return the tree with its leaves replaced, from left to right; its `source` becomes None.

        leaves (iterable of Tree): A new leaf for each leaf of the tree.
        """
        following = iter(leaves)
        return self.fold(lambda node, below: next(following) if node.is_leaf else Tree(node.label, below))

    @classmethod
    def from_spans(cls, words: Sequence[str], tags: Sequence[str], spans: Iterable[Span]) -> Tree:
        """Build a tree from its words, tags and labelled spans: the inverse of `words`, `tags` and `spans()`.

        words (sequence of str): The words, at least one.
        tags (sequence of str): The tag of each word.
        spans (iterable of (int, int, str)): Start, end and label of each inner node, over the words [start, end), in
            pre-order: the first span covers the sentence, and of two spans over the same words the outer one comes
            first. May be empty for a sentence of one word.
        RAISES (ValueError): If spans cross, are empty, outside the sentence or out of order, if the first one does not
            cover the sentence, or if the numbers of words and tags differ.
        """
        if not words or len(words) != len(tags):
            raise ValueError(
                f"A tree needs at least one word and one tag for each, but got {len(words)} words and {len(tags)} tags."
            )
        leaves = [cls(tag, word=word) for word, tag in zip(words, tags, strict=True)]
        tops: list[Tree] = []
        open_brackets: list[tuple[Span, list[Tree]]] = [((0, len(leaves), ""), tops)]
        position = 0
        for span in spans:
            position = _advance(open_brackets, leaves, position, span[0])
            _check_bracket(span, open_brackets[-1][0], position)
            open_brackets.append((span, []))
        _advance(open_brackets, leaves, position, len(leaves))
        if len(tops) != 1:
            raise ValueError(
                f"The first bracket must cover all {len(leaves)} words, but the brackets leave "
                f"{len(tops)} separate parts. Put a bracket (0, {len(leaves)}, label) first."
            )
        return tops[0]

    def __len__(self) -> int:
        return sum(node.word is not None for node in self.nodes())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(self._flat())

    def __reduce__(self) -> tuple[Callable[..., Tree], tuple[tuple[Any, ...], SentenceSource | None]]:
        return _from_flat, (self._flat(), self.source)

    def __str__(self) -> str:
        """Return the tree in brackets, on one line: (S (NP (DT the) (NN cat)) (VP (VBD slept))).

        A blank follows a word that ends in a backslash, since some readers take a backslash and a parenthesis for one
        character.
        """
        pieces: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                pieces.append(")")
            elif node.word is not None:
                blank = " " if node.word.endswith("\\") else ""
                pieces.append(f" ({node.label} {node.word}{blank})")
            else:
                pieces.append(f" ({node.label}")
                stack.append(None)
                stack.extend(node.children[::-1])
        return "".join(pieces)[1:]

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def _right_to_left(self) -> list[Tree]:
        """Return the nodes in reversed post-order: a node before its children, and these from right to left."""
        order: list[Tree] = []
        stack = [self]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        return order

    def _flat(self) -> tuple[Any, ...]:
        """Return the tree as a flat tuple: label and word or arity of each node, in post-order."""
        flat: list[Any] = []
        for node in reversed(self._right_to_left()):
            flat.append(node.label)
            flat.append(len(node.children) if node.word is None else node.word)
        return tuple(flat)


# Setters of the slots, which bypass `Tree.__setattr__`.
_set_label = Tree.__dict__["label"].__set__
_set_children = Tree.__dict__["children"].__set__
_set_word = Tree.__dict__["word"].__set__
_set_source = Tree.__dict__["source"].__set__


def _from_flat(flat: tuple[Any, ...], source: SentenceSource | None) -> Tree:
    """Rebuild a tree from `Tree._flat`; a module-level function, so that pickle can name it."""
    nodes: list[Tree] = []
    for label, content in zip(flat[::2], flat[1::2], strict=True):
        if isinstance(content, str):
            nodes.append(Tree(label, word=content))
        else:
            children = nodes[-content:]
            del nodes[-content:]
            nodes.append(Tree(label, children))
    return nodes[0].with_source(source)


def _advance(open_brackets: list[tuple[Span, list[Tree]]], leaves: list[Tree], position: int, end: int) -> int:
    """Attach the leaves before position `end`, and close the open constituents that do not reach beyond `end`.

    open_brackets (list of (Span, list of Tree)): The open constituents with their children so far, outermost first;
        changed in place. The first one stays open.
    leaves (list of Tree): The leaves of the sentence.
    position (int): The first leaf that is not attached yet.
    RETURNS (int): The new `position`.
    """
    while True:
        (_, bracket_end, label), children = open_brackets[-1]
        stop = min(end, bracket_end)
        children.extend(leaves[position:stop])
        position = max(position, stop)
        if bracket_end > end or len(open_brackets) == 1:
            return position
        open_brackets.pop()
        open_brackets[-1][1].append(Tree(label, children))


def _check_bracket(span: Span, parent: Span, position: int) -> None:
    start, end, label = span
    if start != position or start >= end or end > parent[1]:
        raise ValueError(
            f"Brackets must be non-empty, nested and in pre-order, but ({start}, {end}, {shown(label)}) "
            f"came at word {position} inside ({parent[0]}, {parent[1]}, {shown(parent[2])})."
        )
