"""The oracle of the lattice: posteriors of all derivations of a short sentence that build allowed brackets only."""

from collections import Counter
from collections.abc import Collection

import numpy as np
from oracles.isbn_search import Enumeration, sigmoid

from spacy_lpcfg.trees.tree import Span


class LinearEnumeration(Enumeration):
    """All derivations, where the log-normalisers of words are linear in the means.

    Those of a model without any are constants: those at the means without any input.
    """

    def decide(self, thetas, first, end, mask=None):
        if first < self.isbn.vocabulary.first_word:
            return super().decide(thetas, first, end, mask)
        return self.logits(thetas, first, end) - self.log_normalizer(thetas, first, end)

    def log_normalizer(self, thetas, first, end):
        if self.isbn.normalizers is None:
            biases = [network.bias.astype(float) for network in self.isbn.networks]
            return np.logaddexp.reduce(self.logits(biases, first, end))
        tag = self.isbn.vocabulary.word_offsets.tolist().index(first)
        intercept, *slopes = self.isbn.normalizers[tag].astype(float)
        return intercept + slopes @ np.concatenate([sigmoid(theta) for _, theta in self.pairs(thetas)])

    def logits(self, thetas, first, end):
        return np.mean(
            [
                network.outcome_weights[first:end].astype(float) @ sigmoid(theta) + network.outcome_bias[first:end]
                for network, theta in self.pairs(thetas)
            ],
            axis=0,
        )


def posteriors(
    enumeration: Enumeration, brackets: Collection[Span] | None = None
) -> tuple[dict[Span, float], list[dict[str, float]]]:
    """Expected numbers of brackets, and shares of tags, in the derivations of no other brackets; None allows all."""
    kept = [(tree, log) for tree, log in enumeration.derivations if brackets is None or {*tree.spans()} <= {*brackets}]
    total = np.logaddexp.reduce([log for _, log in kept]) if kept else 0.0
    of_brackets: Counter[Span] = Counter()
    of_tags: list[Counter[str]] = [Counter() for _ in enumeration.words]
    for tree, log in kept:
        share = float(np.exp(log - total))
        for span in tree.spans():
            of_brackets[span] += share
        for of_word, tag in zip(of_tags, tree.tags, strict=True):
            of_word[tag] += share
    return dict(of_brackets), [dict(of_word) for of_word in of_tags]
