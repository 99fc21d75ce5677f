"""Trees drawn: SVG and HTML by svgling, characters by the pretty printer of NLTK."""

from __future__ import annotations

from typing import Any, Literal
from unicodedata import east_asian_width

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.visible import visible
from spacy_lpcfg.trees.nltk import to_nltk
from spacy_lpcfg.trees.tree import Tree

_WIDEST = 4096  # characters of a label that is not broken into lines; not all of NLTK's versions take None


def tree_svg(tree: Tree) -> str:
    """The tree as an SVG element, which is a file of its own as well.

    RAISES (ImportError): Without svgling. (ValueError): If the tree is too deep to be drawn, at some 250 levels.
    """
    svgling = extra("svgling", "A drawn tree")
    glyphs_per_em = 1.0 if any(map(_has_wide, tree.nodes())) else 2.0
    try:
        svg = svgling.draw_tree(tree.fold(_nested), average_glyph_width=glyphs_per_em)._repr_svg_()
    except RecursionError as error:
        raise _too_deep(tree) from error
    return svg.replace("<svg width=", '<svg overflow="visible" width=')  # of the nodes, so that no word is cut off


def tree_html(tree: Tree) -> str:
    """The SVG of a tree in an element that scrolls where the page is too narrow; same errors as `tree_svg`."""
    return f'<div style="overflow-x: auto">{tree_svg(tree)}</div>'


def tree_text(tree: Tree, lines: Literal["unicode", "ascii"] = "unicode") -> str:
    """The tree in lines of characters of one width, for a terminal.

    lines (str): what its branches are drawn with: "unicode" has characters for it, "ascii" does with _ and |.
    RAISES (ImportError): Without NLTK. (ValueError): If the tree is too deep to be drawn.
    """
    printer = extra("nltk.tree.prettyprinter", "A tree in a terminal").TreePrettyPrinter
    try:
        drawn = printer(to_nltk(_visible(tree))).text(unicodelines=lines == "unicode", maxwidth=_WIDEST)
    except RecursionError as error:
        raise _too_deep(tree) from error
    return "\n".join(line.rstrip(" ") for line in drawn.splitlines())


def _has_wide(node: Tree) -> bool:
    """Whether a node has characters as wide as they are high, such as those of Chinese."""
    return any(east_asian_width(char) in "WF" for char in node.label + (node.word or ""))


def _nested(node: Tree, below: list[Any]) -> tuple[Any, ...]:
    return (visible(node.label), *(below or [visible(node.word or "")]))


def _visible(tree: Tree) -> Tree:
    return tree.fold(
        lambda node, below: Tree(visible(node.label), below, None if node.word is None else visible(node.word))
    )


def _too_deep(tree: Tree) -> ValueError:
    depth = tree.fold(lambda node, below: 1 + max(below, default=0))
    return ValueError(f"A tree of {depth} levels is too deep to be drawn: draw the parts of it that matter.")
