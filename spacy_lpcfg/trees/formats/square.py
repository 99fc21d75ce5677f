"""Read trees in square brackets, as linguists and the LaTeX package forest write them: `[S [NP It] [VP [V rained]]]`.

A bracket with a label alone is a word, `[N [rain]]`. Words beside each other, `[NP the old ferry]`, get the tag X.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import OpenNode, TreeBuilder

_TO_ROUND = str.maketrans("[]", "()")
_UNTAGGED = "X"


class SquareBuilder(TreeBuilder):
    """A builder of trees in square brackets, which `to_round` has replaced by parentheses."""

    def _text(self, token: str, number: int) -> None:
        if self._stack and self._stack[-1].label is not None:
            self._stack[-1].children.append(Tree("", word=token))
        else:
            super()._text(token, number)

    def _closed(self, node: OpenNode, number: int) -> list[Tree]:
        if node.label and not node.children and self._stack:
            return [Tree("", word=node.label)]
        if node.label and len(node.children) == 1 and _is_bare(node.children[0]):
            return [Tree(node.label, word=node.children[0].word)]
        self.dropped[f"words without a tag, which is now {_UNTAGGED}"] += sum(map(_is_bare, node.children))
        node.children = [Tree(_UNTAGGED, word=tree.word) if _is_bare(tree) else tree for tree in node.children]
        return super()._closed(node, number)


def _is_bare(tree: Tree) -> bool:
    return tree.is_leaf and not tree.label


def to_round(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines in which square brackets are replaced by parentheses, and the parentheses of words are escaped."""
    for line in lines:
        yield line.replace("(", "-LRB-").replace(")", "-RRB-").translate(_TO_ROUND)
