"""The chart parser: coarse forest, marginals of the latent grammar, and decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isqrt

import numpy as np

from spacy_lpcfg.arrays import in_blocks
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.chart._coarse import CoarseGrammar, build_forest
from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest, posteriors
from spacy_lpcfg.chart._projection import Projection
from spacy_lpcfg.chart.candidates import ForestCandidates, ForestScores
from spacy_lpcfg.chart.cells import CellMask, SymbolSets, constraint_mask, tree_mask
from spacy_lpcfg.chart.context import ContextModel, SentenceContext
from spacy_lpcfg.chart.distribution import ForestDistribution, ForestTrees, LatentDistribution, ProjectedDistribution
from spacy_lpcfg.chart.factors import Factors
from spacy_lpcfg.chart.fallbacks import first_fallback
from spacy_lpcfg.chart.label_table import label_table
from spacy_lpcfg.chart.prefix import Prefixes
from spacy_lpcfg.chart.settings import APPLICATION_BYTES, EXHAUSTIVE, MOST_CELL_BYTES, ChartSettings
from spacy_lpcfg.chart.states import states_of
from spacy_lpcfg.grammar.backoff import with_backoff
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.parsing.decodings import MBR, Decoding
from spacy_lpcfg.parsing.distribution import ListedDistribution
from spacy_lpcfg.parsing.protocol import ANSWERS, Answer, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import (
    COARSE,
    MIN_POSTERIOR,
    PARSED,
    Distribution,
    Parse,
    Posteriors,
    StateVectors,
)
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.words.signatures import is_in_capitals
from spacy_lpcfg.words.tag_dictionary import NO_TAGS, TagDictionary


class Parser(SentenceParser):
    """A chart parser for a grammar; it may be shared by threads.

    grammar (Grammar): A grammar of any learner.
    settings (ChartSettings): Settings of pruning.
    decoding (Decoding): How one tree is chosen.
    tau (float or None): The power of the weights of the projection (`Projection`) that all answers about trees come
        from; None for answers of the latent grammar itself, without a projection.
    words (TagDictionary): Tags that words may have, see `with_listed`. Surprisal and the probabilities of sentences, of
        trees with their words, and of prefixes ignore them.
    RAISES (ValueError): If `tau` is None and the grammar does not support the decoding, or if the grammar lacks a tag
        of `words`.
    """

    def __init__(
        self,
        grammar: Grammar,
        *,
        settings: ChartSettings = ChartSettings(),
        decoding: Decoding = MBR,
        tau: float | None = None,
        words: TagDictionary = NO_TAGS,
    ) -> None:
        if tau is None:
            replace(grammar, tau=1.0).check_decoding(decoding.name)  # whatever tau the grammar itself has
        words.check(grammar.tags)
        self.words = words
        self.grammar = grammar
        self.settings = settings
        self.decoding = decoding
        self.tau = tau
        self.coarse = CoarseGrammar(grammar)
        self.sets = SymbolSets(grammar)
        self._context = ContextModel(grammar)
        self._fine = FineGrammar(grammar)
        self._labels = label_table(grammar)
        self._state_bytes = state_bytes(grammar)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the grammar's kind in error messages."""
        return "a proper grammar" if self.is_proper else "a grammar whose parameters are no probabilities"

    @property
    def answers(self) -> frozenset[Answer]:
        """The questions that the parser answers: all of `ANSWERS` if the grammar has probabilities of trees.

        Otherwise only "states", and with a projection (tempered distribution over trees) also "distribution".
        """
        if self.grammar.has_tree_probabilities:
            return ANSWERS
        return frozenset({"states"} if self.tau is None else {"states", "distribution"})

    @property
    def is_proper(self) -> bool:
        """Whether the grammar is a probability distribution; if not, log-probabilities of sentences are nan."""
        return self.grammar.is_proper

    # Answers

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence: return the tree that the decoding chooses from the marginals.

        If the grammar has no tree that satisfies the constraints, even with back-off rules, the result is the tree
        without constraints, with the status "unconstrained" unless it satisfies them. Further fallbacks for sentences
        without a tree are listed in `fallbacks.py`.

        RAISES (ValueError): As for `Query`.
        """
        query = Query.of(query)
        forest = self.forest(query)
        return self.decode(query, forest) if forest.n_items else first_fallback(self, query, forest)

    def read(self, query: Sentence) -> SentenceReading:
        query = Query.of(query)
        forest = self.forest(query)
        if not forest.n_items:
            return SentenceReading.of(first_fallback(self, query, forest))
        scores = self._scores(forest)
        return SentenceReading(
            scores.bracket_posteriors(self._labels), log_probability=scores.log_probability, status=scores.status
        )

    def tempered_posteriors(self, query: Sentence, taus: Sequence[float]) -> list[Posteriors]:
        """Return the posteriors of a sentence for each tau, under projections of the same chart.

        taus (sequence of float): Powers of the weights of the projection (`Projection`), above 0. The tau of the parser
            is ignored.
        RETURNS (list of Posteriors): The posteriors for each power; if the grammar has no tree over the whole sentence,
            the scores of the tree that `parse` returns.
        """
        query = Query.of(query)
        forest = self.forest(query)
        if not forest.n_items:
            return [Posteriors.of(first_fallback(self, query, forest))] * len(taus)
        marginals, edges, items, _ = self._marginals(forest)
        edges, items = np.abs(edges), np.abs(items)
        projections = (Projection(marginals.forest, edges, items, tau) for tau in taus)
        return [
            Posteriors(*posteriors(marginals.forest, self._labels, projection.items(), MIN_POSTERIOR))
            for projection in projections
        ]

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return the most probable tag of each word without context; words that are not terminals count as unknown."""
        ids = self._context.likely_tags[self.grammar.lexicon.terminals_by_name(words)]
        return [self.grammar.tags[tag] for tag in ids.tolist()]

    def distribution(self, query: Sentence) -> Distribution:
        """Return the distribution P(tree | words), for n-best trees, samples, entropy and ln P(words).

        The distribution is conditioned on given tags and on constraints. It is empty if the grammar has no tree over
        the whole sentence.

        RETURNS (Distribution): Exact except for pruned trees, so that its ln P(words) is a lower bound, unlike
            `log_probability`.
        RAISES (ValueError): As for `parse`, and if `answers` lacks "distribution".
        """
        self.require("distribution")
        query = Query.of(query)
        forest = self.forest(query)
        if not forest.n_items:
            return ListedDistribution(())
        distribution = self._distribution(query, self._scores(forest))
        return ListedDistribution(()) if distribution is None else distribution

    def _distribution(self, query: Query, scores: ForestScores) -> ForestDistribution | None:
        """Return the distribution over the trees of a forest; None if the trees have no probabilities."""
        if scores.projection is None and not (self.grammar.has_tree_probabilities and scores.marginals.total > 0):
            return None
        symbols = ForestTrees(self.grammar, self.sets, query.words, query.certain_tags, scores.marginals.forest)
        if scores.projection is not None:
            return ProjectedDistribution(symbols, scores.projection, scores.log_probability)
        return LatentDistribution(symbols, self._fine, scores.marginals)

    def states(self, query: Sentence) -> list[StateVectors]:
        """Return inside and outside vectors of the constituents and words of the tree of `parse`, in pre-order.

        Available for any grammar, also for spectral ones.

        RETURNS (list of StateVectors): Empty if the grammar has no tree over the whole sentence.
        """
        self.require("states")
        forest = self.forest(Query.of(query))
        if not forest.n_items:
            return []
        scores = self._scores(forest)
        marginals = scores.marginals
        if not marginals.total:
            return []
        nodes = self.decoding.choose(self._candidates(Query.of(query), scores))
        return states_of(self.grammar, marginals.forest.item_table(), marginals, nodes)

    def tree_log_probability(self, tree: Tree) -> float:
        """Return the exact ln P(tree, words) of a tree with its tags, summed over all of its binarisations.

        The result is at most `log_probability` of the words, as both look words up as they are written, see `context`.

        tree (Tree): An n-ary tree in treebank spelling; it is normalized as for learning.
        RETURNS (float): The log-probability in nats; -inf if the grammar cannot generate the tree.
        RAISES (ValueError): If the grammar has no probabilities of trees, see `answers`, or the tree has no words.
        """
        self.require("tree_log_probability")
        normal = normalize(tree, functions=self.grammar.has_functions)
        if normal is None:
            raise ValueError("Expected a tree with words, got one of nothing but empty elements.")
        forest = self._build(Query(normal.words), tree_mask(normal, self.sets), EXHAUSTIVE, as_written=True)
        return Marginals(self._fine, forest).log_probability if forest.n_items else -np.inf

    def surprisal(self, query: Sentence) -> np.ndarray:
        """Return -log2 P(word | words before) of each word and of the sentence's end, in bits, float64 (n_words + 1,).

        Given tags and constraints are ignored. See `Prefixes.surprisal`.

        RAISES (ValueError): If `answers` lacks "surprisal", if trees below some states of the grammar never end, or if
            there are no words.
        """
        self.require("surprisal")
        return self.prefixes.surprisal(Query.of(query).words)

    def log_probability(self, query: Sentence) -> float:
        """Return ln P(words) in nats under the grammar, see `Prefixes.log_probability`; errors are as for `surprisal`.

        `Parse.log_probability` comes from a chart that is pruned for parsing, and is some tenths of a nat lower. It may
        be higher for a sentence in capitals or a headline, see `context`.
        """
        self.require("log_probability")
        return self.prefixes.log_probability(Query.of(query).words)

    @cached_property
    def prefixes(self) -> Prefixes:
        """Surprisal and probabilities of words under the grammar alone, without a chart that is pruned for parsing."""
        return Prefixes(self.grammar, self._fine, threshold=self.settings.prefix_threshold)

    # The chart

    def prepare(self, queries: Sequence[Query]) -> list[Query]:
        if not self.words.tags:
            return list(queries)
        return [
            query if query.listed_tags else replace(query, listed_tags=self.words.tags_of(query.words))
            for query in queries
        ]

    def forest(self, query: Sentence) -> Forest:
        """Return the pruned chart of a sentence.

        RETURNS (Forest): Empty if the grammar has no tree, or if the chart is too large for memory; only in the second
            case `is_complete` is False.
        """
        query = Query.of(query)
        if len(query.words) > self._most_words:
            return Forest()  # one that is not complete, as of a chart with too many rule applications
        (query,) = self.prepare([query])
        mask = constraint_mask(query.constraints, len(query.words), self.sets)
        forest = self._build(query, mask, self.settings)
        if self._has_enough(forest) or not forest.is_complete or self.settings.retry_beam is None:
            return forest
        beam = self.settings.beam * self.settings.retry_beam
        unpruned = replace(self.settings, beam=beam, tag_threshold=0.0, boundary_threshold=0.0)
        wider = self._build(query, mask, unpruned)
        return wider if wider.n_items else forest

    def _has_enough(self, forest: Forest) -> bool:
        """Return whether a pruned chart has enough trees, so that it need not be built again with a wider beam."""
        return forest.n_items > 0

    @property
    def _most_words(self) -> int:
        """The maximum number of words of a chart whose cells take at most `MOST_CELL_BYTES`.

        A cell takes a bit for each symbol, rounded up to 8 bytes, and 16 bytes.
        """
        return isqrt(MOST_CELL_BYTES // (16 + 8 * -(-len(self.grammar.symbols) // 64))) - 1

    def _build(self, query: Query, mask: CellMask, settings: ChartSettings, *, as_written: bool = False) -> Forest:
        factors = self.factors(query)
        build = partial(
            build_forest,
            self.coarse,
            self.context(query, settings, factors, as_written=as_written),
            mask,
            factors,
            beam=settings.beam,
            threshold=settings.threshold,
            edge_threshold=settings.edge_threshold,
        )
        forest = build(max_applications=settings.max_applications)
        if self._has_room(forest, APPLICATION_BYTES * settings.max_applications):
            return forest
        return build(max_applications=0)  # an empty forest, as for a chart that is too large

    def _has_room(self, forest: Forest, max_bytes: int) -> bool:
        """Return whether the state vectors of a forest's items take at most `max_bytes`."""
        if forest.n_items * int(self._state_bytes.max()) <= max_bytes:
            return True
        return int(self._state_bytes[forest.item_table()[:, 2]].sum()) <= max_bytes

    def factors(self, query: Query) -> Factors | None:
        """Return the factors of a sentence's evidence; None for a parser without evidence."""
        return None

    def context(
        self, query: Query, settings: ChartSettings, factors: Factors | None, *, as_written: bool = False
    ) -> SentenceContext:
        """Return the pruning information of a sentence: emissions of its words, and where spans may begin and end.

        query (Query): The sentence.
        settings (ChartSettings): Thresholds of pruning by context.
        factors (Factors or None): Factors of evidence; None without evidence.
        as_written (bool): Whether words are looked up as they are written, as by `surprisal` and `log_probability`,
            since the probabilities of all sentences must sum to 1. If not, each word of a sentence in capitals or of a
            headline is looked up like the first word of a sentence.
        """
        lexicon = self.grammar.lexicon
        terminals, tag_factors = lexicon.look_up(
            query.words, trust_capitals=as_written or not is_in_capitals(query.words)
        )
        no_tags = np.full(len(query.words), NO_TAG, dtype=np.int32)
        given = no_tags if query.tags is None or query.tag_weight == 1 else lexicon.tags_of(query.tags)
        context = self._context.context(
            query.words,
            terminals,
            given,
            tag_factors=tag_factors,
            tag_weight=query.tag_weight,
            listed=None if query.listed_tags is None else self._is_listed(query.listed_tags),
            evidence=factors,
            tag_threshold=settings.tag_threshold,
            boundary_threshold=settings.boundary_threshold,
        )
        return context if settings.boundary_merit else context.without_fit()

    def _is_listed(self, listed_tags: Sequence[Sequence[str]]) -> np.ndarray:
        """Return whether each tag is listed for each word, bool (n_words, n_tags)."""
        is_listed = np.zeros((len(listed_tags), len(self.grammar.tags)), dtype=bool)
        for row, tags in zip(is_listed, listed_tags, strict=True):
            ids = self.grammar.lexicon.tags_of(tags)
            row[ids[ids != NO_TAG]] = True
        return is_listed

    def marginals(self, forest: Forest) -> Marginals:
        """Compute the marginals of a forest under the latent grammar."""
        return Marginals(self._fine, forest)

    # For fallbacks

    @cached_property
    def backoff(self) -> Parser | None:
        """The parser with back-off rules, which has no probabilities of trees.

        It decodes by minimum Bayes risk if the decoding needs such probabilities.
        """
        grammar = with_backoff(self.grammar)
        has_decoding = self.decoding.is_for(replace(grammar, tau=1.0))  # by itself, without a projection
        decoding = self.decoding if has_decoding else MBR
        return Parser(grammar, settings=self.settings, decoding=decoding, tau=self.tau, words=self.words)

    def tag_of_unparsed(self, word: str) -> str:
        """Return the most probable tag of a word that is the only word of a sentence without a tree in the grammar."""
        lexicon = self.grammar.lexicon
        rows = slice(*lexicon.offsets[lexicon.terminal(word, True) :][:2])
        likely = lexicon.weights[rows] * self.grammar.symbol_weights[lexicon.symbols[rows]]
        return self.grammar.tags[self.grammar.tag_of[lexicon.symbols[rows][likely.argmax()]]]

    @cached_property
    def top_label(self) -> str:
        """The most frequent label at the root of trees, without an artificial root; "S" if there is none."""
        roots = np.argsort(-self.grammar.root_weights, kind="stable")
        return next((chain[0] for root in roots if (chain := self.grammar.label_chains[root])), "S")

    # Decoding

    def decode(self, query: Query, forest: Forest) -> Parse:
        """Return the tree that the decoding chooses from a forest, which must not be empty."""
        candidates = self._candidates(query, self._scores(forest))
        return candidates.parse(self.decoding.choose(candidates), self.grammar, query)

    def _candidates(self, query: Query, scores: ForestScores) -> ForestCandidates:
        return ForestCandidates(scores, self._labels, self._distribution(query, scores))

    def _log_probability(self, marginals: Marginals) -> float:
        return marginals.log_probability if self.is_proper else float("nan")

    def _marginals(self, forest: Forest) -> tuple[Marginals, np.ndarray, np.ndarray, str]:
        """Return the marginals of a forest, the marginals of its edges and of its items as arrays, and the status.

        If latent marginals are not finite or sum to 0, the arrays have coarse posteriors and the status is "coarse".
        """
        marginals = self.marginals(forest)
        edges, items = marginals.edges(), marginals.items()
        if marginals.total and np.isfinite(edges).all() and np.isfinite(items).all():
            return marginals, edges, items, PARSED
        return marginals, marginals.forest.edge_posteriors(), marginals.forest.item_posteriors(), COARSE

    def _scores(self, forest: Forest) -> ForestScores:
        marginals, edges, items, status = self._marginals(forest)
        if self.settings.absolute or self.tau is not None:
            edges, items = np.abs(edges), np.abs(items)
        projection = None if self.tau is None else Projection(marginals.forest, edges, items, self.tau)
        return ForestScores(marginals, edges, items, projection, status, self._log_probability(marginals))


def state_bytes(grammar: Grammar) -> np.ndarray:
    """Return the bytes of the inside and outside vectors of an item of each symbol, int64 (n_symbols,)."""
    return 2 * 4 * in_blocks(grammar.n_states.astype(np.int64))


def grammar_parser(
    grammar: Grammar,
    decoding: Decoding = MBR,
    *,
    chart: ChartSettings = ChartSettings(),
    tau: float | None = None,
    words: TagDictionary = NO_TAGS,
) -> Parser:
    """Create the chart parser of a grammar; `make_parser` calls this.

    grammar (Grammar): The grammar.
    decoding (Decoding): How one tree is chosen.
    chart (ChartSettings): Settings of pruning.
    tau (float or None): Power of the weights of the projection; None for the tau of the grammar. At 1 the answers come
        from the latent grammar, without a projection.
    words (TagDictionary): Tags that words may have.
    RAISES (ValueError): As for `Parser`.
    """
    power = grammar.tau if tau is None else tau
    return Parser(grammar, settings=chart, decoding=decoding, tau=None if power == 1 else power, words=words)
