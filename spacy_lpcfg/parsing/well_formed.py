"""The tree of least expected loss that looks like the trees of the treebank.

Minimum Bayes risk takes every bracket that is likely enough by itself. Where models disagree, what is left may be a
skeleton that no treebank has, such as a verb phrase without a verb. So each local tree is scored too: of all trees over
likely brackets and tags the one is chosen that maximises

    sum over brackets of (posterior - cost)  +  sum over words of the posterior of the tag
    +  WEIGHT * sum over local trees of ln P(children | label)

where P is the relative frequency in the treebank, smoothed by neighbouring children (`local_tree_scores`). The
recurrence runs over the likely brackets, the narrow ones first; the children of each are read along the treebank's
local trees, which form a trie, and beside that by the last child alone, for local trees that the treebank lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spacy_lpcfg.parsing.local_tree_scores import rule_scores
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.trees.local_trees import LocalTrees
from spacy_lpcfg.trees.transforms import basic_category
from spacy_lpcfg.trees.tree import Span

WEIGHT = 0.05  # of a nat, beside the expected number of right brackets
_LEAST, _LEAST_TAG = 0.03, 0.05  # posterior of a bracket, and of a tag, that is looked at
_CERTAIN = 1e6  # what a bracket is worth that constraints require


class WellFormedDecoder:
    """Chooses brackets and tags by their posteriors and by the local trees of a treebank.

    local_trees (LocalTrees): Of the treebank; at least one.
    cost (float): The cost of a bracket, which is subtracted from its posterior.
    """

    def __init__(self, local_trees: LocalTrees, *, cost: float) -> None:
        self._local_trees = local_trees
        self._punctuation = frozenset(local_trees.punctuation)
        self._unknown = len(local_trees.symbols)
        self._cost = cost
        self._rules = rule_scores(local_trees, WEIGHT)

    def tree(
        self, words: Sequence[str], posteriors: Posteriors, required: Sequence[Span] = ()
    ) -> tuple[list[Span], list[str]]:
        """Return the brackets of the best tree, in pre-order, and its tags.

        words (sequence of str): (n_words,), as the treebank spells them.
        posteriors (Posteriors): Of brackets, one of them over all words, and tags.
        required (sequence of (start, end, label)): Brackets of `posteriors` that the tree has to have, as far as trees
            can have them all.
        """
        n_words = len(posteriors.tags)
        likely = [span for span, p in posteriors.brackets.items() if p > _LEAST or span[1] - span[0] == n_words]
        likely.sort(key=lambda span: (span[1] - span[0], span[0]))
        bounds = np.array([(start, end, self._id(label)) for start, end, label in likely], dtype=np.int32)
        gains = np.array([posteriors.brackets[span] - self._cost for span in likely])
        for span in required:
            gains[likely.index(span)] = _CERTAIN
        likely_tags = [_likely_tags(of_word) for of_word in posteriors.tags]
        tags = [tag for of_word in likely_tags for tag in of_word]
        word_of_tag = [word for word, of_word in zip(words, likely_tags, strict=True) for _ in of_word]
        tag_gains = np.array([p - max(of_word.values()) for of_word in likely_tags for p in of_word.values()])
        offsets = np.cumsum([0, *map(len, likely_tags)], dtype=np.int32)
        symbols = np.array(list(map(self._id_of_word, tags, word_of_tag)), dtype=np.int32)
        indices, other_tags = self._rules.best_tree(bounds, gains, symbols, tag_gains, offsets)
        tag_indices = offsets[:-1].copy()
        tag_indices[np.searchsorted(offsets, other_tags, side="right") - 1] = other_tags
        return [likely[i] for i in indices], [tags[i] for i in tag_indices]

    def _id(self, label: str) -> int:
        return self._local_trees.ids.get(basic_category(label), self._unknown)

    def _id_of_word(self, tag: str, word: str) -> int:
        if tag in self._punctuation:
            return _PUNCTUATION
        id_of_word = self._local_trees.id_of_word(tag, word)
        return self._unknown if id_of_word is None else id_of_word


_PUNCTUATION = -1


def _likely_tags(of_word: Mapping[str, float]) -> dict[str, float]:
    """Return the tags that a word may have with their posteriors, the likeliest first."""
    best = max(of_word, key=of_word.__getitem__)
    return {best: of_word[best]} | {tag: p for tag, p in of_word.items() if p > _LEAST_TAG}
