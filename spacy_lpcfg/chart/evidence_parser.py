"""Chart parser that uses a grammar and evidence; all answers about trees come from one distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spacy_lpcfg.chart._fine import Marginals, words_log_probability
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.factors import Factors, FactorTable
from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.chart.prefix import Prefixes
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.checks import POSITIVE, at_least
from spacy_lpcfg.grammar.backoff import with_backoff
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.decodings import MBR, Decoding
from spacy_lpcfg.parsing.evidence import Evidence, EvidenceModel
from spacy_lpcfg.parsing.protocol import Answer
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.words.tag_dictionary import NO_TAGS, TagDictionary

_LOWER = 0.005  # factor of the thresholds of the coarse chart, since tempering makes small probabilities larger
_LOWER_TAGS = 0.03  # the same for the threshold of symbols of words


@dataclass(frozen=True)
class EvidenceWeights:
    """Weights with which a grammar and evidence are combined, and the tempering of the result.

    span_power, tag_power (float): Powers of the odds of chains and of the probabilities of tags, see `FactorTable`.
    tau (float): Power of the weights of the projection, see `Projection`. It should be less than 1, since grammar and
        evidence have learned from the same trees, so that their product is overconfident.
    RAISES (ValueError): If a power is negative, or tau is not above 0.
    """

    span_power: float = 0.5
    tag_power: float = 1.0
    tau: float = 0.5

    def __post_init__(self) -> None:
        at_least(0)(span_power=self.span_power, tag_power=self.tag_power)
        POSITIVE(tau=self.tau)


class EvidenceParser(Parser):
    """A chart parser that multiplies its items with factors from evidence; any number of threads may share it.

    Answers about trees come from the projection of the grammar's marginals with evidence. Surprisal and probabilities
    of sentences, of trees with their words, and of prefixes come from the grammar alone, since evidence of a word has
    seen the words after it.

    grammar (Grammar): A grammar of any learner. The parser adds back-off rules, which combine children that
        the treebank has below the same label, but not next to each other.
    evidence (EvidenceModel): The model that computes evidence for queries without evidence.
    weights (EvidenceWeights): Weights of the evidence, and tau.
    settings (ChartSettings): Settings of pruning. With evidence its thresholds are multiplied by small constants, since
        tempering makes small probabilities larger; surprisal uses them unchanged.
    decoding (Decoding): How one tree is chosen.
    words (TagDictionary): Tags that words may have, as for `Parser`.
    RAISES (ValueError): If the grammar lacks a tag of `words`.
    """

    def __init__(
        self,
        grammar: Grammar,
        evidence: EvidenceModel,
        weights: EvidenceWeights,
        *,
        settings: ChartSettings = ChartSettings(),
        decoding: Decoding = MBR,
        words: TagDictionary = NO_TAGS,
    ) -> None:
        finer = replace(
            settings,
            threshold=settings.threshold * _LOWER,
            edge_threshold=settings.edge_threshold * _LOWER,
            tag_threshold=settings.tag_threshold * _LOWER_TAGS,
        )
        super().__init__(with_backoff(grammar), settings=finer, decoding=decoding, tau=weights.tau, words=words)
        self._alone = Parser(grammar, settings=settings)
        self._evidence = evidence
        self._table = FactorTable(grammar, evidence.chains, evidence.tags, weights.span_power, weights.tag_power)

    @property
    def answers(self) -> frozenset[Answer]:
        """The questions that the parser answers: "distribution" and "states", and what the grammar alone answers."""
        return self._alone.answers | {"distribution", "states"}

    @property
    def is_proper(self) -> bool:
        return self._alone.is_proper

    @property
    def backoff(self) -> None:
        """None, since the chart has all back-off rules already."""

    def prepare(self, queries: Sequence[Query]) -> list[Query]:
        """Return copies of the queries with evidence, computed in one batch, and with listed tags."""
        queries = super().prepare(queries)
        pairs = zip(queries, self._evidence_of(queries), strict=True)
        return [query if query.evidence is evidence else replace(query, evidence=evidence) for query, evidence in pairs]

    def _has_enough(self, forest: Forest) -> bool:
        """Return whether a chart has more than one tree: a single tree would have probability 1, whatever tau is."""
        return forest.n_items > 2 * forest.n_words - 1

    def factors(self, query: Query) -> Factors:
        return self._table.factors(self._evidence_of([query])[0])

    def _evidence_of(self, queries: Sequence[Query]) -> list[Evidence]:
        """Return the evidence of each query; if a query has none, the model computes it, in one batch."""
        of_model = iter(self._evidence.evidence([query.words for query in queries if query.evidence is None]))
        return [next(of_model) if query.evidence is None else query.evidence.computed() for query in queries]

    def tree_log_probability(self, tree: Tree) -> float:
        return self._alone.tree_log_probability(tree)

    @property
    def prefixes(self) -> Prefixes:
        return self._alone.prefixes

    def _log_probability(self, marginals: Marginals) -> float:
        """Return ln P(words) under the grammar alone, in nats, summed over the trees of the forest.

        It is nan if the grammar is not proper, or can generate none of these trees without back-off rules.
        """
        if not self.is_proper:
            return float("nan")
        log = words_log_probability(self._fine, marginals.forest, self._alone.grammar.n_rules)
        return log if np.isfinite(log) else float("nan")
