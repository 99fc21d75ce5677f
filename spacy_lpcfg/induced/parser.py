"""Parser of models that were learned from raw text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing.bracketer import BRACKET, SENTENCE
from spacy_lpcfg.bracketing.extensions.flat_brackets import without_flat
from spacy_lpcfg.bracketing.extensions.induced_tags import is_mark
from spacy_lpcfg.induced.model import Induced
from spacy_lpcfg.parsing.decodings import MBR, Candidates, Decoding
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.protocol import Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, PARSED, UNCONSTRAINED, Parse, Posteriors
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees.tree import Span

_MAX_WORDS = 150
"""Longer sentences are parsed in pieces, since the probability of a sentence must not underflow."""


class InducedParser(SentenceParser):
    """Parser that averages the span posteriors of the grammars in an `Induced` model. Threads may share it.

    The grammars see words only, so that given tags do not change any bracket. A bracket includes the punctuation
    between its words.

    model (Induced): The grammars and their tags.
    decoding (Decoding): How the tree is chosen; minimum Bayes risk by default.
    RAISES (ValueError): If the model does not support the decoding.
    """

    kind = "grammars learned from raw text"

    def __init__(self, model: Induced, *, decoding: Decoding = MBR) -> None:
        model.check_decoding(decoding.name)
        self._model = model
        self.decoding = decoding

    def read(self, query: Sentence) -> SentenceReading:
        """Compute the posteriors of brackets, and for each word the share of grammars that predict each tag."""
        words = Query.of(query).words
        return SentenceReading(Posteriors(self._brackets(words), self._tags(words)))

    def _tags(self, words: Sequence[str]) -> list[dict[str, float]]:
        members = self._model.members
        of_words = zip(*(member.tags.tags(words) for member in members), strict=True)
        return [{tag: n / len(members) for tag, n in Counter(tags).most_common()} for tags in of_words]

    def _brackets(self, words: Sequence[str]) -> dict[Span, float]:
        """Return the posteriors of brackets above `MIN_POSTERIOR` in pre-order; 1 for the bracket over the sentence."""
        brackets = {(0, len(words), SENTENCE): 1.0}
        positions = [i for i, word in enumerate(words) if not is_mark(word)]
        if len(positions) < 3:
            return brackets
        posteriors = self._model.posteriors([[words[i] for i in positions]])[0]
        posteriors[0, len(positions)] = 0  # the sentence
        spans = zip(*map(np.ndarray.tolist, np.nonzero(posteriors > MIN_POSTERIOR)), strict=True)
        for i, j in sorted(spans, key=lambda span: (span[0], -span[1])):
            brackets[positions[i], positions[j - 1] + 1, BRACKET] = min(float(posteriors[i, j]), 1.0)
        return brackets

    def parse(self, query: Sentence) -> Parse:
        """Return the tree that the decoding chooses, without brackets that treebanks do not annotate (`without_flat`).

        RETURNS (Parse): The parse, with status "unconstrained" if it does not satisfy the constraints of the query.
        """
        query = Query.of(query)
        return self.decoding.choose(BracketCandidates(query, self.read(query).posteriors))

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return the universal tag that most grammars predict, for each word."""
        return [max(tags, key=tags.__getitem__) for tags in self._tags(words)]


@dataclass(frozen=True, eq=False)
class BracketCandidates(Candidates[Parse]):
    """The trees among which a decoding chooses: all trees made of a sentence's likely brackets.

    query (Query): The sentence, with its constraints.
    posteriors (Posteriors): The posteriors of its brackets and tags.
    """

    query: Query
    posteriors: Posteriors

    bracket_cost = 0.42

    def least_risk(self, bracket_cost: float) -> Parse:
        """Return the tree with the largest sum of (posterior - `bracket_cost`), less flat brackets (`without_flat`)."""
        words, constraints = self.query.words, self.query.constraints
        brackets, tags = self.posteriors.brackets, self.posteriors.best_tags
        if constraints:
            allowed = constraints.within(brackets)
            brackets = allowed if (0, len(words), SENTENCE) in allowed else brackets
        spans = mbr_brackets(brackets, len(words), cost=bracket_cost)
        spans = without_flat(spans, tags, keep=constraints.required)
        status = PARSED if constraints.allow(spans) else UNCONSTRAINED
        return self.posteriors.parse_of(words, tags, spans, given=self.query.certain_tags, status=status)


def induced_parser(model: Induced, decoding: Decoding = MBR) -> SegmentingParser:
    """Return the parser of a model, which parses sentences of more than 150 words in pieces.

    model (Induced): The model.
    decoding (Decoding): How the tree is chosen; minimum Bayes risk by default.
    RAISES (ValueError): If the model does not support the decoding.
    """
    return SegmentingParser(InducedParser(model, decoding=decoding), Limits(_MAX_WORDS))
