"""Output of trees as LaTeX, for the packages forest and qtree."""

from __future__ import annotations

import re

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.indented import INDENT, MOST_INDENTS
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.trees.tree import Tree

STYLES = ("forest", "qtree")
_PLAIN = re.compile(r"\w+")
_SPECIAL = {
    **{character: f"\\{character}" for character in "{}$&#_%"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_QUOTES = ("``", "''")


def to_latex(tree: Tree, style: str = "forest") -> str:
    r"""Return a tree as LaTeX code with one phrase a line, for the package forest or qtree.

    tree (Tree): Any tree. Words are written as in text, without treebank escapes.
    style (str): "forest", an environment of `\usepackage{forest}`; or "qtree", a command of `\usepackage{qtree}` or
        `\usepackage{tikz-qtree}`.
    RAISES (ValueError): If the style is unknown.
    """
    if style not in STYLES:
        raise ValueError(f"Expected a style of {' or '.join(STYLES)}, got {shown(style)}.")
    is_forest = style == "forest"
    dot, leaf, close = ("", " [{} [{}]]", "]") if is_forest else (".", " [.{} {} ]", " ]")
    pieces: list[str] = []
    stack: list[tuple[int, Tree | None]] = [(0, tree)]
    while stack:
        depth, node = stack.pop()
        if node is None:
            pieces.append(close)
        elif node.word is not None:
            word = node.word if node.word in _QUOTES else unescape_token(node.word)
            pieces.append(leaf.format(_escaped(node.label), _escaped(word)))
        else:
            pieces.append(f"\n{INDENT * min(depth, MOST_INDENTS)}[{dot}{_escaped(node.label)}")
            stack += [(depth, None), *((depth + 1, child) for child in node.children[::-1])]
    drawn = "".join(pieces).strip()
    return f"\\begin{{forest}}\n{drawn}\n\\end{{forest}}" if is_forest else f"\\Tree {drawn}"


def _escaped(text: str) -> str:
    """Escape the special characters of a label or word, and put it in braces unless it has only letters and digits."""
    if _PLAIN.fullmatch(text) and "_" not in text:
        return text
    return "{" + "".join(_SPECIAL.get(character, character) for character in text) + "}"
