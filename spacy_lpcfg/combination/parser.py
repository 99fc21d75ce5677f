"""Parse by several models: minimum Bayes risk over the mean of their posteriors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.combination.combined import Combined
from spacy_lpcfg.combination.reranking import Reranker, n_best_model
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.isbn.vocabulary import share_known_words
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.decodings import MBR
from spacy_lpcfg.parsing.kinds import add_kind
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.protocol import BackedParser, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import GLUED, PARSED, UNCONSTRAINED, Parse, Posteriors, worst_status
from spacy_lpcfg.trees.tree import Span


class CombinedParser(BackedParser):
    """A parser by several models; any number of threads may share one.

    Questions about a distribution over trees are left to the first proper grammar that reads from left to right.

    combined (Combined): The models.
    decoding (str): "mbr" chooses the brackets that nest and have the largest sum of mean posteriors, each less
        `Combined.bracket_cost` (minimum Bayes risk); where grammars know which labels stand over the same words, only
        such; "vote" those that more than half of the models have in their own trees, every model with one vote, which
        has more trees right as a whole and fewer brackets; "rerank" one of the trees that a grammar finds, see
        `Reranker`; "most-probable" the tree of `n_best(1)`, which is that grammar's.
    chart (ChartSettings): Pruning of the grammars. Unless `cascade` is 0, the mean posteriors of the grammars before
        prune the chart of the next one, too.
    search (BeamSettings or None): Search of the ISBNs; None for the beam and the lattice of `combined`.
    RAISES (ValueError): For a decoding that the combination does not have.
    """

    kind = "several models together, none of which is a proper grammar that reads from left to right"

    def __init__(
        self,
        combined: Combined,
        *,
        decoding: str = MBR,
        chart: ChartSettings = ChartSettings(),
        search: BeamSettings | None = None,
    ) -> None:
        combined.check_decoding(decoding)
        self.combined = combined
        self.decoding = decoding
        self._chart = chart
        self._reranker = Reranker(combined.members, combined.weights) if decoding == "rerank" else None
        grammar = n_best_model(combined.members) if decoding == "most-probable" else None
        self._most_probable = None if grammar is None else grammar.parser(decoding=decoding, chart=chart)
        search = search or BeamSettings(beam=combined.beam, lattice=combined.lattice)
        share_known_words(model.vocabulary for model in combined.single_models() if isinstance(model, ISBN))
        self._parsers = [
            member.parser(decoding=member.own_tree, **member.usable(chart=chart, search=search))
            for member in combined.members
        ]
        self._chains = frozenset().union(*(model.label_chains for model in combined.single_models()))
        follows = {True: search.lattice is not None, False: chart.cascade > 0}
        self._uses_guide = [follows[model.is_network] for model in combined.members]
        self._order = sorted(range(len(combined.members)), key=lambda i: combined.members[i].is_network)

    @cached_property
    def backing(self) -> SentenceParser | None:
        """A parser by the first proper grammar that reads from left to right: a member's, or one of its own."""
        if self._distribution_member is not None:
            return self._parsers[self._distribution_member]
        grammar = n_best_model(self.combined.members)
        return None if grammar is None else grammar.parser(chart=self._chart)

    @cached_property
    def _distribution_member(self) -> int | None:
        """The index of the member that is the first proper left-to-right grammar; None if it is part of a member."""
        grammar = n_best_model(self.combined.members)
        members = zip(self.combined.members, self._parsers, strict=True)
        is_listing = (
            grammar in member.single_models() and "distribution" in parser.answers for member, parser in members
        )
        return next((i for i, is_it in enumerate(is_listing) if is_it), None)

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """Return the mean of the models' posteriors."""
        readings = self._readings(Query.of(query), guide)
        return SentenceReading(self._mean(readings), None, self._log_probability(readings), _status_of(readings))

    def _log_probability(self, readings: Sequence[SentenceReading]) -> float:
        """Return the log-probability of the sentence by the member that has one; nan if there is none."""
        return (
            readings[self._distribution_member].log_probability
            if self._distribution_member is not None
            else float("nan")
        )

    def _mean(self, readings: Sequence[SentenceReading]) -> Posteriors:
        return Posteriors.mean([reading.posteriors for reading in readings], self.combined.weights)

    def _readings(self, query: Query, guide: Posteriors | None = None) -> list[SentenceReading]:
        """Read a sentence by each model, grammars first; a guide, or the mean so far, leads the next model."""
        readings: dict[int, SentenceReading] = {}
        for i in self._order:
            guide_of_member = guide or self._mean_so_far(readings) if self._uses_guide[i] else None
            readings[i] = self._parsers[i].read(query, guide=guide_of_member)
        return [readings[i] for i in range(len(readings))]

    def _mean_so_far(self, readings: Mapping[int, SentenceReading]) -> Posteriors | None:
        """Return the mean of some models' posteriors; None if no grammar of them has a tree over the whole sentence."""
        informed = [i for i, reading in readings.items() if not reading.posteriors.is_of_one]
        if all(self.combined.members[i].is_network for i in informed):
            return None
        if len(informed) == 1:
            return readings[informed[0]].posteriors
        total = sum(self.combined.weights[i] for i in informed)
        weights = [self.combined.weights[i] / total for i in informed]
        return Posteriors.mean([readings[i].posteriors for i in informed], weights)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return the likeliest tag of each word without its context, by the lexicon of the first model."""
        return self._parsers[0].likely_tags(words)

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence by the decoding.

        If no model has a tree that satisfies the constraints, they are ignored, and the status is "unconstrained".
        Else the status is the worst of the models', such as "segmented" where one of them has cut the sentence.
        RETURNS (Parse): The scores are the means of the posteriors, and the log-probability is that of `backing`, nan
            without one.
        RAISES (ValueError): As `Query`.
        """
        query = Query.of(query)
        if self._most_probable:
            return self._most_probable.parse(query)
        readings = self._readings(query)
        posteriors = self._mean(readings)
        spans = self._spans(query, posteriors)
        status = worst_status(_status(spans, posteriors, query.constraints), _status_of(readings))
        return posteriors.parse_of(
            query.words,
            posteriors.best_tags,
            spans,
            given=query.certain_tags,
            log_probability=self._log_probability(readings),
            status=status,
        )

    def _spans(self, query: Query, posteriors: Posteriors) -> list[Span]:
        """Return the brackets of the tree."""
        best = self._reranker.best(query) if self._reranker else None
        if best is not None:
            return best.spans()
        n_words, constraints = len(query.words), query.constraints
        if self.decoding == "vote":
            trees = [parser.parse(query).spans for parser in self._parsers]
            return self._constrained_mbr(_votes(trees, posteriors), n_words, 0.5, constraints)
        return self._constrained_mbr(posteriors.brackets, n_words, self.combined.bracket_cost, constraints)

    def _constrained_mbr(
        self, likely: dict[Span, float], n_words: int, cost: float, constraints: Constraints
    ) -> list[Span]:
        """Return the brackets of least expected loss under constraints, or without them if they leave no tree."""
        allowed = constraints.within(likely) if constraints else likely
        has_whole = n_words == 1 or any(end - start == n_words for start, end, _ in allowed)
        brackets = mbr_brackets(allowed if has_whole else likely, n_words, cost=cost, chains=self._chains)
        if has_whole and not constraints.allow(brackets):  # they ask for labels that no tree has over the same words
            brackets = mbr_brackets(allowed, n_words, cost=cost)
        return brackets

    def forest_mbr(self, query: Sentence) -> Parse:
        """Return the tree of least expected loss, as by "mbr", among those that a grammar has.

        RETURNS (Parse): Of the first grammar or ensemble that reads from left to right and has a tree over the whole
            sentence; the tree that `parse` gives if there is none, of status "glued" or worse if there is such a
            grammar.
        """
        query = Query.of(query)
        readings = self._readings(query)
        posteriors, cost = self._mean(readings), self.combined.bracket_cost
        trees = (reading.forest_mbr(posteriors, bracket_cost=cost) for reading in readings)
        tree = next((tree for tree in trees if tree is not None), None)
        if tree is None:
            tree = self.parse(query)
            if any(not (member.is_network or member.is_mirrored) for member in self.combined.members):
                tree = replace(tree, status=worst_status(tree.status, GLUED))
        return tree


def _status_of(readings: Sequence[SentenceReading]) -> str:
    """Return the worst of the models' statuses; whether constraints hold is decided by the tree."""
    return worst_status(PARSED, *(reading.status for reading in readings if reading.status != UNCONSTRAINED))


def _status(spans: list[Span], posteriors: Posteriors, constraints: Constraints) -> str:
    """Return the status of a tree that the posteriors of several models chose."""
    if not constraints.allow(spans):
        return UNCONSTRAINED
    is_parsed = len(posteriors.tags) == 1 or posteriors.brackets.get(spans[0], 0.0) > 0
    return PARSED if is_parsed else GLUED


def _votes(trees: Sequence[list[Span]], posteriors: Posteriors) -> dict[Span, float]:
    """Return the share of the models' trees that have each bracket, in pre-order; posteriors decide ties."""
    votes = Counter(span for spans in trees for span in set(spans))
    ranks = {span: rank for rank, span in enumerate(posteriors.brackets)}
    order = sorted(votes, key=lambda span: (span[0], -span[1], ranks.get(span, len(ranks))))
    ties = {span: _TIE * (posteriors.brackets.get(span, 0.0) - 0.5) for span in order}
    return {span: votes[span] / len(trees) + ties[span] for span in order}


_TIE = 1e-3  # of a posterior beside a vote


def combined_parser(
    combined: Combined,
    decoding: str,
    *,
    chart: ChartSettings = ChartSettings(),
    search: BeamSettings | None = None,
) -> CombinedParser:
    """Return the parser that `Combined.parser` makes; arguments as for `CombinedParser`."""
    return CombinedParser(combined, decoding=decoding, chart=chart, search=search)


add_kind(Combined.kind, Combined.from_bytes, combined_parser)
