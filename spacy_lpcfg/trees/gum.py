"""Corrections of the GUM treebank towards the annotation guidelines of the Penn Treebank.

The constituency trees of GUM (`const/` of github.com/amir-zeldes/gum) were made by a parser from gold tags, with
function labels from gold dependencies. So they deviate systematically from manual annotation: `(SBAR (NP-SBJ (WP who))
...)`. Each function in `CORRECTIONS` repairs one deviation, by Bies et al. (1995), Bracketing Guidelines for Treebank
II Style, or by Santorini (1990), Part-of-Speech Tagging Guidelines. Words and function labels such as `-SBJ` are kept.
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
    """Apply all `CORRECTIONS` to a tree of GUM.

    tree (Tree): A tree of GUM as distributed, or without its function labels and root.
    RETURNS (Tree): The corrected tree of the same words. Correcting it again changes nothing.
    """
    before = None
    while tree != before:  # one correction may enable another
        before = tree
        for correct in CORRECTIONS:
            tree = correct(tree)
    return tree


def phrases_at_root(tree: Tree) -> Tree:
    """Put a command under `S` over its `VP`, and a single word under a phrase: `(S (VP (VB See)))`, not `(VB See)`."""
    root, top = strip_root(tree)
    is_rooted = top is not tree
    if top.is_leaf and top.label[:2] in _ALONE:
        top = Tree(_ALONE[top.label[:2]], [top])
    if _category(top) == "VP":
        top = Tree("S", [top])
    return Tree(root, [top]) if is_rooted else top


def wh_phrases(tree: Tree) -> Tree:
    """Label interrogative and relative phrases `WHNP`, `WHADVP`, `WHADJP` or `WHPP`, also as subjects (Bies,
    wh-phrases).
    """

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
    """Put words with the tag `UH` under `INTJ`, and under no other phrase (Bies, INTJ)."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        category = _category(node)
        if category in _NOT_OF_INTERJECTIONS and {child.label for child in children} - _PUNCTUATION == {"UH"}:
            return Tree("INTJ", children)
        return _with_children(node, children if category == "INTJ" else _in_phrases(children, {"UH"}, "INTJ"))

    return tree.fold(mend)


def fillers(tree: Tree) -> Tree:
    """Dissolve a `PP` or `SBAR` that the filler *like* introduces, since it is no preposition or conjunction.

    If `interjections` leave a `PP` or `SBAR` of an interjection and phrases, its children are attached to its parent.
    """

    def mend(node: Tree, children: list[Tree]) -> Tree:
        groups = [child.children if _opens_with_filler(child) else (child,) for child in children]
        return _with_children(node, [child for group in groups for child in group])

    return tree.fold(mend)


def parentheses(tree: Tree) -> Tree:
    """Label a bracketed phrase `PRN`, with numbers or nouns under an `NP` (Bies, PRN): `(PRN [ (NP (CD 1)) ])`."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if node.label not in ROOT_LABELS:
            children = [_parenthesis(child) for child in children]
        mended = _with_children(node, children)
        return _parenthesis(mended) if _category(node) == "PRN" else mended

    return tree.fold(mend)


def particles(tree: Tree) -> Tree:
    """Label a verb particle `PRT` (Bies, PRT), and tag the head of a `PP` as `IN` instead of `RP`."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if _category(node) == "VP":
            children = [Tree("PRT", child.children) if _is_particle(child) else child for child in children]
        elif _category(node) == "PP" and len(children) > 1:
            children = [Tree("IN", word=child.word) if child.label == "RP" else child for child in children]
        return _with_children(node, children)

    return tree.fold(mend)


def list_items(tree: Tree) -> Tree:
    """Label the number or letter of a list item `LST` (Bies, LST)."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if _category(node) in ("NP", "X") and [child.label for child in children] == ["LS"]:
            return Tree("LST", children)
        return _with_children(node, children if _category(node) == "LST" else _in_phrases(children, {"LS"}, "LST"))

    return tree.fold(mend)


def hyphens(tree: Tree) -> Tree:
    """Tag a free-standing hyphen or dash `:` (Santorini); EVALB counts the `HYPH` of later guidelines as a word."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        if node.label in ("HYPH", "SYM") and node.word in _HYPHENS:
            return Tree(":", word=node.word)
        return _with_children(node, children)

    return tree.fold(mend)


def repeated_categories(tree: Tree) -> Tree:
    """Merge a category over the same category alone, which the Penn Treebank has only beside an empty element."""

    def mend(node: Tree, children: list[Tree]) -> Tree:
        is_repeated = len(children) == 1 and not children[0].is_leaf and _category(children[0]) == _category(node)
        return _with_children(node, children[0].children if is_repeated else children)

    return tree.fold(mend)


CORRECTIONS = (
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
"""The corrections that `mended_gum` applies, in this order."""


def _category(node: Tree) -> str:
    """Return the tag of a leaf, or a phrase's label without function labels."""
    return node.label if node.is_leaf else basic_category(node.label)


def _is_wh(category: str, children: list[Tree]) -> bool:
    """Return whether a phrase is interrogative or relative, by its immediate children."""
    tags = {child.label for child in children if child.is_leaf}
    phrases = [_category(child) for child in children if not child.is_leaf]
    if category == "PP":
        return "WHNP" in phrases
    if category in ("ADVP", "ADJP"):
        return "WRB" in tags or (category == "ADJP" and "WHADVP" in phrases)
    opens = phrases[:1] == ["WHNP"] and not _CLAUSES.intersection(phrases)
    return opens or bool(tags & {"WP", "WDT", "WP$"} or {"WHPP", "WHADJP"}.intersection(phrases))


def _in_phrases(children: Iterable[Tree], tags: Container[str], label: str) -> list[Tree]:
    """Put each run of adjacent words with these tags under a phrase."""
    phrases: list[Tree] = []
    for is_word, group in groupby(children, lambda child: child.is_leaf and child.label in tags):
        members = list(group)
        phrases.extend([Tree(label, members)] if is_word else members)
    return phrases


def _opens_with_filler(node: Tree) -> bool:
    """Return whether a `PP` or `SBAR` has an interjection in place of its preposition or conjunction."""
    if _category(node) not in ("PP", "SBAR") or len(node.children) < 2:
        return False
    first, *others = node.children
    return _category(first) == "INTJ" and not any(
        (child.is_leaf and child.label not in _PUNCTUATION) or child.label.startswith("WH") for child in others
    )


def _parenthesis(node: Tree) -> Tree:
    """Return a bracketed phrase as `PRN`, and a `PRN` with its words under an `NP`; other phrases unchanged."""
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
