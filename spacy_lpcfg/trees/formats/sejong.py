"""Read the Sejong Treebank of Korean: a line `; text`, then its tree, with words as morphemes, `책상/NNG + 의/JKG`.

In the dialect "sejong" a word is one leaf, as in the text, with the tags of its morphemes, `(NNG+JKG 책상의)`; in
"sejong-morphemes" each morpheme is a leaf.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from spacy_lpcfg.trees.brackets import build_trees
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.transforms import escape_token
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import OpenNode, TreeBuilder

_BRACKET = re.compile(r"[()](?=/[A-Z])")  # a morpheme
_FUNCTION = re.compile(r"(?<=[A-Z])_(?=[A-Z])")


class SejongBuilder(TreeBuilder):
    """A builder of the trees that follow one line of text.

    path, dropped: As for `TreeBuilder`.
    forms (list of str): The words of the text. Unless the tree has as many words, its words are spelled as their
        morphemes.
    joined (bool): Whether each word is one leaf, instead of each morpheme.
    """

    def __init__(self, path: str, dropped: Counter[str], *, forms: list[str], joined: bool) -> None:
        super().__init__(path, dropped)
        self.forms, self.joined = forms, joined

    def finished(self, tree: Tree) -> Tree | None:
        forms = self.forms if len(self.forms) == len(tree) else [""] * len(tree)
        numbered = iter(forms)
        return tree.fold(lambda node, below: self._node(node, below, numbered))

    def _node(self, node: Tree, below: list[Tree], forms: Iterator[str]) -> Tree:
        label = _FUNCTION.sub("-", node.label)
        if node.word is None:
            return Tree(label, below)
        morphemes = [part.rpartition("/") for part in node.word.split(" ")]
        if not all(form and tag for form, _, tag in morphemes):
            raise ValueError(f"Expected morphemes such as 책상/NNG + 의/JKG, but got {node.word}. Mend them.")
        form = next(forms)
        if not self.joined:
            return Tree(label, [Tree(tag, word=escape_token(form)) for form, _, tag in morphemes])
        self.dropped["words spelled as their morphemes"] += not form
        whole = form or "".join(form for form, _, _ in morphemes)
        return Tree(label, [Tree("+".join(tag for _, _, tag in morphemes), word=escape_token(whole))])

    def _another_word(self, node: OpenNode, token: str, number: int) -> None:
        node.word = node.word if token == "+" else f"{node.word} {token}"


def read_sejong(
    joined: bool, lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]
) -> Iterator[Tree]:
    """Yield the trees of a file of the Sejong Treebank.

    joined (bool): Whether each word is one leaf with the tags of its morphemes, NNG+JKG, instead of a leaf for each
        morpheme.

    The other arguments and errors are those of `TreeFormat.read`.
    """
    for first, text, part in _texts(lines):
        builder = SejongBuilder(path, dropped, forms=text.split(), joined=joined)
        yield from build_trees(part, builder, on_error=on_error, first_line=first)


def _texts(lines: Iterable[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each text with the lines of its trees: the number of the first of these lines, the text, and the lines."""
    first, text, part = 1, "", list[str]()
    for number, line in enumerate(lines, 1):
        if line.startswith(";"):
            yield first, text, part
            first, text, part = number + 1, line.lstrip("; ").strip(), []
        else:
            part.append(_BRACKET.sub(lambda match: escape_token(match[0]), line))
    yield first, text, part
