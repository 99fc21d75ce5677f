"""Alignment, by characters, of trees with gold trees that have another tokenization or sentence segmentation.

As in Jo, Park and Park (2024), "A novel alignment-based approach for PARSEVAL measures": sentences that together have
the same characters are scored together, and a constituent is right if it has the label and characters of a gold one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from spacy_lpcfg.checks import counted
from spacy_lpcfg.evaluation.evalb_sentence import SentenceTrees
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.trees.tree import Tree

_ROOT = "TOP"  # which EVALB does not count


def align(golds: Sequence[Tree], tests: Sequence[SentenceTrees]) -> tuple[list[Tree], list[Tree | None]]:
    """Return gold and test trees with the same sentences and the same tokens.

    Words are compared as in text (`unescape_token`), without the white space between them. A word that the other tree
    splits is split too, and each part gets the tag of the word. Sentences that the other side joins are joined. Where
    the characters differ, gold and test sentences are paired unchanged, one to one.

    golds (sequence of Tree): Gold trees, cleaned of empty elements.
    tests (sequence of (Tree, sequence of Tree, or None)): The trees of a parser; sentence boundaries may differ. None
        or an empty sequence stands for a sentence without a tree.
    RETURNS (list of Tree, list of Tree or None): Aligned gold and test trees, of equal number; None for a missing tree.
    RAISES (ValueError): If test trees are left after the last gold tree.
    """
    parsed = [_joined((test,) if isinstance(test, Tree) else test or ()) for test in tests]
    pairs = [*_pairs(golds, parsed)]
    return [gold for gold, _ in pairs], [test for _, test in pairs]


def _pairs(golds: Sequence[Tree], tests: Sequence[Tree | None]) -> Iterator[tuple[Tree, Tree | None]]:
    i = j = 0
    while i < len(golds):
        end, test_end = _group(golds, i, tests, j)
        gold, test = _joined(golds[i:end]), _joined(list(filter(None, tests[j:test_end])))
        if gold and test:
            ends = _ends(gold) | _ends(test)
            yield _split(gold, ends), _split(test, ends)
        else:
            end, test_end = i + 1, j + 1
            yield golds[i], tests[j] if j < len(tests) else None
        i, j = end, test_end
    if j < len(tests):
        raise ValueError(
            f"Expected trees over the text of the gold trees, but {counted(len(tests) - j, 'tree')} of the parser's "
            "come after it. Compare trees of the same text."
        )


def _group(golds: Sequence[Tree], i: int, tests: Sequence[Tree | None], j: int) -> tuple[int, int]:
    """Find the smallest groups of successive trees, from `i` and from `j` on, that have the same characters.

    RETURNS (int, int): The ends of both groups, exclusive; `i` and `j` themselves if there are no such groups.
    """
    left = right = ""
    end, test_end = i, j
    while not left or left != right:
        is_gold = len(left) <= len(right)
        side, at = (golds, end) if is_gold else (tests, test_end)
        tree = side[at] if at < len(side) else None
        if tree is None or not (left.startswith(right) or right.startswith(left)):
            return i, j
        text = "".join(_texts(tree))
        left, right = (left + text, right) if is_gold else (left, right + text)
        end, test_end = (end + 1, test_end) if is_gold else (end, test_end + 1)
    return end, test_end


def _texts(tree: Tree) -> list[str]:
    return list(map(unescape_token, tree.words))


def _ends(tree: Tree) -> set[int]:
    """Return the position of the end of each word, in characters without white space."""
    return set(accumulate(map(len, _texts(tree))))


def _joined(trees: Sequence[Tree]) -> Tree | None:
    """Return one tree: a single tree unchanged, several below a new root; None for an empty sequence."""
    return trees[0] if len(trees) == 1 else Tree(_ROOT, trees) if trees else None


def _split(tree: Tree, ends: set[int]) -> Tree:
    """Split the words of a tree at the positions `ends` in its characters; each part has the tag of its word."""
    position = 0

    def parts(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        nonlocal position
        if node.word is None:
            return [Tree(node.label, [child for children in below for child in children])]
        text = unescape_token(node.word)
        start, position = position, position + len(text)
        cuts = [start, *sorted(end for end in range(start + 1, position) if end in ends), position]
        return [Tree(node.label, word=text[one - start : other - start]) for one, other in pairwise(cuts)]

    trees: list[Tree] = tree.fold(parts)
    whole = _joined(trees)
    assert whole is not None
    return whole
