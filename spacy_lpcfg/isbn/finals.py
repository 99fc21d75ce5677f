"""The derivations of a whole sentence that a search has found, and what they say of its brackets and tags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.trees.parse import Posteriors
from spacy_lpcfg.trees.tree import Span

Spans = tuple[Span, ...]


class Finals:
    """Derivations of a whole sentence.

    derivations (list of (tuple of (start, end, label), list of int)): brackets in pre-order, and numbers of tags.
    logs (float64, (n_derivations,)): their log-probabilities.
    """

    def __init__(self, derivations: list[tuple[Spans, list[int]]], logs: np.ndarray) -> None:
        self.derivations = derivations
        self.logs = logs
        self.log_probability = log_sum(logs)

    def trees(self) -> list[tuple[Spans, list[int], float]]:
        """Brackets, most likely tags and log-probability of each distinct tree, best first."""
        found: dict[Spans, tuple[list[int], list[float]]] = {}
        for (spans, tags), log_probability in zip(self.derivations, self.logs.tolist()):
            found.setdefault(spans, (tags, []))[1].append(log_probability)
        trees = [(spans, tags, log_sum(logs)) for spans, (tags, logs) in found.items()]
        return sorted(trees, key=lambda tree: -tree[2])

    def posteriors(self, tag_names: Sequence[str]) -> Posteriors:
        """Share of each bracket and tag in the probability of the sentence."""
        return Posteriors(self._bracket_shares(), self._tag_shares(tag_names))

    def _bracket_shares(self) -> dict[Span, float]:
        """Shares of brackets in pre-order; over the same words first what has the fewest of them above on average."""
        found: dict[Span, float] = {}
        above: dict[Span, float] = {}
        for (spans, _), share in zip(self.derivations, self._shares().tolist()):
            before, n_above, seen = (0, 0), 0, set()
            for span in spans:
                n_above = n_above + 1 if span[:2] == before else 0
                before = span[:2]
                if span not in seen:
                    seen.add(span)
                    found[span] = found.get(span, 0.0) + share
                    if n_above:
                        above[span] = above.get(span, 0.0) + share * n_above
        order = sorted(found, key=lambda span: (span[0], -span[1], above.get(span, 0.0) / found[span]))
        return {span: found[span] for span in order}

    def _tag_shares(self, names: Sequence[str]) -> list[dict[str, float]]:
        columns = np.array([tags for _, tags in self.derivations]).T
        same = (columns == columns[:, :1]).all(axis=1).tolist()
        shares = self._shares()
        found = []
        for column, is_same in zip(columns, same):
            if is_same:
                found.append({names[column[0]]: 1.0})
            else:
                tags, which = np.unique(column, return_inverse=True)
                found.append(dict(zip((names[tag] for tag in tags), np.bincount(which, shares).tolist())))
        return found

    def _shares(self) -> np.ndarray:
        return np.exp(self.logs - self.log_probability)


def log_sum(logs: np.ndarray | Sequence[float]) -> float:
    """log of the sum of exp(logs); -inf of none."""
    values = np.asarray(logs)
    most = values.max(initial=-np.inf)
    return float(most + np.log(np.exp(values - most).sum())) if most > -np.inf else -np.inf
