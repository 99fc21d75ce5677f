"""The trees of the derivations that a search has found, from which a decoding chooses one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.isbn.derivations import Derivations
from spacy_lpcfg.parsing.decodings import Candidates
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, Parse, Posteriors, with_given
from spacy_lpcfg.trees.tree import Span


@dataclass(frozen=True, eq=False)
class DerivationCandidates(Candidates[Parse]):
    """The candidate trees of a beam search, among which a decoding chooses.

    query (Query): The sentence.
    derivations (Derivations): At least one.
    tags (sequence of str): The names of the tags, by their ids.
    """

    query: Query
    derivations: Derivations
    tags: Sequence[str]

    bracket_cost = 0.5

    def least_risk(self, bracket_cost: float) -> Parse:
        """Return the minimum Bayes risk tree under the probabilities of the network, without `tau`."""
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
