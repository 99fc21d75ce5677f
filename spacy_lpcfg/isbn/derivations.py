"""The derivations of a sentence that a search found, their posteriors, and the trees from which a decoding chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.decodings import Candidates
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, Parse, Posteriors, with_given
from spacy_lpcfg.trees.tree import Span

Spans = tuple[Span, ...]


class Derivations:
    """The complete derivations of a sentence that a beam search found; false as a condition if there are none.

    analyses (list of (tuple of (start, end, label), list of int)): Brackets in pre-order and tag ids of each
        derivation, the most probable derivation first.
    logs (float64, (n_derivations,)): ln P(derivation, words) of each derivation, in nats.
    tau (float): Power to which probabilities are raised before they are normalized over the derivations. A beam holds
        only a few of all derivations, so that posteriors with a `tau` of 1 are overconfident.
    """

    def __init__(self, analyses: list[tuple[Spans, list[int]]], logs: np.ndarray, tau: float = 1.0) -> None:
        self.analyses = analyses
        self.logs = logs
        self.tau = tau
        self.log_probability = float(np.logaddexp.reduce(logs))
        self.log_shares = tau * logs - np.logaddexp.reduce(tau * logs)

    def __bool__(self) -> bool:
        return bool(self.analyses)

    def satisfying(self, constraints: Constraints) -> Derivations:
        """Return the derivations whose trees satisfy the constraints, with probabilities normalized over them."""
        if not constraints:
            return self
        allowed = [i for i, (spans, _) in enumerate(self.analyses) if constraints.allow(spans)]
        return Derivations([self.analyses[i] for i in allowed], self.logs[allowed], self.tau)

    def tempered(self, tau: float) -> Derivations:
        """Return the same derivations with another `tau`."""
        return Derivations(self.analyses, self.logs, tau)

    def trees(self) -> list[tuple[Spans, list[int], float]]:
        """Return the distinct trees of the derivations, best first.

        RETURNS (list of (tuple of (start, end, label), list of int, float)): For each tree its brackets in pre-order,
            its most probable tags as ids, and ln P(words) + ln P(tree | words) in nats, summed over tags.
        """
        logs_of_tree: dict[Spans, tuple[list[int], list[float]]] = {}
        logs = (self.log_shares + self.log_probability).tolist()
        for (spans, tags), log_probability in zip(self.analyses, logs, strict=True):
            logs_of_tree.setdefault(spans, (tags, []))[1].append(log_probability)
        trees = [(spans, tags, float(np.logaddexp.reduce(logs))) for spans, (tags, logs) in logs_of_tree.items()]
        return sorted(trees, key=lambda tree: -tree[2])

    def posteriors(self, tag_names: Sequence[str]) -> Posteriors:
        """Compute the posteriors of brackets and tags over the derivations.

        tag_names (sequence of str): The tags in the order of their ids.
        """
        return Posteriors(self._bracket_shares(), self._tag_shares(tag_names))

    def _bracket_shares(self) -> dict[Span, float]:
        """Return the posterior of each bracket, in pre-order; brackets over the same words are sorted by mean depth."""
        shares: dict[Span, float] = {}
        above: dict[Span, float] = {}
        for spans, share in self._distinct_shares().items():
            n_above, start, end = 0, 0, 0
            for span in dict.fromkeys(spans):
                shares[span] = shares.get(span, 0.0) + share
                if span[0] == start and span[1] == end:
                    n_above += 1
                    above[span] = above.get(span, 0.0) + share * n_above
                else:
                    n_above, (start, end, _) = 0, span
        order = sorted(shares, key=lambda span: (span[0], -span[1], above.get(span, 0.0) / shares[span]))
        return {span: min(shares[span], 1.0) for span in order}

    def probability(self, spans: Sequence[Span]) -> float:
        """Return the posterior probability of a tree, summed over its tags; 0 if no derivation has the tree.

        spans (sequence of (start, end, label)): The brackets of the tree in pre-order.
        """
        return min(self._distinct_shares().get(tuple(spans), 0.0), 1.0)

    def _distinct_shares(self) -> dict[Spans, float]:
        """Return the posterior probability of each distinct tree, without trees whose probability underflows to 0."""
        shares: dict[Spans, float] = {}
        for (spans, _), share in zip(self.analyses, self._shares().tolist(), strict=True):
            if share > 0:
                shares[spans] = shares.get(spans, 0.0) + share
        return shares

    def _tag_shares(self, names: Sequence[str]) -> list[dict[str, float]]:
        columns = np.array([tags for _, tags in self.analyses]).T
        same = (columns == columns[:, :1]).all(axis=1).tolist()
        shares = self._shares().tolist()
        posteriors = []
        for column, is_same in zip(columns.tolist(), same, strict=True):
            of_tags: dict[int, float] = {column[0]: 1.0} if is_same else {}
            if not is_same:
                for tag, share in zip(column, shares, strict=True):
                    of_tags[tag] = of_tags.get(tag, 0.0) + share
            posteriors.append({names[tag]: min(share, 1.0) for tag, share in of_tags.items()})
        return posteriors

    def _shares(self) -> np.ndarray:
        return np.exp(self.log_shares)


@dataclass(frozen=True, eq=False)
class DerivationCandidates(Candidates[Parse]):
    """The candidate trees of a beam search, among which a decoding chooses.

    query (Query): The sentence.
    derivations (Derivations): At least one derivation.
    tags (sequence of str): The tags in the order of their ids.
    """

    query: Query
    derivations: Derivations
    tags: Sequence[str]

    bracket_cost = 0.5

    def least_risk(self, bracket_cost: float) -> Parse:
        """Return the minimum Bayes risk tree under untempered posteriors (`tau` = 1); its scores are tempered.

        bracket_cost (float): Cost of each bracket, in units of posterior probability; a higher one gives flatter trees.
        """
        is_own = self.derivations.tau == 1
        own = self._posteriors if is_own else self.derivations.tempered(1.0).posteriors(self.tags)
        return self._parse(mbr_brackets(own.brackets, len(self.query.words), cost=bracket_cost), own.best_tags)

    def most_probable(self) -> Parse:
        """Return the most probable tree, with its most probable tags."""
        spans, tags, _ = self.derivations.trees()[0]
        return self._parse(list(spans), [self.tags[tag] for tag in tags])

    @cached_property
    def _posteriors(self) -> Posteriors:
        return self.derivations.posteriors(self.tags)

    def _parse(self, spans: list[Span], tags: list[str]) -> Parse:
        posteriors = self._posteriors
        return Parse(
            words=self.query.words,
            tags=with_given(tags, self.query.certain_tags),
            spans=spans,
            span_scores=_as_probabilities([posteriors.brackets[span] for span in spans]),
            tag_scores=_as_probabilities([shares[tag] for tag, shares in zip(tags, posteriors.tags, strict=True)]),
            log_probability=self.derivations.log_probability,
            status=PARSED,
            probability=self.derivations.probability(spans),
        )


def _as_probabilities(scores: list[float]) -> np.ndarray:
    return np.array(scores, dtype=np.float32).clip(0, 1)
