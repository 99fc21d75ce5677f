"""Limits on the size of training trees and label sets, as time and memory of learning grow faster than the sizes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator

from spacy_lpcfg.checks import counted
from spacy_lpcfg.trees.tree import Tree

MOST_WORDS = 500
MOST_LEVELS = 500
MOST_SYMBOLS = 8_000
logger = logging.getLogger(__name__)


def learnable(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield the trees with at most `MOST_WORDS` words and `MOST_LEVELS` levels; finally log how many were left out."""
    left_out: Counter[str] = Counter()
    yield from (tree for tree in trees if is_learnable(tree, left_out))
    log_left_out(left_out)


def is_learnable(tree: Tree, left_out: Counter[str]) -> bool:
    """Return whether a tree has at most `MOST_WORDS` words and `MOST_LEVELS` levels.

    left_out (Counter): If the tree has more, the count of the limit that it exceeds grows by 1, in place.
    """
    n_words, stack = 0, [(tree, 1)]
    while stack:
        node, level = stack.pop()
        n_words += node.is_leaf
        if n_words > MOST_WORDS or level > MOST_LEVELS:
            left_out[f"{MOST_WORDS} words" if n_words > MOST_WORDS else f"{MOST_LEVELS} levels"] += 1
            return False
        stack += ((child, level + 1) for child in node.children)
    return True


def log_left_out(left_out: Counter[str]) -> None:
    """Log a warning with the number of trees beyond each limit; nothing if `left_out` is empty."""
    if left_out:
        numbers = " and ".join(f"{counted(n, 'tree')} of more than {limit}" for limit, n in sorted(left_out.items()))
        logger.warning("Left out of learning: %s. Such trees take too much time and memory; split them.", numbers)


def check_n_symbols(n_symbols: int) -> None:
    """Check that the number of symbols, after binarization and unary collapsing, is at most `MOST_SYMBOLS`.

    RAISES (ValueError): If there are more symbols.
    """
    if n_symbols > MOST_SYMBOLS:
        raise ValueError(
            f"Expected trees with at most {MOST_SYMBOLS:,} tags and labels, those of binarization and of unary chains "
            f"included, got {n_symbols:,}: a parser has tables for all pairs. Leave out what makes so many, such as "
            "numbers or morphology in labels and tags."
        )
