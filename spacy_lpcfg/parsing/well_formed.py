"""The tree of least expected loss that looks like the trees of the treebank.

Minimum Bayes risk takes every bracket that is likely enough by itself. Where models disagree, what is left may be a
skeleton that no treebank has, such as a verb phrase without a verb. So each local tree is scored too: of all trees over
likely brackets the one is chosen that maximises

    sum over brackets of (posterior - cost)  +  WEIGHT * sum over local trees of ln P(children | label)

where P is the relative frequency in the treebank, smoothed by neighbouring children (`local_tree_scores`). The
recurrence runs over the likely brackets, the narrow ones first; the children of each are read along the treebank's
local trees, which form a trie, and beside that by the last child alone, for local trees that the treebank lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.parsing.local_tree_scores import rule_scores
from spacy_lpcfg.parsing.protocol import BackedParser, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Parse, Posteriors
from spacy_lpcfg.trees.local_trees import LocalTrees
from spacy_lpcfg.trees.transforms import basic_category
from spacy_lpcfg.trees.tree import Span

WEIGHT = 0.05  # of a nat, beside the expected number of right brackets
_LEAST = 0.03  # posterior of a bracket that is looked at
_CERTAIN = 1e6  # what a bracket is worth that constraints require


class WellFormedDecoder:
    """Chooses brackets by their posteriors and by the local trees of a treebank.

    local_trees (LocalTrees): of the treebank; at least one.
    cost (float): taken from the posterior of each bracket.
    """

    def __init__(self, local_trees: LocalTrees, *, cost: float) -> None:
        self._ids = {symbol: i for i, symbol in enumerate(local_trees.symbols)}
        self._ids_of_words = {**self._ids, **dict.fromkeys(local_trees.punctuation, _PUNCTUATION)}
        self._unknown = len(self._ids)
        self._cost = cost
        self._rules = rule_scores(local_trees, WEIGHT)

    def brackets(self, posteriors: Posteriors, required: Sequence[Span] = ()) -> list[Span]:
        """Return the brackets of the best tree, in pre-order.

        posteriors (Posteriors): of brackets, one of them over all words, and tags.
        required (sequence of (start, end, label)): brackets of `posteriors` that the tree has to have, as far as trees
            can have them all.
        """
        n_words = len(posteriors.tags)
        likely = [span for span, p in posteriors.brackets.items() if p > _LEAST or span[1] - span[0] == n_words]
        likely.sort(key=lambda span: (span[1] - span[0], span[0]))
        bounds = np.array([(start, end, self._id(label)) for start, end, label in likely], dtype=np.int32)
        gains = np.array([posteriors.brackets[span] - self._cost for span in likely])
        for span in required:
            gains[likely.index(span)] = _CERTAIN
        tags = [max(of_word, key=of_word.__getitem__) for of_word in posteriors.tags]
        words = np.array([self._ids_of_words.get(tag, self._unknown) for tag in tags], dtype=np.int32)
        return [likely[i] for i in self._rules.best_brackets(bounds, gains, words)]

    def _id(self, label: str) -> int:
        return self._ids.get(basic_category(label), self._unknown)


_PUNCTUATION = -1


class WellFormedParser(BackedParser):
    """Parses sentences by the posteriors of another parser; any number of threads may share one.

    parser (SentenceParser): its posteriors choose the tree, and it has all other answers.
    decoder (WellFormedDecoder): chooses the brackets.
    """

    def __init__(self, parser: SentenceParser, decoder: WellFormedDecoder) -> None:
        self.parser = parser
        self._decoder = decoder

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The other parser in an error message."""
        return self.parser.kind

    @property
    def backing(self) -> SentenceParser:
        """The other parser."""
        return self.parser

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """Return what the other parser has read."""
        return self.parser.read(query, guide=guide)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return those of the other parser."""
        return self.parser.likely_tags(words)

    def forest_mbr(self, query: Sentence) -> Parse:
        """Return that of the other parser."""
        return self.parser.forest_mbr(query)

    def parse(self, query: Sentence) -> Parse:
        """Return the tree; that of the other parser if it has none over the whole sentence, or none under constraints.

        RAISES (ValueError): As `Query`.
        """
        query = Query.of(query)
        reading = self.parser.read(query)
        posteriors = reading.posteriors
        if posteriors.is_of_one:
            return reading.parse or self.parser.parse(query)
        spans = self._spans(query, posteriors)
        if spans is None:
            return self.parser.parse(query)
        tags = [max(of_word, key=of_word.__getitem__) for of_word in posteriors.tags]
        return posteriors.parse_of(
            query.words,
            tags,
            spans,
            given=query.certain_tags,
            log_probability=reading.log_probability,
            status=reading.status,
        )

    def _spans(self, query: Query, posteriors: Posteriors) -> list[Span] | None:
        """Choose the brackets; None if none of them may stand over the whole sentence, or constraints are not met."""
        constraints = query.constraints
        if constraints:
            posteriors = Posteriors(constraints.within(posteriors.brackets), posteriors.tags)
        if not any(end - start == len(query.words) for start, end, _ in posteriors.brackets):
            return None
        certain = [span for span, p in posteriors.brackets.items() if constraints and p == 1.0]
        spans = self._decoder.brackets(posteriors, certain)
        return spans if constraints.allow(spans) else None
