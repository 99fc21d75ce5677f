"""Head-based conversion of trees to dependencies, and output in CoNLL-U."""

from __future__ import annotations

from typing import NamedTuple

from spacy_lpcfg.trees.heads import ENGLISH, HeadRules
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.trees.tree import Tree

NO_HEAD = -1


class Dependency(NamedTuple):
    """The dependency of a word on its head.

    head (int): The position of the head; NO_HEAD for the root.
    parent (str): The label of the node in which the word depends on its head; "" for the root.
    phrase (str): The label of the largest node that the word heads.
    """

    head: int
    parent: str
    phrase: str

    @property
    def label(self) -> str:
        """The relation as both labels: S>NP for a subject, VP>NP for an object; "root" for the root."""
        return "root" if self.head == NO_HEAD else f"{self.parent}>{self.phrase}"


def dependencies(tree: Tree, rules: HeadRules = ENGLISH) -> list[Dependency]:
    """Convert a constituency tree to dependencies.

    The head of a node depends on the head of the node above it, unless both are the same word.

    tree (Tree): Any tree.
    rules (HeadRules): The head rules of its language.
    RETURNS (list of Dependency): The dependency of each word; together they form a projective tree.
    """
    result: list[Dependency] = []

    def head_of(node: Tree, heads: list[int]) -> int:
        if node.is_leaf:
            result.append(Dependency(NO_HEAD, "", node.label))
            return len(result) - 1
        head = heads[rules.head(node.label, [child.label for child in node.children])]
        for child, word in zip(node.children, heads, strict=True):
            if word != head:
                result[word] = Dependency(head, node.label, child.label)
        return head

    word = tree.fold(head_of)
    result[word] = Dependency(NO_HEAD, "", tree.label)
    return result


def conllu(tree: Tree, rules: HeadRules = ENGLISH) -> str:
    """Return a sentence in CoNLL-U: words as in text, tags as XPOS, and dependencies; other columns are "_".

    tree (Tree): Any tree.
    rules (HeadRules): The head rules of its language.
    """
    words = [unescape_token(word) for word in tree.words]
    lines = [f"# sent_id = {tree.sent_id}"] if tree.sent_id else []
    lines.append(f"# text = {' '.join(words)}")
    for i, (word, tag, dependency) in enumerate(zip(words, tree.tags, dependencies(tree, rules), strict=True), start=1):
        lines.append(
            "\t".join((str(i), word, "_", "_", tag, "_", str(dependency.head + 1), dependency.label, "_", "_"))
        )
    return "\n".join(lines) + "\n"
