"""The derivations of a whole sentence that a search has found, and the posteriors of its brackets and tags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.trees.tree import Span

Spans = tuple[Span, ...]


class Derivations:
    """Derivations of a whole sentence.

    analyses (list of (tuple of (start, end, label), list of int)): of each its brackets in pre-order, and its tags by
        number.
    logs (float64, (n_derivations,)): their log-probabilities.
    """

    def __init__(self, analyses: list[tuple[Spans, list[int]]], logs: np.ndarray) -> None:
        self.analyses = analyses
        self.logs = logs
        self.log_probability = log_sum(logs)

    def __bool__(self) -> bool:
        return bool(self.analyses)

    def that(self, constraints: Constraints) -> Derivations:
        """The derivations whose trees satisfy constraints."""
        if not constraints:
            return self
        kept = [i for i, (spans, _) in enumerate(self.analyses) if constraints.allow(spans)]
        return Derivations([self.analyses[i] for i in kept], self.logs[kept])

    def trees(self) -> list[tuple[Spans, list[int], float]]:
        """Brackets, most likely tags and log-probability of each distinct tree, best first."""
        found: dict[Spans, tuple[list[int], list[float]]] = {}
        for (spans, tags), log_probability in zip(self.analyses, self.logs.tolist(), strict=True):
            found.setdefault(spans, (tags, []))[1].append(log_probability)
        trees = [(spans, tags, log_sum(logs)) for spans, (tags, logs) in found.items()]
        return sorted(trees, key=lambda tree: -tree[2])

    def posteriors(self, tag_names: Sequence[str]) -> Posteriors:
        """Share of each bracket and tag in the probability of the sentence."""
        return Posteriors(self._bracket_shares(), self._tag_shares(tag_names))

    def _bracket_shares(self) -> dict[Span, float]:
        """Shares of brackets in pre-order; over the same words, those with fewer above them on average come first."""
        found: dict[Span, float] = {}
        above: dict[Span, float] = {}
        for spans, share in self._distinct_shares().items():
            n_above, start, end = 0, 0, 0
            for span in dict.fromkeys(spans):
                found[span] = found.get(span, 0.0) + share
                if span[0] == start and span[1] == end:
                    n_above += 1
                    above[span] = above.get(span, 0.0) + share * n_above
                else:
                    n_above, (start, end, _) = 0, span
        order = sorted(found, key=lambda span: (span[0], -span[1], above.get(span, 0.0) / found[span]))
        return {span: min(found[span], 1.0) for span in order}

    def _distinct_shares(self) -> dict[Spans, float]:
        """Share of each distinct tree whose share is not too small for a float."""
        found: dict[Spans, float] = {}
        for (spans, _), share in zip(self.analyses, self._shares().tolist(), strict=True):
            if share > 0:
                found[spans] = found.get(spans, 0.0) + share
        return found

    def _tag_shares(self, names: Sequence[str]) -> list[dict[str, float]]:
        columns = np.array([tags for _, tags in self.analyses]).T
        same = (columns == columns[:, :1]).all(axis=1).tolist()
        shares = self._shares().tolist()
        found = []
        for column, is_same in zip(columns.tolist(), same, strict=True):
            of_tags: dict[int, float] = {column[0]: 1.0} if is_same else {}
            if not is_same:
                for tag, share in zip(column, shares, strict=True):
                    of_tags[tag] = of_tags.get(tag, 0.0) + share
            found.append({names[tag]: min(share, 1.0) for tag, share in of_tags.items()})
        return found

    def _shares(self) -> np.ndarray:
        return np.exp(self.logs - self.log_probability)


def log_sum(logs: np.ndarray | Sequence[float]) -> float:
    """log of the sum of exp(logs); -inf of none."""
    values = np.asarray(logs)
    most = values.max(initial=-np.inf)
    return float(most + np.log(np.exp(values - most).sum())) if most > -np.inf else -np.inf
