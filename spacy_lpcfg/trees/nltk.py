"""Convert trees to and from NLTK."""

from __future__ import annotations

import re
from typing import Any

from spacy_lpcfg.checks import shown
from spacy_lpcfg.extras import extra
from spacy_lpcfg.trees.brackets import check_writable
from spacy_lpcfg.trees.transforms import escape_token
from spacy_lpcfg.trees.tree import Tree

_BRACKET = re.compile(r"\\?([()])")


def to_nltk(tree: Tree) -> Any:
    """Convert a tree to an `nltk.Tree` with the words as leaves; the inverse of `from_nltk`.

    RAISES (ImportError): If NLTK is missing.
    """
    nltk_tree = extra("nltk.tree", "to_nltk()", "nltk").Tree
    return tree.fold(lambda node, below: nltk_tree(node.label, below or [node.word]))


def from_nltk(tree: Any) -> Tree:
    """Convert an `nltk.Tree`, or an instance of a subclass; parentheses in words become `-LRB-` and `-RRB-`.

    tree (nltk.Tree): A tree with string labels and each word below a tag of its own.
    RAISES (ValueError): If the tree has another form, such as words beside constituents, or a label or word cannot be
        written in brackets, such as `ice cream` with its blank.
    """
    order, stack = [], [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, str):
            order.append((node, _label(node)))
            stack.extend(node)
    built: list[Tree] = []
    for node, label in reversed(order):
        if len(node) == 1 and isinstance(node[0], str):
            built.append(Tree(label, word=_escaped(node[0])))
            continue
        if not len(node) or any(isinstance(child, str) for child in node):
            raise ValueError(
                f"Expected a tag above each word, as in (NP (DT the) (NN cat)), but {shown(label)} has the children "
                f"{shown([child if isinstance(child, str) else _label(child) for child in node])}."
            )
        children = built[-len(node) :]
        del built[-len(node) :]
        built.append(Tree(label, children))
    if not built:
        raise ValueError(
            f"Expected an nltk.Tree, got the string {shown(tree)}: read brackets with nltk.Tree.fromstring."
        )
    check_writable(built[0])
    return built[0]


def _escaped(word: str) -> str:
    r"""Escape parentheses, which NLTK also writes as `\(` and `\)`, as `-LRB-` and `-RRB-`."""
    return _BRACKET.sub(lambda match: escape_token(match[1]), word)


def _label(node: Any) -> str:
    label = getattr(node, "label", None)
    name = label() if callable(label) else label
    if not callable(label) or not isinstance(name, str):
        raise ValueError(f"Expected an nltk.Tree whose labels are strings, got {shown(node)}.")
    return name
