"""Posteriors of brackets and tags by plain sums over the items of a chart."""

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.result import Posteriors


def posteriors_of(items: np.ndarray, marginals: np.ndarray, grammar: Grammar, least: float) -> Posteriors:
    """Posteriors of the brackets and tags of a forest, of those that are at least so likely.

    items (int32, (n_items, 4)): See `Forest.item_table`.
    marginals (float, (n_items,)): Of the items.
    """
    n_words = int(items[:, 1].max())
    sums: dict[tuple[int, int, str], float] = {}
    depths: dict[tuple[int, int, str], float] = {}
    tags: list[dict[str, float]] = [{} for _ in range(n_words)]
    likely = marginals >= least * 0.01
    for (start, end, symbol, row), p in zip(items[likely].tolist(), marginals[likely].tolist(), strict=True):
        labels = grammar.chains[symbol]
        if row >= 0:
            tags[start][labels[-1]] = tags[start].get(labels[-1], 0.0) + p
            labels = labels[:-1]
        for depth, label in enumerate(labels):
            if label not in labels[:depth]:
                bracket = start, end, label
                sums[bracket] = sums.get(bracket, 0.0) + p
                depths[bracket] = depths.get(bracket, 0.0) + p * depth
    kept = [bracket for bracket, p in sums.items() if p >= least]
    kept.sort(key=lambda bracket: (bracket[0], -bracket[1], depths[bracket] / sums[bracket], bracket[2]))
    of_tags = [{tag: min(p, 1.0) for tag, p in of_word.items()} for of_word in tags]
    return Posteriors({bracket: min(sums[bracket], 1.0) for bracket in kept}, of_tags)
