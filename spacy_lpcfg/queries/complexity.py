"""Syntactic complexity of English sentences: the counts and indices of L2SCA, tree depths and surprisal.

The nine counts and fourteen indices are defined by Lu (2010), "Automatic analysis of syntactic complexity in second
language writing", International Journal of Corpus Linguistics 15. The counts use the tree patterns of his program
L2SCA, with one difference: heads are found by ENGLISH, the head rules of this package.

Depths are defined by Yngve (1960) and Frazier (1985), and computed as by Roark, Mitchell and Hollingshead (2007),
without punctuation. One difference: the tag of a word does not count in its Frazier score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.queries.index import TreeIndex, below_root
from spacy_lpcfg.queries.pattern import TreePattern
from spacy_lpcfg.trees import Tree, clean
from spacy_lpcfg.trees.heads import ENGLISH

_FINITE = "MD|VBP|VBZ|VBD"
_CLAUSE = f"S|SINV|SQ [> ROOT <, (VP <# VB) | <# {_FINITE} | < (VP [<# {_FINITE} | < CC < (VP <# {_FINITE})])]"
_T_UNIT = "S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
_DEPENDENT = f"SBAR < ({_CLAUSE})"
PATTERNS = {
    "S": ["ROOT"],
    "VP": ["VP > S|SINV|SQ", f"{_FINITE} > (SQ !< VP)"],
    "C": [_CLAUSE, f"FRAG > ROOT !<< ({_CLAUSE})"],
    "T": [_T_UNIT, f"FRAG > ROOT !<< ({_T_UNIT})"],
    "DC": [_DEPENDENT],
    "CT": [f"{_T_UNIT} << ({_DEPENDENT})"],
    "CP": ["ADJP|ADVP|NP|VP < CC"],
    "CN": [
        "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
        "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
        "S < (VP <# VBG|TO) $+ VP",
    ],
}
"""The tree patterns that define each count: sentences (S), verb phrases (VP), clauses (C), T-units (T), dependent
clauses (DC), complex T-units (CT), coordinate phrases (CP) and complex nominals (CN)."""
INDICES = {
    "MLS": ("W", "S"), "MLT": ("W", "T"), "MLC": ("W", "C"), "C/S": ("C", "S"), "VP/T": ("VP", "T"), "C/T": ("C", "T"),
    "DC/C": ("DC", "C"), "DC/T": ("DC", "T"), "T/S": ("T", "S"), "CT/T": ("CT", "T"), "CP/T": ("CP", "T"),
    "CP/C": ("CP", "C"), "CN/T": ("CN", "T"), "CN/C": ("CN", "C"),
}  # fmt: skip
"""Numerator and denominator of each index, which is 0 where the denominator is 0."""
COUNTS = ("W", *PATTERNS)
MEANS = ("yngve", "frazier", "height", "surprisal")
COLUMNS = (*COUNTS, *INDICES, *MEANS)
_MEASURED = (*COUNTS, "yngve", "frazier", "height", "bits", "n_bits")
_WORD_TAG = re.compile(r"[A-Z]+\$?")
_CLAUSES = {"S", "SBAR", "SBARQ", "SINV", "SQ"}
_COMPILED = {name: [TreePattern(text) for text in texts] for name, texts in PATTERNS.items()}

Record = dict[str, "int | float | None"]


@dataclass(frozen=True)
class Complexity:
    """Counts, indices, depths and surprisal of the sentences of a document.

    sums (float64, (n_sentences, 14)): For each sentence its nine counts, the sums of the Yngve and Frazier depths of
        its words, its height, the sum of the surprisals of its words in bits, and the number of these surprisals.
    """

    sums: np.ndarray

    @classmethod
    def joined(cls, documents: Iterable[Complexity]) -> Complexity:
        """Concatenate the sentences of several documents to one `Complexity`."""
        return cls(np.concatenate([np.zeros((0, len(_MEASURED))), *(document.sums for document in documents)]))

    @property
    def document(self) -> Record:
        """The values of `COLUMNS` by name, over all sentences together.

        Depths and surprisal (bits) are means over words, the height is a mean over sentences, and the indices are
        ratios of summed counts. The surprisal is None if unknown.
        """
        return _record(self.sums.sum(axis=0), max(len(self.sums), 1))

    @property
    def sentences(self) -> list[Record]:
        """The values of `COLUMNS` by name for each sentence, as in `document`."""
        return [_record(row, 1) for row in self.sums]


def complexity(trees: Iterable[Tree], *, surprisals: Iterable[Sequence[float]] = ()) -> Complexity:
    """Measure the syntactic complexity of English sentences.

    trees (iterable of Tree): Trees with Penn Treebank labels; empty elements and function labels are removed first.
    surprisals (iterable of sequences of float): For each tree the surprisal of each word, in bits; an empty sequence
        where unknown.
    RETURNS (Complexity): One row for each tree that has words.
    RAISES (ValueError): If there are surprisals, but not of each tree.
    """
    cleaned, bits_of_trees = [clean(tree) for tree in trees], list(surprisals)
    if bits_of_trees and len(bits_of_trees) != len(cleaned):
        raise ValueError(f"Expected surprisals of each of {len(cleaned)} trees, got those of {len(bits_of_trees)}.")
    rooted = [below_root(tree) for tree in cleaned if tree]
    index = TreeIndex.from_trees(rooted, ENGLISH)
    sums = np.zeros((len(rooted), len(_MEASURED)))
    for column, patterns in enumerate(_COMPILED.values(), start=1):
        for pattern in patterns:
            sums[:, column] += np.bincount(index.tree_of(index.nodes(pattern)), minlength=len(rooted))
    for row, tree in zip(sums, rooted, strict=True):
        row[0], *row[len(COUNTS) : -2] = _depths(tree)
    with_words = (bits for tree, bits in zip(cleaned, bits_of_trees, strict=False) if tree)
    for row, bits in zip(sums, with_words, strict=False):
        row[-2:] = sum(bits), len(bits)
    return Complexity(sums)


def _depths(root: Tree) -> tuple[float, float, float, float]:
    """Return the number of words, the sum of their Yngve depths, the sum of their Frazier scores, and the height."""

    def measured(node: Tree, below: list[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
        if node.is_leaf:
            return (1, 0, 0, 1) if _WORD_TAG.fullmatch(node.label) else (0, 0, 0, 0)
        below = [child for child in below if child[0]]  # without punctuation
        n_words = sum(child[0] for child in below)
        yngve = sum(child[1] + rank * child[0] for rank, child in enumerate(reversed(below)))
        frazier = 0.0 if node is root or not below else 1.5 if node.label in _CLAUSES else 1.0
        height = max((child[3] for child in below), default=0) + (node is not root)
        return n_words, yngve, sum(child[2] for child in below) + frazier, height

    return root.fold(measured)


def _record(sums: np.ndarray, n_sentences: int) -> Record:
    total = dict(zip(_MEASURED, sums.tolist(), strict=True))
    counts: Record = {name: int(total[name]) for name in COUNTS}
    indices = {name: _ratio(total[one], total[other]) for name, (one, other) in INDICES.items()}
    depths = {name: _ratio(total[name], total["W"]) for name in ("yngve", "frazier")}
    bits = total["bits"] / total["n_bits"] if total["n_bits"] else None
    return {**counts, **indices, **depths, "height": total["height"] / n_sentences, "surprisal": bits}


def _ratio(one: float, other: float) -> float:
    return one / other if other else 0.0
