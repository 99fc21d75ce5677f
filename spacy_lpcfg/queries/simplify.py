"""Split sentences into clauses that stand alone, by rules that edit their trees.

The rules are in the package's `clauses.tsurgeon`, or given by a user. They edit a tree below a root ROOT, where the
position of each word follows its tag: NN-3. Each child of ROOT that is left is a clause, and its relation follows the
hyphen of its label. Copied words keep their positions, which tell where the words of a clause stand in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import count
from typing import NamedTuple

from spacy_lpcfg.queries.edit_rules import EditRule, parse_rules
from spacy_lpcfg.queries.editing import OnFire, edit_trees
from spacy_lpcfg.queries.index import Scores, TreeMatch, TreeNode
from spacy_lpcfg.queries.pattern import ROOT_LABEL
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import basic_category, strip_root, unescape_token

MAIN = "main"
_FILE = "clauses.tsurgeon"
_POSITION = re.compile(r"(.*)-([0-9]+)")
_NEED_LEFT, _NEED_RIGHT = {",", ":", "-RRB-"}, {",", ":", "-LRB-"}
_CLOSING = {"''", "-RRB-"}
_NAMES = {"NNP", "NNPS", "PROPN"}
_INDEFINITE = {"a", "an"}
_AMOUNTS = set("bit couple deal few good great handful little lot majority minority number".split())  # noqa: SIM905


class ClauseWord(NamedTuple):
    """A word of a clause that was split from a sentence.

    text (str): The word, capitalized as its position in the clause requires; "the" for a copied "a".
    position (int or None): Its position, from 0, among the words of all sentences; None for a word that was added.
    is_copy (bool): Whether the word is a copy; an earlier clause then has the original.
    """

    text: str
    position: int | None
    is_copy: bool


class SplitClause(NamedTuple):
    """A clause of a sentence that can stand alone.

    words (tuple of ClauseWord): The words. If the sentence was split, the clause begins with a capital, and ends in
        a full stop unless it has a final mark of its own.
    relation (str): "main", "relative", "participle", "apposition" or "parataxis"; for a clause with a conjunction
        the conjunction, such as "and" or "because".
    probability (float or None): For a clause that rules made, the lowest posterior probability of the constituents
        that their patterns match or name. For an unsplit sentence, the probability of its outermost constituent.
        None if unknown.
    """

    words: tuple[ClauseWord, ...]
    relation: str
    probability: float | None


class _Leaf(NamedTuple):
    text: str
    tag: str
    position: int | None


@cache
def clause_rules() -> tuple[EditRule, ...]:
    """Read the rules for English that come with the package."""
    return tuple(parse_rules(files("spacy_lpcfg.queries").joinpath(_FILE).read_text("utf-8"), _FILE))


def split_clauses(
    trees: Sequence[Tree], rules: Sequence[EditRule] | None = None, scores: Iterable[Scores] = ()
) -> list[list[SplitClause]]:
    """Split sentences into clauses that stand alone.

    trees (sequence of Tree): Trees with the labels of the Penn Treebank, without empty elements.
    rules (sequence of EditRule or None): Rules as in the package's `clauses.tsurgeon`; None for the rules of that file.
    scores (iterable of Scores): As for `TreeIndex.from_trees`.
    RETURNS (list of lists of SplitClause): The clauses of each tree, sorted by their first word that is not a copy; []
        for a tree that the rules delete.
    RAISES (RuleError): If a rule cannot be carried out.
        (ValueError): If the rules do not stop.
    """
    rules = clause_rules() if rules is None else rules
    positions = count()
    numbered = [_numbered(tree, positions) for tree in trees]
    probabilities = _Probabilities(trees, numbered, scores)
    edited = _edited(numbered, rules, probabilities.update)
    words = [word for tree in trees for word in tree.words]
    return [
        [] if after is None else [*_clauses(before, after, words, probabilities)]
        for before, after in zip(numbered, edited, strict=True)
    ]


def _numbered(tree: Tree, positions: Iterator[int]) -> Tree:
    """Put a tree below ROOT: words in lower case, their positions after the tags, and no function label at the top."""
    leaves = [Tree(f"{leaf.label}-{next(positions)}", word=(leaf.word or "").lower()) for leaf in tree.leaves()]
    _, top = strip_root(tree.with_leaves(leaves))
    label = "" if top.is_leaf else basic_category(top.label)
    return Tree(ROOT_LABEL, [Tree(label or "X", [top] if top.is_leaf else top.children)])


def _edited(trees: Sequence[Tree], rules: Sequence[EditRule], on_fire: OnFire) -> list[Tree | None]:
    """Edit trees in rounds until the rules change no tree; None for trees that the rules delete."""
    edited: list[Tree | None] = [*trees]
    changed = [*range(len(trees))]
    for _ in range(2 + max((len(tree.words) for tree in trees), default=0)):
        before = [tree for i in changed if (tree := edited[i]) is not None]
        for i, old, new in zip([*changed], before, edit_trees(before, rules, on_fire=on_fire), strict=True):
            edited[i] = new
            if new is None or new == old:
                changed.remove(i)
        if not changed:
            return edited
    raise ValueError("Expected rules that stop, but they match again and again what they made of each other.")


def _tag_and_position(leaf: Tree) -> tuple[str, int | None]:
    match = _POSITION.fullmatch(leaf.label)
    return (match[1], int(match[2])) if match else (leaf.label, None)


# Probabilities -----------------------------------------------------------------------------------


class _Probabilities:
    """The probabilities of clauses, updated whenever a rule fires.

    trees, scores: As for `split_clauses`.
    numbered (sequence of Tree): The trees with numbered words.
    """

    def __init__(self, trees: Sequence[Tree], numbered: Sequence[Tree], scores: Iterable[Scores]) -> None:
        self.brackets: dict[tuple[int, int, str], float] = {}
        self.of: dict[Tree, float | None] = {}
        start = 0
        for tree, root, (brackets, _) in zip(trees, numbered, scores, strict=False):
            for (i, j, label), p in zip(tree.spans(), () if brackets is None else brackets, strict=False):
                if p == p:  # not nan
                    self.brackets.setdefault((start + i, start + j, basic_category(label)), p)
            (top,) = root.children
            n_words = len(tree.words)
            self.of[top] = self.brackets.get((start, start + n_words, top.label))
            start += n_words

    def update(self, match: TreeMatch, edited: Tree | None) -> None:
        """Set the probability of each changed clause: the lowest of its former clauses and of the matched nodes."""
        before = match.node.root.tree.children
        after = () if edited is None else edited.children
        sources = [self.of.get(clause) for clause in before if clause not in after]
        named = [self.brackets.get(_bracket(node)) for node in (match.node, *match.names.values())]
        least = min((p for p in (*sources, *named) if p is not None), default=None)
        self.of |= {clause: least for clause in after if clause not in before}


def _bracket(node: TreeNode) -> tuple[int, int, str]:
    """Return the span and label of a node by the positions of its words; (0, 0, "") for words and for added nodes."""
    positions = [position for _, position in map(_tag_and_position, node.tree.leaves()) if position is not None]
    is_bracket = bool(positions) and not node.is_word
    return (min(positions), max(positions) + 1, basic_category(node.label)) if is_bracket else (0, 0, "")


# Clauses to words --------------------------------------------------------------------------------


def _clauses(before: Tree, after: Tree, texts: Sequence[str], probabilities: _Probabilities) -> Iterator[SplitClause]:
    """Yield the clauses of an edited tree, sorted by their first word that is not a copy.

    Clauses of copies alone are dropped.
    """
    (_, first), *_ = map(_tag_and_position, before.leaves())
    clauses: dict[tuple[int, int], SplitClause] = {}
    taken: set[int] = set()
    for number, clause in enumerate(after.children):
        words = [*_words(clause, texts, taken, first, is_split=len(after.children) > 1)]
        own = [word.position for word in words if word.position is not None and not word.is_copy]
        if own:
            relation = clause.label.partition("-")[2] or MAIN
            clauses[min(own), number] = SplitClause(tuple(words), relation, probabilities.of.get(clause))
            taken.update(own)
    yield from (clauses[key] for key in sorted(clauses))


def _words(
    clause: Tree, texts: Sequence[str], taken: set[int], first: int | None, *, is_split: bool
) -> Iterator[ClauseWord]:
    """Yield the words of a clause.

    texts (sequence of str): The words of all sentences, in treebank spelling.
    taken (set of int): The positions of the words of earlier clauses.
    first (int or None): The position of the first word of the sentence.
    is_split (bool): Whether the sentence was split, so that each clause has a capital and a full stop.
    """
    leaves = [_Leaf(leaf.word or "", *_tag_and_position(leaf)) for leaf in clause.leaves()]
    leaves = _without_loose_marks(leaves) if is_split else leaves
    for i, (added, tag, position) in enumerate(leaves):
        text = added if position is None else unescape_token(texts[position])
        text = "the" if _is_introduced(leaves, i, taken) else text
        is_name = tag in _NAMES or text == "I" or (len(text) > 1 and text.isupper())
        if is_split and i == 0:
            text = text[:1].upper() + text[1:]
        elif is_split and position == first and not is_name:
            text = text[:1].lower() + text[1:]
        yield ClauseWord(text, position, position in taken)
    if is_split and "." not in [leaf.tag for leaf in leaves if leaf.tag not in _CLOSING][-1:]:
        yield ClauseWord(".", None, False)


def _is_introduced(leaves: Sequence[_Leaf], i: int, taken: set[int]) -> bool:
    """Return whether a leaf is "a" or "an" at the beginning of a copied phrase, where "the" should replace it.

    False for amounts such as "a lot of people".
    """
    is_first = i == 0 or leaves[i - 1].position not in taken
    is_indefinite = leaves[i].position in taken and leaves[i].text in _INDEFINITE
    return is_first and is_indefinite and not _AMOUNTS.intersection(leaf.text for leaf in leaves[i + 1 : i + 2])


def _without_loose_marks(leaves: list[_Leaf]) -> list[_Leaf]:
    """Remove commas, colons and parentheses that lost the word beside them, and unpaired quotation marks."""
    loose = {"``", "''"} if len({"``", "''"} & {leaf.tag for leaf in leaves}) == 1 else set()
    leaves = [leaf for leaf in leaves if leaf.tag not in loose]
    while True:
        before = [None, *(leaf.position for leaf in leaves)]
        after = [*before[2:], None]
        kept = [
            leaf
            for leaf, left, right in zip(leaves, before, after, strict=False)
            if (leaf.tag not in _NEED_LEFT or (left is not None and left + 1 == leaf.position))
            and (leaf.tag not in _NEED_RIGHT or (leaf.position is not None and leaf.position + 1 == right))
        ]
        if len(kept) == len(leaves):
            return kept
        leaves = kept
