"""`TreeIndex`, which answers many pattern searches in a collection of trees, with its nodes and matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from spacy_lpcfg.queries.arrays import NONE, TreeArrays
from spacy_lpcfg.queries.matching import OnStep, matches, matching_nodes
from spacy_lpcfg.queries.pattern import ROOT_LABEL, LabelTest, TreePattern
from spacy_lpcfg.queries.reading import Sources, Strings, codes_of_file, codes_of_trees
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.files import files_of
from spacy_lpcfg.trees.heads import ENGLISH
from spacy_lpcfg.trees.transforms import ROOT_LABELS

Scores = tuple[Sequence[float] | None, Sequence[float] | None]
"""Posterior probabilities of the brackets and of the tags of a tree, each in their order; None where none are known."""


class TreeIndex(TreeArrays):
    """An index of trees for pattern searches; build it with `from_trees` or `read`.

    `len(index)` is the number of trees.

    scores (float64 (n_nodes,), or None): Posterior probabilities of constituents and tags; nan if unknown.
    sources (list of SentenceSource or None): The metadata of each tree's sentence, such as its ID.
    """

    scores: np.ndarray | None = None
    sources: Sources

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], rules: HeadRules = ENGLISH, scores: Iterable[Scores] = ()) -> TreeIndex:
        """Index trees as they are: artificial roots, function labels and empty elements are kept.

        trees (iterable of Tree): The trees.
        rules (HeadRules): Head rules of the treebank's language, for relations such as <#.
        scores (iterable of Scores): For each tree a pair: the posterior probabilities of its constituents, in the order
            of `spans()`, and of its tags, each None if unknown. () for an index without probabilities.
        """
        strings = Strings()
        sources: Sources = []
        index = cls(codes_of_trees(trees, strings, sources), strings, rules)
        index.sources = sources
        for number, (brackets, tags) in enumerate(scores):
            index._set_scores(number, brackets, tags)
        return index

    @classmethod
    def read(
        cls,
        paths: PathLike | Iterable[PathLike],
        rules: HeadRules = ENGLISH,
        *,
        on_error: OnError = None,
        dropped: Counter[str] | None = None,
    ) -> TreeIndex:
        """Index the trees of Penn Treebank files, several times faster than with `read_trees`.

        paths (path or iterable of paths): Files; folders, searched for `.mrg` files, plain or gzipped; or glob
            patterns.
        rules (HeadRules): Head rules of the treebank's language, for relations such as <#.
        on_error (callable or None), dropped (Counter or None): As for `read_trees`.
        RAISES (TreebankError): For a malformed tree or file, as `read_trees` does.
            (FileNotFoundError): If a path does not exist, or a folder or pattern has no such files.
        """
        strings = Strings()
        sources: Sources = []
        files = (codes_of_file(path, strings, sources, on_error, dropped) for path in files_of(paths))
        index = cls(chain.from_iterable(files), strings, rules)
        index.sources = sources
        return index

    def below_root(self) -> TreeIndex:
        """Return an index of the trees below a root ROOT, without `scores`; itself if all trees have that root."""
        if all(self.string(int(root)) == ROOT_LABEL for root in self.roots[:-1]):
            return self
        trees = (TreeNode(self, int(root)).tree for root in self.roots[:-1])
        index = TreeIndex.from_trees(map(below_root, trees), self.rules)
        index.sources = self.sources
        return index

    def tree(self, number: int) -> TreeNode:
        """Return the root of tree `number`, counted from 0."""
        return TreeNode(self, int(self.roots[number]))

    def search(self, pattern: str | TreePattern, *, on_step: OnStep | None = None) -> Iterator[TreeMatch]:
        """Yield the matches of a pattern, in the order of the trees and of their nodes.

        A match is the matched node with the nodes that the pattern names. Each combination of these is yielded once,
        however many ways there are to match the unnamed nodes.

        pattern (str or TreePattern): A pattern in Tregex's language, such as NP < (PP <# IN).
        on_step (callable or None): Called in each step of the backtracking search with 1 + the number of nodes that it
            reaches; raises an error to end the search.
        YIELDS (TreeMatch): The matches.
        RAISES (PatternError): If the text is not a valid pattern.
            (ValueError): If a regular expression takes too long.
        """
        for number, bound in matches(self, _compiled(pattern), on_step):
            names = {name: TreeNode(self, i) for name, i in bound.items() if isinstance(i, int)}
            variables = {name.removeprefix("%"): text for name, text in bound.items() if isinstance(text, str)}
            yield TreeMatch(TreeNode(self, number), names, variables)

    def nodes(self, pattern: str | TreePattern) -> np.ndarray:
        """Return the nodes that a pattern matches, in pre-order: much faster than `search`, but without named nodes.

        RETURNS (int64, (n,)): Node numbers; `TreeNode(index, number)` gives access to a node.
        RAISES (PatternError): If the text is not a valid pattern.
            (ValueError): If a regular expression takes too long.
        """
        return matching_nodes(self, _compiled(pattern))

    def has(self, label: str) -> bool:
        """Return whether any node has this label, with or without its function labels."""
        return any(self.count(LabelTest(label, is_basic=is_basic)) for is_basic in (False, True))

    def __len__(self) -> int:
        return len(self.roots) - 1

    def _set_scores(self, tree: int, brackets: Sequence[float] | None, tags: Sequence[float] | None) -> None:
        """Set the probabilities of the constituents and of the tags of a tree, each in pre-order."""
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


def below_root(tree: Tree) -> Tree:
    """Return a tree with the root ROOT, which is added, or replaces another artificial root such as TOP."""
    return Tree(ROOT_LABEL, tree.children if tree.label in ROOT_LABELS and tree.children else [tree])


# Nodes and matches -------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree in an index.

    index (TreeIndex): The index that holds the tree.
    number (int): The number of the node, in pre-order over all trees.
    """

    index: TreeIndex
    number: int

    @property
    def label(self) -> str:
        """The label, the tag, or the word."""
        return self.index.string(self.number)

    @property
    def tree_number(self) -> int:
        """The number of the node's tree in the index, from 0."""
        return int(self.index.tree_of(np.array(self.number)))

    @property
    def start(self) -> int:
        """The position in the sentence of the first word below the node."""
        return int(self.index.start[self.number] - self.index.start[self.root.number])

    @property
    def end(self) -> int:
        """The position in the sentence after the last word below the node."""
        return int(self.index.stop[self.number] - self.index.start[self.root.number])

    @property
    def root(self) -> TreeNode:
        """The root of the node's tree."""
        return TreeNode(self.index, int(self.index.roots[self.tree_number]))

    @property
    def is_word(self) -> bool:
        return int(self.index.end[self.number]) == self.number + 1

    @property
    def is_tag(self) -> bool:
        """Whether the node is a preterminal: one word below it, and nothing else."""
        return int(self.index.end[self.number]) == self.number + 2

    @property
    def parent(self) -> TreeNode | None:
        above = int(self.index.parent[self.number])
        return TreeNode(self.index, above) if above != NONE else None

    def ancestors(self) -> Iterator[TreeNode]:
        """Yield the ancestors of the node, from its parent up to the root."""
        node = self
        while (above := node.parent) is not None:
            yield above
            node = above

    @property
    def children(self) -> list[TreeNode]:
        numbers = [] if self.is_word else [self.number + 1]
        while numbers and (right := int(self.index.right[numbers[-1]])) != NONE:
            numbers.append(right)
        return [TreeNode(self.index, i) for i in numbers]

    @property
    def head(self) -> TreeNode:
        """The word that heads the node, by the head rules of the index."""
        node = self
        while not node.is_word:
            node = TreeNode(self.index, int(self.index.heads(np.array([node.number]))[0]))
        return node

    @property
    def words(self) -> list[str]:
        """The words below the node, or the word itself."""
        ids = np.arange(self.number, self.index.end[self.number])
        return [self.index.strings[i] for i in self.index.label[ids[self.index.end[ids] == ids + 1]].tolist()]

    @property
    def probability(self) -> float | None:
        """The posterior probability of the constituent or tag; None if unknown."""
        scores = self.index.scores
        return None if scores is None or np.isnan(scores[self.number]) else float(scores[self.number])

    @property
    def tree(self) -> Tree:
        """The subtree below the node; for a word, its tag with the word."""
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
    """A match of a pattern in a tree: the matched node and the named nodes.

    node (TreeNode): The node that matches the root of the pattern.
    names (dict of str to TreeNode): The nodes that the pattern names; a name in an optional condition or an alternative
        that did not match is absent.
    variables (dict of str to str): The texts that groups of regular expressions matched, by their variables, such as x
        in /-(.*)/#1%x.
    """

    node: TreeNode
    names: dict[str, TreeNode]
    variables: dict[str, str]

    @property
    def probability(self) -> float | None:
        """The lowest posterior probability of the matched and the named nodes; None if all are unknown."""
        known = [node.probability for node in (self.node, *self.names.values())]
        return min((probability for probability in known if probability is not None), default=None)
