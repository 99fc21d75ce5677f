"""Read GreynirCorpus, where a leaf has a tag, one or several words, and notes: `(ao í gær (lemma í gær))`."""

from __future__ import annotations

from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import TREE_NAMES, OpenNode, TreeBuilder

_NAMES = TREE_NAMES | {"META"}
_ROOTS = ("S0", "S0-X")


class GreynirBuilder(TreeBuilder):
    """A builder of trees of GreynirCorpus; a leaf of several words becomes several leaves with the same tag."""

    def finished(self, tree: Tree) -> Tree | None:
        children = tree.children if tree.label == "" else (tree,)
        below = [child for child in children if child.label not in _NAMES]
        if not below:
            self.dropped["trees without words"] += 1
            return None
        return Tree("", [part for child in below for part in (child.children if child.label in _ROOTS else [child])])

    def _open_beside_word(self, parent: OpenNode, number: int) -> None:
        """Accept an opening parenthesis after a word, where it begins a note on the word."""

    def _another_word(self, node: OpenNode, token: str, number: int) -> None:
        node.word = f"{node.word} {token}"

    def _closed(self, node: OpenNode, number: int) -> list[Tree]:
        label = node.label or ""
        if node.word is None:
            return [Tree(label, node.children)] if node.children else []
        self.dropped["lemmas and notes"] += len(node.children)
        words = node.word.split(" ")
        if len(words) > 1 and not self._stack:
            raise self._error(f"Expected a tree, but got the words {node.word!r} alone. Remove them.", number)
        if self._stack and self._stack[-1].word is not None:
            return [Tree(label, word=words[0])]  # a note
        if len(words) > 1 and not any(open_node.label in _NAMES for open_node in self._stack):
            self.dropped["words of leaves of several split"] += len(words)
        return [Tree(label, word=word) for word in words]
