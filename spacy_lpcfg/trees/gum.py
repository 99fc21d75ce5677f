"""Trees of GUM, mended: what a converter made of them follows the Penn Treebank's guidelines again.

The constituency trees of GUM (`const/` of github.com/amir-zeldes/gum) are those of a parser that was given gold tags,
with functions from gold dependencies. So they have habits that annotators have not: `(SBAR (NP-SBJ (WP who)) ...)`.
Each function of `HABITS` mends one, by Bies et al. (1995), Bracketing Guidelines for Treebank II Style, or by Santorini
(1990), Part-of-Speech Tagging Guidelines. Words stay, and so do functions such as `-SBJ`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import groupby

from spacy_lpcfg.trees.transforms import ROOT_LABELS, basic_category, strip_root
from spacy_lpcfg.trees.tree import Tree

_WH = {"NP": "WHNP", "NX": "WHNP", "ADVP": "WHADVP", "ADJP": "WHADJP", "PP": "WHPP"}
_WH_WORDS = {"WP": "WHNP", "WDT": "WHNP", "WRB": "WHADVP"}
_CLAUSES = {"S", "SQ", "SINV", "SBAR", "SBARQ", "FRAG", "VP"}
_ALONE = {"VB": "VP", "NN": "NP", "CD": "NP", "JJ": "ADJP", "RB": "ADVP", "UH": "INTJ"}
_NOT_OF_INTERJECTIONS = {"ADJP", "ADVP", "CONJP", "NP", "PP", "WHADVP", "X"}
_PUNCTUATION = {",", ".", ":", "``", "''", "-LRB-", "-RRB-"}
_NOMINAL = {"CC", "CD", "FW", "HYPH", "JJ", "NN", "NNS", "NNP", "NNPS", "SYM"}
_HYPHENS = {"-", "--", "‐", "‑", "–", "––", "—"}


def mended_gum(tree: Tree) -> Tree:
    """The tree, with all of `HABITS` mended.

    tree (Tree): A tree of GUM as it is distributed, or without its functions and root.
    RETURNS (Tree): A tree of the same words. Mending it again changes nothing.
    """
    before = None
    while tree != before:  # as one mended habit may uncover another
        before = tree
        for habit in HABITS:
            tree = habit(tree)
    return tree


def phrases_at_root(tree: Tree) -> Tree:
    """A command is an `S` over its `VP`, and a word alone has a phrase: `(S (VP (VB See)))`, not `(VB See)`."""
    root, top = strip_root(tree)
    is_rooted = top is not tree
    if top.is_leaf and top.label[:2] in _ALONE:
        top = Tree(_ALONE[top.label[:2]], [top])
    if _category(top) == "VP":
        top = Tree("S", [top])
    return Tree(root, [top]) if is_rooted else top


def wh_phrases(tree: Tree) -> Tree:
    """A phrase that asks or relates is a `WHNP`, `WHADVP`, `WHADJP` or `WHPP`, as a subject too (Bies, wh-phrases)."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        category = _category(node)
        if category in _WH and _is_wh(category, children):
            return Tree(_WH[category] + node.label[len(category) :], children)
        if category in ("SBAR", "SBARQ"):
            children = [
                Tree(_WH_WORDS[child.label], [child]) if child.label in _WH_WORDS else child for child in children
            ]
        return _with_children(node, children)

    return tree.fold(mend)


def interjections(tree: Tree) -> Tree:
    """A word with the tag `UH` is an `INTJ`, and heads no other phrase (Bies, INTJ)."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        category = _category(node)
        if category in _NOT_OF_INTERJECTIONS and {child.label for child in children} - _PUNCTUATION == {"UH"}:
            return Tree("INTJ", children)
        return _with_children(node, children if category == "INTJ" else _in_phrases(children, {"UH"}, "INTJ"))

    return tree.fold(mend)


def fillers(tree: Tree) -> Tree:
    """The filler *like* is no preposition or conjunction: what it opens is a `PP` or an `SBAR` no longer.

    Where `interjections` leave a `PP` or `SBAR` of an interjection and phrases, all of these go up.
    """

    def mend(node: Tree, children: list[Tree]) -> Tree:
        parts = [child.children if _opens_with_filler(child) else (child,) for child in children]
        return _with_children(node, [part for some in parts for part in some])

    return tree.fold(mend)


def parentheses(tree: Tree) -> Tree:
    """A phrase in brackets is a `PRN`, and numbers or nouns in it are an `NP` (Bies, PRN): `(PRN [ (NP (CD 1)) ])`."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if node.label not in ROOT_LABELS:
            children = [_parenthesis(child) for child in children]
        mended = _with_children(node, children)
        return _parenthesis(mended) if _category(node) == "PRN" else mended

    return tree.fold(mend)


def particles(tree: Tree) -> Tree:
    """The particle of a verb is a `PRT` (Bies, PRT), and a word that heads a `PP` is no particle: it is `IN`."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if _category(node) == "VP":
            children = [Tree("PRT", child.children) if _is_particle(child) else child for child in children]
        elif _category(node) == "PP" and len(children) > 1:
            children = [Tree("IN", word=child.word) if child.label == "RP" else child for child in children]
        return _with_children(node, children)

    return tree.fold(mend)


def list_items(tree: Tree) -> Tree:
    """The number or letter of an item is an `LST` (Bies, LST)."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if _category(node) in ("NP", "X") and [child.label for child in children] == ["LS"]:
            return Tree("LST", children)
        return _with_children(node, children if _category(node) == "LST" else _in_phrases(children, {"LS"}, "LST"))

    return tree.fold(mend)


def hyphens(tree: Tree) -> Tree:
    """A hyphen or dash by itself has the tag `:` (Santorini): the `HYPH` of later guidelines is a word to EVALB."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if node.label in ("HYPH", "SYM") and node.word in _HYPHENS:
            return Tree(":", word=node.word)
        return _with_children(node, children)

    return tree.fold(mend)


def repeated_categories(tree: Tree) -> Tree:
    """A category is not alone below itself: where the Penn Treebank has that, an empty element stands beside it."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        is_repeated = len(children) == 1 and not children[0].is_leaf and _category(children[0]) == _category(node)
        return _with_children(node, children[0].children if is_repeated else children)

    return tree.fold(mend)


HABITS = (
    phrases_at_root,
    wh_phrases,
    interjections,
    fillers,
    parentheses,
    particles,
    list_items,
    hyphens,
    repeated_categories,
)
"""What `mended_gum` mends, in this order."""


def _category(node: Tree) -> str:
    """A phrase's label without functions, a leaf's tag."""
    return node.label if node.is_leaf else basic_category(node.label)


def _is_wh(category: str, children: list[Tree]) -> bool:
    """Whether a phrase asks or relates, by the words and phrases right below it."""
    tags = {child.label for child in children if child.is_leaf}
    phrases = [_category(child) for child in children if not child.is_leaf]
    if category == "PP":
        return "WHNP" in phrases
    if category in ("ADVP", "ADJP"):
        return "WRB" in tags or (category == "ADJP" and "WHADVP" in phrases)
    opens = phrases[:1] == ["WHNP"] and not _CLAUSES.intersection(phrases)
    return opens or bool(tags & {"WP", "WDT", "WP$"} or {"WHPP", "WHADJP"}.intersection(phrases))


def _in_phrases(children: Iterable[Tree], tags: Container[str], label: str) -> list[Tree]:
    """The children; words with these tags, as many as stand side by side, are in a phrase."""
    found: list[Tree] = []
    for is_word, group in groupby(children, lambda child: child.is_leaf and child.label in tags):
        some = list(group)
        found.extend([Tree(label, some)] if is_word else some)
    return found


def _opens_with_filler(node: Tree) -> bool:
    """Whether a `PP` or `SBAR` has an interjection in place of its preposition or conjunction."""
    if _category(node) not in ("PP", "SBAR") or len(node.children) < 2:
        return False
    first, *others = node.children
    return _category(first) == "INTJ" and not any(
        (child.is_leaf and child.label not in _PUNCTUATION) or child.label.startswith("WH") for child in others
    )


def _parenthesis(node: Tree) -> Tree:
    """The `PRN` of a phrase in brackets, and any `PRN` with its words in an `NP`; another phrase as it is."""
    if len(node.children) < 3:
        return node
    first, *inside, last = node.children
    is_bracketed = (first.label, last.label) == ("-LRB-", "-RRB-")
    if _category(node) != "PRN" and not is_bracketed:
        return node
    if any(child.label in _NOMINAL for child in inside) and all(
        child.is_leaf and child.label in {*_NOMINAL, ",", ":"} for child in inside
    ):
        inside = [Tree("NP", inside)]
    elif _category(node) != "PRN" and (len(inside) > 1 or inside[0].is_leaf):
        inside = [Tree(node.label, inside)]
    return Tree("PRN", [first, *inside, last])


def _is_particle(node: Tree) -> bool:
    return _category(node) == "ADVP" and [child.label for child in node.children] == ["RP"]


def _with_children(node: Tree, children: Iterable[Tree]) -> Tree:
    return Tree(node.label, children, node.word)
