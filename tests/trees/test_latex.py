"""Trees as LaTeX."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.trees import Tree, parse_trees, to_latex
from spacy_lpcfg.trees.indented import indented
from spacy_lpcfg.trees.transforms import unescape_token

(PRICE,) = parse_trees("(S (NP (PRP$ Its) (NN price)) (VP (VBD fell) (NP (CD 5) (NN %))) (. .))")
FOREST = r"""\begin{forest}
[S
  [NP [{PRP\$} [Its]] [NN [price]]]
  [VP [VBD [fell]]
    [NP [CD [5]] [NN [{\%}]]]] [{.} [{.}]]]
\end{forest}"""
QTREE = r"""\Tree [.S
  [.NP [.{PRP\$} Its ] [.NN price ] ]
  [.VP [.VBD fell ]
    [.NP [.CD 5 ] [.NN {\%} ] ] ] [.{.} {.} ] ]"""


@pytest.mark.parametrize(("style", "expected"), [("forest", FOREST), ("qtree", QTREE)])
def test_latex_of_a_tree(style, expected):
    assert to_latex(PRICE, style) == expected


@pytest.mark.parametrize("write", [indented, partial(to_latex, style="forest"), partial(to_latex, style="qtree")])
def test_text_of_a_deep_tree_grows_with_its_levels(write):
    """By 200 blanks a level at most; it is read as the same tree."""
    tree = Tree("B", word="b")
    for _ in range(3_000):
        tree = Tree("A", [Tree("B", word="b"), tree])
    assert len(write(tree)) < 3_000 * 250


def test_latex_is_forest_if_nothing_is_said():
    assert to_latex(PRICE) == FOREST
    with pytest.raises(ValueError, match="Expected a style of forest or qtree, got 'tikz'"):
        to_latex(PRICE, "tikz")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("-LRB-", "{(}"), ("1\\/2", "{1/2}"), ("``", "{``}"), ("[", "{[}"), ("a_b", r"{a\_b}"), ("Zürich", "Zürich"),
        ("co-op", "{co-op}"),
        ("\\{}$&#^~<>|\"", r"{\textbackslash{}\{\}\$\&\#\textasciicircum{}\textasciitilde{}\textless{}\textgreater{}"
        r"\textbar{}\textquotedbl{}}"),
    ],
)  # fmt: skip
def test_latex_of_words_with_special_characters(word, expected):
    assert to_latex(Tree("X", word=word), "qtree") == rf"\Tree [.X {expected} ]"
    assert f"[X [{expected}]]" in to_latex(Tree("X", word=word))


SIGNS = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<",
    r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"',
}  # fmt: skip
TOKEN = re.compile(r"\{((?:\\text\w+\{\}|\\[{}$&#_%]|[^\\{}])*)\}|([^\W_]+)|([\[\].])")


def read(drawn: str, style: str) -> Tree:
    """The tree of a drawing, by the grammar of brackets and braces alone."""

    def text(braced: str, plain: str) -> str:
        return plain or re.sub(r"\\text\w+\{\}|\\.", lambda sign: SIGNS.get(sign[0], sign[0][1:]), braced)

    tokens = [(mark, text(braced, plain)) for braced, plain, mark in TOKEN.findall(drawn) if mark != "."]

    def node(at: int) -> tuple[Tree | str, int]:
        label, children, at = tokens[at + 1][1], [], at + 2
        while tokens[at][0] != "]":
            child, at = node(at) if tokens[at][0] == "[" else (tokens[at][1], at + 1)
            children.append(child)
        if style == "forest" and not children:
            return label, at + 1
        is_leaf = isinstance(children[0], str)
        return Tree(label, () if is_leaf else children, children[0] if is_leaf else None), at + 1

    return node(0)[0]


@pytest.mark.parametrize("style", ["forest", "qtree"])
@given(tree=trees(st.sampled_from(["S", "NP-SBJ", "ADVP|PRT", "x_y"])))
def test_latex_has_the_tree(style, tree):
    drawn = (
        to_latex(tree, style).removeprefix("\\begin{forest}\n").removesuffix("\n\\end{forest}").removeprefix("\\Tree ")
    )
    words = tree.fold(
        lambda node, below: Tree(
            node.label, below, node.word if node.word in (None, "``", "''") else unescape_token(node.word)
        )
    )
    assert read(drawn, style) == words
