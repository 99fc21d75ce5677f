r"""Tree transforms: binarization, unary collapsing, normalization, and token escapes.

`binarize` and `unbinarize`, and `collapse_unaries` and `expand_unaries`, are exact inverses, but for the `source` of a
tree. `normalize` and its steps cannot be undone.

A chain of unary nodes is collapsed into one node whose label joins their labels by "|", outermost first: `(S (VP (VB
Go)))` becomes the leaf `(S|VP|VB Go)`. A "|" or backslash in a label is escaped by a backslash: `ADVP|PRT` becomes
`ADVP\|PRT`. `split_chain` splits such labels.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from operator import is_

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.tree import Tree

ROOT_LABELS = ("", "ROOT", "TOP", "S1", "VROOT")
EMPTY_TAG = "-NONE-"
NEW_NODE = "@"

_SPECIAL = re.compile(r"[\\|]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CHAIN_LABEL = re.compile(r"(?:^|\|)((?:[^\\|]|\\.?)*)", re.DOTALL)

_BRACKET_NAMES = {
    "(": "-LRB-",
    ")": "-RRB-",
    "[": "-LSB-",
    "]": "-RSB-",
    "{": "-LCB-",
    "}": "-RCB-",
}
ESCAPED_BRACKETS = frozenset(_BRACKET_NAMES.values())
_STANDS_FOR = {name: bracket for bracket, name in _BRACKET_NAMES.items()}
_STANDS_FOR.update({r"\/": "/", r"\*": "*"})
_SLASHED = re.compile(r"[/*]")
_BRACKET = re.compile(r"[()\[\]{}]")
_ESCAPE = re.compile("|".join(map(re.escape, _STANDS_FOR)))


def binarize(tree: Tree, *, markov: int = 0) -> Tree:
    """Give every node at most two children, by inserting nodes whose labels begin with "@".

    Children are grouped from the left: `(VP (@VP (@VP V NP) PP) SBAR)`.

    tree (Tree): A tree; unary nodes are left as they are.
    markov (int): Number of siblings after a new node's children that its label records. With 2, the innermost new node
        of the example is `@VP->_PP_SBAR`; with 0 it is `@VP`.
    RETURNS (Tree): The binarized tree, from which `unbinarize` restores `tree`.
    RAISES (ValueError): If a label of the tree begins with "@", or `markov` is negative.
    """
    if markov < 0:
        raise ValueError(f"The Markov order is 0 or more, but got {markov}.")

    def build(node: Tree, children: list[Tree]) -> Tree:
        if node.label.startswith(NEW_NODE):
            raise ValueError(
                f"Labels that begin with {NEW_NODE!r} are those of binarization, but the tree has "
                f"the label {shown(node.label)}. Rename it in the treebank."
            )
        left = children[:1]
        for i in range(1, len(children) - 1):
            context = "".join(f"_{sibling.label}" for sibling in children[i + 1 : i + 1 + markov])
            new_label = f"{NEW_NODE}{node.label}->{context}" if context else f"{NEW_NODE}{node.label}"
            left = [Tree(new_label, (*left, children[i]))]
        return _with_children(node, left + children[1:][-1:])

    return tree.fold(build)


def unbinarize(tree: Tree) -> Tree:
    """Undo `binarize`: splice out the nodes whose labels begin with "@".

    tree (Tree): A binarized tree, of any Markov order.
    RAISES (ValueError): If the label of the root begins with "@".
    """
    if tree.label.startswith(NEW_NODE):
        raise ValueError(
            f"A binarized tree has a root with a label of its own, but got {shown(tree.label)}. Pass the whole tree."
        )

    def splice(node: Tree, groups: list[list[Tree]]) -> list[Tree]:
        children = list(chain.from_iterable(groups))
        if node.label.startswith(NEW_NODE) and children:
            return children
        return [_with_children(node, children)]

    return tree.fold(splice)[0]


def collapse_unaries(tree: Tree) -> Tree:
    """Collapse every chain of unary nodes into one node; over a word, the last label of the chain is the tag.

    tree (Tree): Any tree.
    RETURNS (Tree): A tree without unary nodes, from which `expand_unaries` restores `tree`.
    """

    def collapse(node: Tree, children: list[Tree]) -> Tree:
        label = _SPECIAL.sub(r"\\\g<0>", node.label)
        if len(children) == 1:
            child = children[0]
            return Tree(f"{label}|{child.label}", child.children, child.word)
        return Tree(label, children, node.word)

    return tree.fold(collapse)


def expand_unaries(tree: Tree) -> Tree:
    """Undo `collapse_unaries`: expand each joined label, such as `S|VP`, to a chain of unary nodes."""

    def expand(node: Tree, children: list[Tree]) -> Tree:
        *outer, innermost = split_chain(node.label)
        if innermost == node.label:
            return _with_children(node, children)
        expanded = Tree(innermost, children, node.word)
        for label in reversed(outer):
            expanded = Tree(label, (expanded,))
        return expanded

    return tree.fold(expand)


def join_chain(labels: Iterable[str]) -> str:
    r"""Join the labels of a unary chain, outermost first, to one label such as `S|VP`; `split_chain` is the inverse.

    A "|" or backslash within a label is escaped by a backslash: `ADVP\|PRT`.
    """
    return "|".join(_SPECIAL.sub(r"\\\g<0>", label) for label in labels)


def split_chain(label: str) -> list[str]:
    r"""Split the label of a collapsed unary chain into the labels of its nodes, outermost first.

    label (str): A label of a collapsed tree, such as `S|VP` or `ADVP\|PRT`.
    RETURNS (list of str): At least one label: `["S", "VP"]` or `["ADVP|PRT"]` for these examples.
    """
    if "\\" not in label:
        return label.split("|")
    return [_ESCAPED.sub(r"\1", escaped) for escaped in _CHAIN_LABEL.findall(label)]


def category_with_functions(label: str) -> str:
    """Remove the indices of a label, but not its function labels: NP-SBJ-1 becomes NP-SBJ.

    A label that begins with a hyphen, such as -LRB-, is returned unchanged.
    """
    category, *functions = label.partition("=")[0].split("-")
    return "-".join([category, *(name for name in functions if name and not name.isdigit())]) if category else label


def basic_category(label: str) -> str:
    """Remove the function labels and indices of a label: NP-SBJ-1 becomes NP.

    A label that begins with a hyphen or equals sign, such as -LRB-, is returned unchanged.
    """
    return label.partition("-")[0].partition("=")[0] or label


def remove_empty(tree: Tree) -> Tree | None:
    """Remove the words with the tag `-NONE-`, and the nodes that have no other words.

    RETURNS (Tree or None): The remaining tree; None if it has no words.
    """

    def prune(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return None if node.label == EMPTY_TAG else node
        remaining = [child for child in children if child is not None]
        return _with_children(node, remaining) if remaining else None

    pruned = tree.fold(prune)
    return None if pruned is None else pruned.with_source(tree.source)


def rooted(tree: Tree, root: str | None) -> Tree:
    """Put a tree below a new root with the label `root`, unless this is None or the tree has that label already.

    An unlabelled root is no constituent: the new root replaces it.
    """
    if root is None or tree.label == root:
        return tree
    return Tree(root, tree.children if not tree.label and tree.children else [tree])


def strip_root(tree: Tree) -> tuple[str, Tree]:
    """Remove the artificial roots of a tree: unary nodes at the top with labels such as ROOT, TOP or "".

    tree (Tree): Any tree. A root with several children is kept, since no other node joins them.
    RETURNS (str, Tree): The label of the removed root ("" if there is none) and the tree below. Of several nested
        roots, all are removed, and the innermost label that is not empty is returned.
    """
    root = ""
    while tree.label in ROOT_LABELS and len(tree.children) == 1:
        root = tree.label or root
        tree = tree.children[0]
    return root, tree


def clean(tree: Tree, *, functions: bool = False) -> Tree | None:
    """Clean a tree for scoring: remove empty elements, the artificial root and function labels, in this order.

    An unlabelled root with several children, which cannot be removed, is labelled TOP, which EVALB does not count.

    functions (bool): Whether to keep function labels (NP-SBJ), and remove only indices.
    RETURNS (Tree or None): The clean tree; None if all its words are empty elements.
    """
    cleaned = remove_empty(tree)
    if cleaned is None:
        return None
    _, cleaned = strip_root(cleaned)
    rename = category_with_functions if functions else basic_category

    def renamed(node: Tree, children: list[Tree]) -> Tree:
        if node.is_leaf:
            return node
        label = rename(node.label)
        return _with_children(node, children) if label == node.label else Tree(label, children)

    return (cleaned if cleaned.label else Tree("TOP", cleaned.children)).fold(renamed).with_source(tree.source)


def normalize(tree: Tree, *, functions: bool = False) -> Tree | None:
    """Normalize a tree for learning: clean it, and merge each node with an only child that has the same label.

    functions (bool): Whether to keep function labels, as for `clean`.
    RETURNS (Tree or None): The normalized tree; None if all its words are empty elements.
    """
    cleaned = clean(tree, functions=functions)
    return None if cleaned is None else _merge_unaries(cleaned).with_source(tree.source)


def normalize_rooted(tree: Tree, *, functions: bool = False) -> Tree | None:
    """Normalize a tree as `normalize` does, but keep its artificial root, such as ROOT, unless that is unlabelled."""
    root, _ = strip_root(tree)
    normalized = normalize(tree, functions=functions)
    return Tree(root, [normalized], source=normalized.source) if normalized and root else normalized


def escape_token(word: str) -> str:
    """Escape the parentheses and other brackets in a word as the Penn Treebank does: `(` as `-LRB-`, `:)` as `:-RRB-`.

    The six characters are `()`, `[]` and `{}`: round, square (-LSB-) and curly (-LCB-). Quotation marks depend on their
    position in the sentence: see `escape_tokens`.
    """
    return _BRACKET.sub(lambda match: _BRACKET_NAMES[match[0]], word)


def unescape_token(word: str) -> str:
    r"""Convert a treebank token to plain text: the inverse of `escape_token`, and more.

    `-LRB-` becomes `(`, and so on for the other five; `\/` and `\*` lose the backslash; the words ``` `` ``` and `''`
    become `"`.
    """
    if word in ("``", "''"):
        return '"'
    return _ESCAPE.sub(lambda match: _STANDS_FOR[match[0]], word)


def escape_tokens(words: Sequence[str], *, known: Container[str] = ()) -> list[str]:
    r"""Convert the words of a sentence to treebank spelling.

    The characters `()[]{}` are escaped. Straight double quotation marks open and close alternately, and close at the
    end of the sentence; curly ones are converted by their form.

    words (sequence of str): The words of one sentence, as in the text.
    known (container of str): Words in the spelling of the treebank, for instance the words of a grammar. They are kept
        as they are, since some treebanks have `[` and `"` beside `-LRB-`; `1/2` becomes `1\/2` if that is known.
    RETURNS (list of str, (n_words,)): The words to look up in a grammar of that treebank.
    """
    escaped = []
    is_open = False
    for i, word in enumerate(words):
        mark = ""
        if word in ('"', "“", "”"):
            is_last = i == len(words) - 1
            is_open = word == "“" or (word == '"' and not is_open and not is_last)
            mark = "``" if is_open else "''"
        escaped.append(word if word in known else mark or _spell(word, known))
    return escaped


def _spell(word: str, known: Container[str]) -> str:
    slashed = _SLASHED.sub(r"\\\g<0>", word)
    return slashed if slashed in known else escape_token(word)


def _merge_unaries(tree: Tree) -> Tree:
    """Merge each inner node with its only child if both are inner nodes with the same label."""

    def merge(node: Tree, children: list[Tree]) -> Tree:
        if len(children) == 1 and children[0].label == node.label and not children[0].is_leaf:
            return children[0]
        return _with_children(node, children)

    return tree.fold(merge)


def _with_children(node: Tree, children: list[Tree]) -> Tree:
    """Return a copy of the node with other children; the node itself if the children are the same objects."""
    if len(children) == len(node.children) and all(map(is_, children, node.children)):
        return node
    return Tree(node.label, children)
