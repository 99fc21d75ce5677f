"""Dependencies between the words of a tree, by its heads, and the format CoNLL-U."""

from __future__ import annotations

from typing import NamedTuple

from spacy_lpcfg.trees.heads import ENGLISH, HeadRules
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.trees.tree import Tree

NO_HEAD = -1


class Dependency(NamedTuple):
    """What a word depends on.

    head (int): The position of its head; NO_HEAD of the word that is the head of all.
    parent (str): The label of the node in which it depends on its head; "" of the head of all.
    phrase (str): The label of the largest node that it is the head of.
    """

    head: int
    parent: str
    phrase: str

    @property
    def label(self) -> str:
        """Both labels: S>NP of a subject, VP>NP of an object; "root" of the head of all."""
        return "root" if self.head == NO_HEAD else f"{self.parent}>{self.phrase}"


def dependencies(tree: Tree, rules: HeadRules = ENGLISH) -> list[Dependency]:
    """What each word of a tree depends on.

    The head of a node depends on the head of the node above it, unless it is the same word.

    tree (Tree): Any tree; its labels are taken as they stand.
    rules (HeadRules): The rules of its language.
    RETURNS (list of Dependency): One a word. They make a tree without crossing lines.
    """
    found: list[Dependency] = []

    def head_of(node: Tree, heads: list[int]) -> int:
        if node.is_leaf:
            found.append(Dependency(NO_HEAD, "", node.label))
            return len(found) - 1
        head = heads[rules.head(node.label, [child.label for child in node.children])]
        for child, word in zip(node.children, heads, strict=True):
            if word != head:
                found[word] = Dependency(head, node.label, child.label)
        return head

    word = tree.fold(head_of)
    found[word] = Dependency(NO_HEAD, "", tree.label)
    return found


def conllu(tree: Tree, rules: HeadRules = ENGLISH) -> str:
    """The lines of a sentence in CoNLL-U: words as in text, tags as XPOS, and dependencies; "_" for what is not known.

    tree (Tree): Any tree.
    rules (HeadRules): The rules of its language.
    """
    words = [unescape_token(word) for word in tree.words]
    lines = [f"# text = {' '.join(words)}"]
    for i, (word, tag, each) in enumerate(zip(words, tree.tags, dependencies(tree, rules), strict=True), start=1):
        lines.append("\t".join((str(i), word, "_", "_", tag, "_", str(each.head + 1), each.label, "_", "_")))
    return "\n".join(lines) + "\n"
