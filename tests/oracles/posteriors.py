"""Posteriors of brackets and tags by plain sums, over the items of a chart and over models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.result import Posteriors, mirrored_spans


def posteriors_of(items: np.ndarray, marginals: np.ndarray, grammar: Grammar, least: float) -> Posteriors:
    """Posteriors of the brackets and tags of a forest, of those that are at least so likely.

    items (int32, (n_items, 4)): see `Forest.item_table`.
    marginals (float, (n_items,)): of the items.
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


def mean_of(posteriors: Sequence[Posteriors], weights: Sequence[float]) -> Posteriors:
    """Weighted means of the probabilities of brackets and tags, which rounding takes no higher than 1."""
    brackets = _sums([each.brackets for each in posteriors], weights)
    order = sorted(brackets, key=lambda bracket: (bracket[0], -bracket[1]))
    tags = [_sums(of_word, weights) for of_word in zip(*(each.tags for each in posteriors), strict=True)]
    return Posteriors({bracket: brackets[bracket] for bracket in order}, tags)


def _sums(values: Sequence[dict], weights: Sequence[float]) -> dict:
    sums: dict = {}
    for each, weight in zip(values, weights, strict=True):
        for key, p in each.items():
            sums[key] = sums.get(key, 0.0) + weight * p
    return {key: min(p, 1.0) for key, p in sums.items()}


def mirror_of(posteriors: Posteriors) -> Posteriors:
    """Return the posteriors of the sentence read from right to left; labels over the same words keep their order."""
    n_words = len(posteriors.tags)
    brackets = {
        (start, end, label): posteriors.brackets[n_words - end, n_words - start, label]
        for start, end, label in mirrored_spans(posteriors.brackets, n_words)
    }
    return Posteriors(brackets, posteriors.tags[::-1], posteriors.is_of_one)
