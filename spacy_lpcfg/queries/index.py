"""Trees that patterns are asked of, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from spacy_lpcfg.queries.arrays import NONE, TreeArrays
from spacy_lpcfg.queries.matching import matches, matching_nodes
from spacy_lpcfg.queries.pattern import LabelTest, TreePattern
from spacy_lpcfg.queries.reading import Strings, codes_of_file, codes_of_trees
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees import ENGLISH, HeadRules, Tree, TreebankError
from spacy_lpcfg.trees.files import files_of

Scores = tuple[Sequence[float] | None, Sequence[float] | None]
"""Posterior probabilities of the brackets and of the tags of a tree, each in their order; None where none are known."""


class TreeIndex(TreeArrays):
    """Trees that many patterns are asked of; made by `from_trees` or `read`."""

    scores: np.ndarray | None = None

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], rules: HeadRules = ENGLISH, scores: Iterable[Scores] = ()) -> TreeIndex:
        """Trees as they stand, artificial roots, function labels and empty elements included.

        trees (iterable of Tree): The trees.
        rules (HeadRules): Of their language, for relations such as <#.
        scores (iterable of Scores): One a tree, or none at all.
        """
        strings = Strings()
        index = cls(codes_of_trees(trees, strings), strings, rules)
        for number, (brackets, tags) in enumerate(scores):
            index._set_scores(number, brackets, tags)
        return index

    @classmethod
    def read(
        cls,
        paths: PathLike | Iterable[PathLike],
        rules: HeadRules = ENGLISH,
        *,
        on_error: Callable[[TreebankError], None] | None = None,
    ) -> TreeIndex:
        """The trees of bracketed files, folders of them, or patterns; several times faster than `read_trees`.

        RAISES (TreebankError): For a broken tree, as `read_trees` does.
            (FileNotFoundError): For a path that is nothing of these, or where no file is.
        """
        strings = Strings()
        files = (codes_of_file(path, strings, on_error) for path in files_of(paths))
        return cls(chain.from_iterable(files), strings, rules)

    def search(self, pattern: str | TreePattern) -> Iterator[TreeMatch]:
        """The matches of a pattern, in the order of the trees and of their nodes.

        A match is a node and the nodes that the pattern names. There is one match for each choice of these, however
        many ways there are to choose the others.

        pattern (str or TreePattern): Such as NP < (PP <# IN).
        RAISES (PatternError): For a text that is no pattern.
        RAISES (ValueError): If a regular expression takes too long.
        """
        for number, names in matches(self, _compiled(pattern)):
            yield TreeMatch(TreeNode(self, number), {name: TreeNode(self, i) for name, i in names.items()})

    def nodes(self, pattern: str | TreePattern) -> np.ndarray:
        """The nodes that a pattern matches, in pre-order, whatever it names: much faster than `search`.

        RAISES (PatternError): For a text that is no pattern.
        RAISES (ValueError): If a regular expression takes too long.
        RETURNS (array of int64): Numbers of nodes; `TreeNode(index, number)` tells more of one.
        """
        return matching_nodes(self, _compiled(pattern))

    def has(self, label: str) -> bool:
        """Whether any node has a label, as it stands or without its functions."""
        return any(self.count(LabelTest(label, is_basic=is_basic)) for is_basic in (False, True))

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.roots) - 1

    def _set_scores(self, tree: int, brackets: Sequence[float] | None, tags: Sequence[float] | None) -> None:
        self.scores = np.full(len(self.label), np.nan) if self.scores is None else self.scores
        ids = np.arange(self.roots[tree], self.roots[tree + 1])
        is_word = self.end[ids] == ids + 1
        is_tag = np.append(is_word[1:], False) & (self.end[ids] == ids + 2)
        if brackets is not None:
            self.scores[ids[~is_word & ~is_tag]] = brackets
        if tags is not None:
            self.scores[ids[is_tag]] = tags


def _compiled(pattern: str | TreePattern) -> TreePattern:
    return TreePattern(pattern) if isinstance(pattern, str) else pattern


# What is found -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree in an index.

    index (TreeIndex): Where it stands.
    number (int): The node's, in pre-order of all trees.
    """

    index: TreeIndex
    number: int

    @property
    def label(self) -> str:
        """The label, the tag, or the word."""
        return self.index.string(self.number)

    @property
    def tree_number(self) -> int:
        """The tree that it is of, from 0."""
        return int(self.index.tree_of(np.array(self.number)))

    @property
    def start(self) -> int:
        """The first word of the tree that is below it."""
        return int(self.index.start[self.number] - self.index.start[self.root.number])

    @property
    def end(self) -> int:
        """The word of the tree after the last below it."""
        return int(self.index.stop[self.number] - self.index.start[self.root.number])

    @property
    def root(self) -> TreeNode:
        """The root of its tree."""
        return TreeNode(self.index, int(self.index.roots[self.tree_number]))

    @property
    def is_word(self) -> bool:
        return int(self.index.end[self.number]) == self.number + 1

    @property
    def is_tag(self) -> bool:
        """Whether it has a word below it, and nothing else."""
        return int(self.index.end[self.number]) == self.number + 2

    @property
    def parent(self) -> TreeNode | None:
        above = int(self.index.parent[self.number])
        return TreeNode(self.index, above) if above != NONE else None

    def ancestors(self) -> Iterator[TreeNode]:
        """The nodes above it, from its parent up."""
        node = self
        while (above := node.parent) is not None:
            yield above
            node = above

    @property
    def children(self) -> list[TreeNode]:
        found = [] if self.is_word else [self.number + 1]
        while found and (right := int(self.index.right[found[-1]])) != NONE:
            found.append(right)
        return [TreeNode(self.index, i) for i in found]

    @property
    def head(self) -> TreeNode:
        """The word that is its head, by the rules of the index."""
        node = self
        while not node.is_word:
            node = TreeNode(self.index, int(self.index.heads(np.array([node.number]))[0]))
        return node

    @property
    def words(self) -> list[str]:
        """The words below it, or the word that it is."""
        ids = np.arange(self.number, self.index.end[self.number])
        return [self.index.strings[i] for i in self.index.label[ids[self.index.end[ids] == ids + 1]].tolist()]

    @property
    def probability(self) -> float | None:
        """The posterior probability of its bracket or tag; None where nothing is known."""
        scores = self.index.scores
        return None if scores is None or np.isnan(scores[self.number]) else float(scores[self.number])

    @property
    def tree(self) -> Tree:
        """The subtree; of a word, with its tag."""
        index = self.index
        top = int(index.parent[self.number]) if self.is_word else self.number
        below: dict[int, list[Tree]] = {i: [] for i in range(top, index.end[top])}
        for i in range(index.end[top] - 1, top - 1, -1):
            if index.end[i] > i + 1:  # no word
                is_tag = index.end[i + 1] == i + 2 == index.end[i]
                tree = Tree(index.string(i), below[i][::-1], index.string(i + 1) if is_tag else None)
                below.setdefault(int(index.parent[i]), []).append(tree)
        return tree

    def __repr__(self) -> str:
        return f"TreeNode({self.label!r}, {' '.join(self.words)!r})"


@dataclass(frozen=True)
class TreeMatch:
    """A node that a pattern matches.

    node (TreeNode): The node.
    names (dict of str to TreeNode): The nodes that the pattern names; not those of a part that is optional, or of an
        alternative, and did not match.
    """

    node: TreeNode
    names: dict[str, TreeNode]

    @property
    def probability(self) -> float | None:
        """The least posterior probability of the node and of the named ones; None where nothing is known."""
        known = [node.probability for node in (self.node, *self.names.values())]
        return min((each for each in known if each is not None), default=None)
