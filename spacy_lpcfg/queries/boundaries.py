"""Prosodic boundaries after the words of a sentence: how likely a speaker is to pause there, and a reader to linger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spacy_lpcfg.queries.chunks import COORDINATORS, ClauseTree, Node, is_mark, is_opening
from spacy_lpcfg.queries.levels import boundary_levels
from spacy_lpcfg.queries.prosody import PhonologicalPhrase, saliences
from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.heads import ENGLISH

SENTENCE_END = 4
_CLITICS = frozenset({"a", "an", "the", "n't"})
_CONTENT = tuple("N V J RB CD DT PDT FW UH ADJ ADV DET PROPN INTJ X SYM $ #".split())  # noqa: SIM905


class Boundary(NamedTuple):
    """The prosodic boundary after a token; all numbers are 0 if there is none, as between a word and a comma after it.

    level (int): 0 within a chunk, 1 to 3 between chunks and clauses by Abney's (1992) measure, see
        `spacy_lpcfg.queries.levels`, and 4 at the end of a sentence.
    salience (int): The index of the boundary in the prosodic tree of Gee and Grosjean (1983), see
        `spacy_lpcfg.queries.prosody`; 0 within a chunk.
    nodes (int): The number of nodes with two or more children in the smallest phrase that holds the words on both
        sides, itself included: the complexity of Grosjean, Grosjean and Lane (1979), "The patterns of silence",
        Cognitive Psychology 11. At the end of a sentence, the number in the whole tree.
    closing (int): The number of constituents that end with the last word before the boundary.
    opening (int): The number of constituents that begin with the next word.
    """

    level: int = 0
    salience: int = 0
    nodes: int = 0
    closing: int = 0
    opening: int = 0


def boundaries(tree: Tree, rules: HeadRules = ENGLISH) -> list[Boundary]:
    """Return the prosodic boundary after each leaf of an English tree.

    The boundary after a word is given at the last punctuation mark that follows it, or at the word itself if none does;
    opening quotation marks and parentheses belong to the next word. All other leaves have a `Boundary` of zeros.

    tree (Tree): A clean tree with the labels of the Penn Treebank.
    rules (HeadRules): Head rules for the tree.
    RETURNS (list of Boundary, (n_leaves,)): The boundaries; nodes and constituents are counted without punctuation.
    """
    leaves = tree.leaves()
    clauses = ClauseTree.of(tree, rules)
    by_leaf = [Boundary()] * len(leaves)
    if clauses is None:
        return by_leaf
    levels = boundary_levels(clauses)
    nodes, closing, opening = _counts(clauses)
    salience = _salience(clauses, levels)
    for i, position in enumerate(_places(leaves)):
        level = levels[i] if i < len(levels) else SENTENCE_END
        by_leaf[position] = Boundary(level, salience[i], nodes[i], closing[i], opening[i])
    return by_leaf


def _places(leaves: Sequence[Tree]) -> Iterator[int]:
    """Yield, for each word, the position of the leaf that has the boundary: the word, or a mark that follows it."""
    words = [i for i, leaf in enumerate(leaves) if not is_mark(leaf)]
    for word, following in zip(words, [*words[1:], len(leaves)], strict=True):
        marks = leaves[word + 1 : following]
        n_opening = next((n for n, mark in enumerate(reversed(marks)) if not is_opening(mark)), len(marks))
        yield following - 1 - (n_opening if following < len(leaves) else 0)


def _counts(clauses: ClauseTree) -> tuple[list[int], list[int], list[int]]:
    """Return the fields `nodes`, `closing` and `opening` of the `Boundary` after each word."""
    n_inside: dict[Node, int] = {}
    for node in reversed(clauses.nodes):
        n_inside[node] = (len(node.children) > 1) + sum(n_inside[child] for child in node.children)
    brackets = [node for node in clauses.nodes if node.children]
    closing, opening = Counter(node.end - 1 for node in brackets), Counter(node.start - 1 for node in brackets)
    words = range(clauses.root.end)
    nodes = [*(n_inside[gap.node] for gap in clauses.gaps), n_inside[clauses.root]]
    return nodes, [closing[i] for i in words], [opening[i] for i in words]


def _salience(clauses: ClauseTree, levels: Sequence[int]) -> list[int]:
    """Return the salience of the boundary after each word: phonological phrases end where levels are above 0."""
    starts = [0, *(i + 1 for i, level in enumerate(levels) if level)]
    ends = [*starts[1:], clauses.root.end]
    phrases = [_phrase(clauses, start, end) for start, end in zip(starts, ends, strict=True)]
    units = {start: i for i, start in enumerate(starts)}
    units_before = {end: i for i, end in enumerate(ends, start=1)}
    constituents = [
        (units[node.start], units_before[node.end])
        for node in clauses.nodes
        if node.children and not node.is_clause and node.start in units and node.end in units_before
    ]
    salience = [0] * clauses.root.end
    for end, index in zip(ends, saliences(phrases, constituents), strict=True):
        salience[end - 1] = index
    return salience


def _phrase(clauses: ClauseTree, start: int, end: int) -> PhonologicalPhrase:
    words = range(start, end)
    is_first = start == 0 or clauses.gaps[start - 1].is_pause or clauses.tags[start] in COORDINATORS
    is_verbal = any(clauses.chunks[i].is_verbal for i in words)
    n_words = max(sum(_is_host(clauses, i) for i in words), 1)
    return PhonologicalPhrase(n_words, is_verbal, is_first, start in clauses.clause_ends)


def _is_host(clauses: ClauseTree, i: int) -> bool:
    """Return whether a word is a phonological word: False for articles, auxiliaries and other function words."""
    is_content = clauses.tags[i].startswith(_CONTENT) and clauses.words[i].lower() not in _CLITICS
    return is_content and i not in clauses.auxiliaries
