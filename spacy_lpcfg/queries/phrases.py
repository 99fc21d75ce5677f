"""Phrases and clauses of English trees in Penn Treebank annotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from spacy_lpcfg.queries.index import TreeIndex, TreeNode
from spacy_lpcfg.queries.pattern import TreePattern
from spacy_lpcfg.trees.transforms import ROOT_LABELS, basic_category

FINITE = frozenset({"MD", "VBD", "VBP", "VBZ"})
_VERBS = FINITE | {"TO", "VB", "VBG", "VBN", "VERB", "AUX"}
_UNIVERSAL = {"VERB", "AUX"}
_CLAUSE = TreePattern(f"@S|SQ|SINV < @VP|{'|'.join(sorted(_VERBS))}")
_WRAPPERS = {*ROOT_LABELS, "S", "SQ", "SINV", "SBARQ", "FRAG", "PRN", "UCP", "X"}
_SUBJECTS = {"NP", "NX", "QP", "WHNP"}


def phrases(index: TreeIndex, label: str, *, maximal: bool = False) -> list[TreeNode]:
    """Return the constituents with a label, in pre-order; preterminals (tags over words) are not constituents.

    label (str): A category, or several with | between them; function labels of the trees are ignored.
    maximal (bool): Whether to leave out constituents inside another match.
    """
    wanted = {*label.split("|")}
    is_wanted = np.array([basic_category(string) in wanted for string in index.strings], dtype=bool)
    ids = np.flatnonzero(is_wanted[index.label] & (index.end > np.arange(len(index.end)) + 2))
    if maximal:
        ids = ids[ids >= np.maximum.accumulate(np.append(0, index.end[ids]))[:-1]]
    return [TreeNode(index, i) for i in ids.tolist()]


@dataclass(frozen=True)
class Clause:
    """A clause: an S, SQ or SINV with a verb, or the SBAR or SBARQ around it.

    node (TreeNode): The SBAR or SBARQ if there is one, else the S, SQ or SINV.
    verb (TreeNode): The word that is the main verb: `sold` in `may have been sold`; the first of coordinated verbs.
    subject (TreeNode or None): The noun phrase before the verb, or after it in an inverted clause; the relative pronoun
        of a subject relative; or a clause. None if the clause has no subject.
    is_finite (bool): Whether the first verb is tagged MD, VBD, VBP or VBZ, or is the VB of an imperative sentence. With
        universal parts of speech, which do not mark finiteness: whether the clause has a subject and no infinitive
        marker.
    is_subordinate (bool): Whether the clause is an SBAR, or is inside another clause or a phrase.
    is_relative (bool): Whether the clause is an SBAR without a conjunction that follows its noun in a noun phrase.
    """

    node: TreeNode
    verb: TreeNode
    subject: TreeNode | None
    is_finite: bool
    is_subordinate: bool
    is_relative: bool


def clauses(index: TreeIndex) -> Iterator[Clause]:
    """Yield the clauses of English trees in pre-order, an outer one before those inside it."""
    nodes = [TreeNode(index, i) for i in index.nodes(_CLAUSE).tolist()]
    of_verbs = {node: verbs for node in nodes if (verbs := _verbs(node))}
    for inner, verbs in of_verbs.items():
        outer = _outer(inner)
        is_subordinate = _category(outer) == "SBAR" or any(
            node in of_verbs or _category(node) not in _WRAPPERS for node in outer.ancestors()
        )
        is_finite = verbs[0].label in FINITE or (verbs[0].label in _UNIVERSAL and _is_finite(inner, outer))
        yield Clause(
            outer,
            verbs[-1].children[0],
            _subject(inner, outer if is_finite else inner),
            is_finite or (verbs[0].label == "VB" and not is_subordinate),
            is_subordinate,
            _is_relative(outer),
        )


def _is_finite(clause: TreeNode, outer: TreeNode) -> bool:
    """Return whether a clause with universal parts of speech has a subject and no infinitive marker."""
    first = clause.children[_first_verb(clause)]
    has_mark = not first.is_tag and bool(first.children) and first.children[0].label == "PART"
    return _subject(clause, outer) is not None and not has_mark


def _category(node: TreeNode | None) -> str:
    return "" if node is None else node.label if node.is_tag else basic_category(node.label)


def _outer(clause: TreeNode) -> TreeNode:
    """Return the SBAR or SBARQ above a clause if it has no other clause as a child, else the clause itself."""
    above = clause.parent
    if above is None or _category(above) not in ("SBAR", "SBARQ"):
        return clause
    return above if sum(_category(child) in ("S", "SQ", "SINV") for child in above.children) == 1 else clause


def _verbs(clause: TreeNode) -> list[TreeNode]:
    """Return the tags of the verb chain, from the first verb or `to` to the main verb; [] if it ends in `to`."""
    tags: list[TreeNode] = []
    node: TreeNode | None = clause
    while node is not None:
        below = node.children[_first_verb(node) :]
        if below and below[0].is_tag:
            tags.append(below.pop(0))
        before_others = takewhile(lambda child: child.label not in ("CC", "CCONJ"), below)
        node = next((child for child in before_others if _category(child) == "VP"), None)
    return tags if tags and tags[-1].label != "TO" else []


def _first_verb(node: TreeNode) -> int:
    """Return the position of the first child that is a VP or verb; the number of children if none is."""
    children = node.children
    return next((i for i, child in enumerate(children) if _category(child) in ("VP", *_VERBS)), len(children))


def _subject(clause: TreeNode, outer: TreeNode) -> TreeNode | None:
    """Return the subject of a clause, which may be the relative pronoun of the `outer` SBAR; None if there is none."""
    children = clause.children
    at = _first_verb(clause)
    before, after = children[:at], children[at + 1 :]
    if _category(clause) == "SINV" or (_category(clause) == "SQ" and children[at].is_tag):
        before += after[::-1]  # reversed, since the last of `before` is taken, which has to be the first after the verb
    nouns = [child for child in before if _category(child) in _SUBJECTS]
    marked = [child for child in children if "-SBJ" in child.label]
    if marked or nouns:
        return (marked or nouns)[-1]
    if before and _category(before[-1]) in ("S", "SBAR"):
        return before[-1]
    wh_phrases = [child for child in outer.children if _category(child) in _SUBJECTS] if outer != clause else []
    return wh_phrases[0] if wh_phrases and at == 0 else None


def _is_relative(node: TreeNode) -> bool:
    if _category(node) != "SBAR" or any(child.label in ("IN", "SCONJ") for child in node.children):
        return False
    while node.parent is not None and _category(node.parent) == "SBAR":
        node = node.parent
    above = node.parent
    return above is not None and _category(above) in _SUBJECTS and above.children[0] != node
