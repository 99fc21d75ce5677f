"""Parsing a sentence: coarse forest, latent marginals, the tree they choose, and what to do when there is none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.chart._coarse import CoarseGrammar, best_cover, build_forest
from spacy_lpcfg.chart._decode import Brackets, LabelTable, best_tree, bracket_scores
from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.cells import Allowed, SymbolSets, allowed_by, allowed_by_brackets, allowed_by_tree
from spacy_lpcfg.chart.context import Context, ContextModel
from spacy_lpcfg.chart.distribution import ForestDistribution
from spacy_lpcfg.chart.posteriors import posteriors_of
from spacy_lpcfg.chart.prefix import Prefixes
from spacy_lpcfg.chart.states import StateVectors, states_of
from spacy_lpcfg.grammar.backoff import with_backoff
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.grammar.tensors import FACTORED, offsets
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.parsing.distribution import ListedDistribution
from spacy_lpcfg.parsing.pieces import cuts_of, joined
from spacy_lpcfg.parsing.result import (
    BACKED_OFF,
    COARSE,
    GLUED,
    PARSED,
    SEGMENTED,
    UNCONSTRAINED,
    Analysis,
    Distribution,
    Parse,
    Posteriors,
    check_input,
    with_given,
)
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Span, Tree

DECODINGS = ("brackets", "rules")
_SHARES = (
    "threshold",
    "edge_threshold",
    "beam",
    "tag_threshold",
    "boundary_threshold",
    "retry_beam",
    "cascade",
    "prefix_threshold",
)


@dataclass(frozen=True)
class Settings:
    """What a parser may leave out for speed, and how it decodes.

    threshold (float): least marginal of an item (a, i, j) under the treebank PCFG.
    edge_threshold (float): least marginal of an edge (a -> b c, i, k, j) under it.
    beam (float): items of a coarse cell below this share of its best are dropped; 0 keeps all.
    tag_threshold (float): symbols over a word, its tag with the labels that span it alone, less likely than this by
        the words around are ruled out; 0 keeps all.
    boundary_threshold (float): where the beginning of a span of several words, or the end of a constituent of several
        words, is less likely than this by the words around, there is none; 0 allows all.
    boundary_merit (bool): compare items for the beam by how well they fit between the words around, too (Caraballo
        and Charniak 1998); else by their inside and prior probabilities alone.
    retry_beam (float or None): where pruning left no tree, the chart is made again with this share of the beam, and
        without thresholds on tags and boundaries; None goes on to the rules of the back-off grammar at once.
    cascade (float): least marginal of an edge under the first grammar of an ensemble, for the others to look at it;
        unless it is 0, posteriors of brackets from elsewhere prune too, as those of a combination's first grammar do.
    prefix_threshold (float): least posterior, given the words up to its end, of a constituent in the sums of
        `Parser.surprisal`.
    decoding (str): "brackets" finds the tree of the grammar with the largest sum of its brackets' posteriors, each
        less `bracket_cost`, and of its tags' (minimum Bayes risk); "rules" that with the largest sum of its rules'
        marginals (Goodman 1996), as the spectral papers do.
    bracket_cost (float): a bracket less likely than this is better left out; more of it for precision, less for recall.
    absolute (bool): decode absolute marginals (section 3.3 of Cohen et al. 2013); else signed ones.
    max_words (int): longer sentences are cut into pieces, at punctuation where possible; it bounds the time, which
        grows with the cube of a piece's length.
    most_applications (int): so are sentences whose coarse chart would hold more rule applications; it bounds the
        memory, at 24 bytes each.
    RAISES (ValueError): On another way of decoding, or if a share or a probability is not from 0 to 1.
    """

    threshold: float = 5e-5
    edge_threshold: float = 2e-5
    beam: float = 1e-3
    tag_threshold: float = 0.01
    boundary_threshold: float = 0.01
    boundary_merit: bool = True
    retry_beam: float | None = 1e-4
    cascade: float = 1e-4
    prefix_threshold: float = 1e-6
    decoding: str = "brackets"
    bracket_cost: float = 0.45
    absolute: bool = True
    max_words: int = 150
    most_applications: int = 4_000_000

    def __post_init__(self) -> None:
        if self.decoding not in DECODINGS:
            raise ValueError(f"Expected decoding to be one of {DECODINGS}, got {self.decoding!r}.")
        for name in _SHARES:
            value = getattr(self, name)
            is_left_out = name == "retry_beam" and value is None
            if not (is_left_out or (isinstance(value, Real) and 0 <= float(value) <= 1)):
                raise ValueError(f"Expected {name} to be a number from 0 to 1, got {value!r}.")


EXHAUSTIVE = Settings(
    threshold=0.0,
    edge_threshold=0.0,
    beam=0.0,
    tag_threshold=0.0,
    boundary_threshold=0.0,
    cascade=0.0,
    prefix_threshold=0.0,
)


class Reading(NamedTuple):
    """What a model thinks of a sentence.

    posteriors (Posteriors): of its brackets and tags.
    forest (Forest or None): of the trees that they are of; None if it has no tree over the whole sentence, or no
        forest.
    """

    posteriors: Posteriors
    forest: Forest | None = None


class Parser:
    """Parses sentences by a grammar; any number of threads may share one.

    grammar (Grammar): by any learner.
    settings (Settings): pruning and decoding.
    """

    def __init__(self, grammar: Grammar, *, settings: Settings = Settings()) -> None:
        self.grammar = grammar
        self.settings = settings
        self._context = ContextModel(grammar)
        self._coarse = CoarseGrammar(grammar)
        self._fine = FineGrammar(grammar)
        self._labels = _label_table(grammar)
        self._sets = SymbolSets(grammar)

    def parse(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Parse:
        """The tree of a sentence that the marginals choose, as `Settings.decoding` says.

        words (sequence of str): in the treebank's spelling; at least one.
        tags (sequence of str or None): given tags, None where there is none; None for the parser's own. A tag that
            the grammar never saw counts as none.
        tag_weight (float): share of a word's probability that stays with other tags than its given one; 0 takes tags
            as given, 1 ignores them, between they are a prior.
        constraints (Constraints): spans that the tree must have or must not have. If the grammar has no such tree, even
            with rules that the treebank lacks, or the sentence is too long to be parsed in one, the tree is the one
            without constraints, of status "unconstrained" unless it satisfies them.
        RAISES (ValueError): If there are no words, other tags than words, or constraints on what is no span of the
            words. Never because of what they are.
        """
        check_input(words, tags)
        if constraints:
            return self._parse_constrained(words, tags, tag_weight, constraints)
        longest = self.settings.max_words
        if len(words) > longest:
            return self._join(words, tags, tag_weight, cuts_of(words, longest), SEGMENTED)
        forest = self.forest(words, tags, tag_weight=tag_weight)
        kept_tags = tags if tag_weight == 0 else None
        if forest.n_items > 0:
            return self._decode(words, kept_tags, forest)
        if len(words) == 1:
            return self._leaf(words, kept_tags)
        if not forest.is_complete:
            return self._join(words, tags, tag_weight, cuts_of(words, len(words) // 2), SEGMENTED)
        forest = self._backoff.forest(words, tags, tag_weight=tag_weight)
        if forest.n_items > 0:
            return replace(self._backoff._decode(words, kept_tags, forest), status=BACKED_OFF)
        cuts = best_cover(
            self._coarse,
            *self._inputs(words, tags, tag_weight, self.settings),
            allowed_by(NO_CONSTRAINTS, len(words), self._sets),
            beam=self.settings.beam,
            most_applications=self.settings.most_applications,
        )
        return self._join(words, tags, tag_weight, cuts, GLUED)

    def posteriors(self, words: Sequence[str], tags: Sequence[str | None] | None = None, **settings: Any) -> Posteriors:
        """Probabilities of all brackets and tags that pruning left; arguments as of `read`.

        Those of the one tree that `parse` gives, where the grammar has no tree over the whole sentence.
        """
        return self.read(words, tags, **settings).posteriors

    def read(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
        likely: Collection[Span] | None = None,
    ) -> Reading:
        """The posteriors, and the forest that pruning left; arguments as of `parse`, and of `forest`."""
        forest = self._whole_forest(words, tags, tag_weight, constraints, likely)
        if forest is None:
            return Reading(Posteriors.of(self.parse(words, tags, tag_weight=tag_weight, constraints=constraints)))
        marginals, _, items, _ = self._scores(forest)
        found = posteriors_of(marginals.forest.item_table(), _as_probabilities(items), self.grammar)
        return Reading(found, marginals.forest)

    def distribution(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Distribution:
        """P(tree | words): n-best trees, samples, entropy and ln P(words); arguments as of `parse`.

        Given tags are part of what is known: ln P(words, tags). Under constraints it is the distribution of the trees
        that satisfy them. Empty where the grammar has no tree over the whole sentence.
        RETURNS (Distribution): exact but for what pruning left out; so its ln P(words) is a lower bound, which
            `log_probability` is not.
        RAISES (ValueError): As of `parse`, and if the grammar is not proper.
        """
        self._require_proper("a distribution over trees")
        forest = self._whole_forest(words, tags, tag_weight, constraints)
        marginals = self.marginals(forest) if forest is not None else None
        if forest is None or marginals is None or marginals.total <= 0:
            return ListedDistribution(())
        given = tags if tag_weight == 0 else None
        return ForestDistribution(self.grammar, self._fine, self._sets, words, given, forest, marginals)

    def n_best(
        self, words: Sequence[str], tags: Sequence[str | None] | None = None, *, n: int, **settings: Any
    ) -> list[Analysis]:
        """The n most probable trees, as `ForestDistribution.n_best`; arguments as of `distribution`."""
        return self.distribution(words, tags, **settings).n_best(n)

    def states(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> list[StateVectors]:
        """Inside and outside vectors of the constituents and words of the tree that `parse` gives, in pre-order.

        Of any grammar, a spectral one too; arguments and errors as of `parse`. Empty where the grammar has no tree over
        the whole sentence.
        """
        forest = self._whole_forest(words, tags, tag_weight, constraints)
        if forest is None:
            return []
        marginals, nodes, *_ = self._choose(forest)
        return states_of(self.grammar, marginals.forest.item_table(), marginals, nodes) if marginals.total else []

    def tree_log_probability(self, tree: Tree) -> float:
        """ln P(tree, words) of a tree with its tags; exact.

        tree (Tree): n-ary, in the treebank's spelling; it is normalized as for learning. All ways in which the rules
            build it count, so that for some grammars it is more than `tensor_form.tree_log_probability` finds.
        RETURNS (float): nats; -inf if the grammar cannot make it.
        RAISES (ValueError): If the grammar is not proper, or the tree has no words.
        """
        self._require_proper("a probability of a tree")
        normal = normalize(tree)
        if normal is None:
            raise ValueError("Expected a tree with words, got one of nothing but empty elements.")
        forest = self._build(normal.words, None, 0.0, allowed_by_tree(normal, self._sets), EXHAUSTIVE)
        return Marginals(self._fine, forest).log_probability if forest.n_items else -np.inf

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """How unexpected each word of a sentence is after those before it, and its end after all of them.

        words (sequence of str): as of `parse`. Of words that the grammar knows by their form only, it is that of a word
            of this form.
        RETURNS (float64, (n_words + 1,)): -log2 P(word | words before), in bits, and last that of the end. Never
            negative; they add up to -log2 P(sentence): exactly with the `EXHAUSTIVE` settings, else from above, by
            thousandths of a bit under `Settings.prefix_threshold`. inf from where the grammar has no sentence that
            goes on so.
        RAISES (ValueError): If the grammar is not proper, or there are no words.
        """
        with np.errstate(invalid="ignore"):
            found = -np.diff(self._prefix_logs(words)) / np.log(2)
        return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))

    def log_probability(self, words: Sequence[str]) -> float:
        """ln P(words) in nats, as exact as `surprisal`; -inf if the grammar has no tree for them.

        A chart that is pruned for parsing, of which `Parse.log_probability` is, lacks some tenths. Errors as of
        `surprisal`.
        """
        return float(self._prefix_logs(words)[-1])

    def _prefix_logs(self, words: Sequence[str]) -> np.ndarray:
        self._require_proper("surprisal and probabilities of words")
        check_input(words, None)
        lexicon = self.grammar.lexicon
        return self._prefixes.log_probabilities(lexicon.terminals_of(words), lexicon.tag_factors(words))

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes(self.grammar, self._fine, threshold=self.settings.prefix_threshold)

    def forest(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
        likely: Collection[Span] | None = None,
    ) -> Forest:
        """The pruned chart of a sentence; arguments as of `parse`. Empty if the grammar has no tree for it.

        likely (collection of (start, end, label) or None): the only brackets to look at, as another model says, unless
            there are constraints, or no tree is left; None for all.
        """
        constraints.check(len(words))
        allowed = allowed_by(constraints, len(words), self._sets)
        attempts = [(allowed, self.settings)]
        if self.settings.retry_beam is not None:
            attempts.append((allowed, self._wider(self.settings.retry_beam)))
        if likely is not None and not constraints:
            attempts.insert(0, (allowed_by_brackets(likely, len(words), self._sets), self.settings))
        for cells, settings in attempts:
            forest = self._build(words, tags, tag_weight, cells, settings)
            if forest.n_items > 0 or not forest.is_complete:
                break
        return forest

    def _build(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        tag_weight: float,
        allowed: Allowed,
        settings: Settings,
    ) -> Forest:
        return build_forest(
            self._coarse,
            *self._inputs(words, tags, tag_weight, settings),
            allowed,
            beam=settings.beam,
            threshold=settings.threshold,
            edge_threshold=settings.edge_threshold,
            most_applications=settings.most_applications,
        )

    def _whole_forest(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        tag_weight: float,
        constraints: Constraints,
        likely: Collection[Span] | None = None,
    ) -> Forest | None:
        """The chart, if the sentence is parsed in one and the grammar has a tree for it."""
        check_input(words, tags)
        if len(words) > self.settings.max_words:
            return None
        forest = self.forest(words, tags, tag_weight=tag_weight, constraints=constraints, likely=likely)
        return forest if forest.n_items else None

    def _parse_constrained(
        self, words: Sequence[str], tags: Sequence[str | None] | None, tag_weight: float, constraints: Constraints
    ) -> Parse:
        given = tags if tag_weight == 0 else None
        constraints.check(len(words))
        for parser in (self, self._backoff):
            forest = parser._whole_forest(words, tags, tag_weight, constraints)
            if forest is not None:
                parse = parser._decode(words, given, forest)
                return parse if parser is self else replace(parse, status=BACKED_OFF)
        parse = self.parse(words, tags, tag_weight=tag_weight)
        return parse if constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def _require_proper(self, what: str) -> None:
        if not self.is_proper or (self.grammar.tensors.forms == FACTORED).any():
            raise ValueError(
                f"Expected a proper grammar for {what}, such as EM, Pivot and TreebankPCFG learn, got one whose "
                "parameters are no probabilities and may be negative. It has posteriors and state vectors; for more, "
                "learn a proper one."
            )

    def marginals(self, forest: Forest) -> Marginals:
        """Marginals of a forest under the latent grammar."""
        return Marginals(self._fine, forest)

    @property
    def is_proper(self) -> bool:
        """Whether log-probabilities are such."""
        return self.grammar.is_proper

    @cached_property
    def _backoff(self) -> Parser:
        """The parser of sentences without a tree under wider settings; of an ensemble, by its first grammar alone."""
        return Parser(with_backoff(self.grammar), settings=self.settings)

    def _wider(self, share: float) -> Settings:
        """What a sentence gets that has no tree under the settings: a share of the beam, and no thresholds on words."""
        return replace(self.settings, beam=self.settings.beam * share, tag_threshold=0.0, boundary_threshold=0.0)

    def _inputs(
        self, words: Sequence[str], tags: Sequence[str | None] | None, tag_weight: float, settings: Settings
    ) -> tuple[np.ndarray, np.ndarray, Context]:
        lexicon = self.grammar.lexicon
        terminals = lexicon.terminals_of(words)
        no_tags = np.full(len(words), NO_TAG, dtype=np.int32)
        given = no_tags if tags is None or tag_weight == 1 else lexicon.tags_of(tags)
        context = self._context.context(
            words,
            terminals,
            given,
            tag_factors=lexicon.tag_factors(words),
            tag_weight=tag_weight,
            tag_threshold=settings.tag_threshold,
            boundary_threshold=settings.boundary_threshold,
        )
        return terminals, given, context if settings.boundary_merit else context.without_fit()

    def _decode(self, words: Sequence[str], tags: Sequence[str | None] | None, forest: Forest) -> Parse:
        marginals, nodes, items, status = self._choose(forest)
        brackets = Brackets(marginals.forest, self._labels, nodes, items)
        own = [self.grammar.tags[tag] for tag in brackets.tags()]
        labels = self.grammar.labels
        return Parse(
            words=words,
            tags=with_given(own, tags),
            spans=[(start, end, labels[label]) for start, end, label in brackets.spans()],
            span_scores=_as_probabilities(brackets.span_scores()),
            tag_scores=_as_probabilities(brackets.tag_scores()),
            log_probability=marginals.log_probability if self.is_proper else float("nan"),
            status=status,
        )

    def _choose(self, forest: Forest) -> tuple[Marginals, np.ndarray, np.ndarray, str]:
        """Marginals of a forest, items of the tree to decode in pre-order, and numbers of items and their origin."""
        marginals, edges, items, status = self._scores(forest)
        forest = marginals.forest
        scores = edges, items
        if self.settings.decoding == "brackets":
            scores = bracket_scores(forest, self._labels, items, self.settings.bracket_cost)
        return marginals, best_tree(forest, *scores), items, status

    def _scores(self, forest: Forest) -> tuple[Marginals, np.ndarray, np.ndarray, str]:
        """Marginals of a forest, of its edges and items as numbers to decode by, and where they are from."""
        marginals = self.marginals(forest)
        edges, items, status = marginals.edges(), marginals.items(), PARSED
        if not (marginals.total and np.isfinite(edges).all() and np.isfinite(items).all()):
            edges, items, status = marginals.forest.edge_posteriors(), marginals.forest.item_posteriors(), COARSE
        if self.settings.absolute:
            edges, items = np.abs(edges), np.abs(items)
        return marginals, edges, items, status

    def _join(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        tag_weight: float,
        cuts: list[int],
        status: str,
    ) -> Parse:
        """Parses of the pieces between the cuts, side by side under the commonest label of whole trees."""
        parses = [
            self.parse(words[start:end], None if tags is None else tags[start:end], tag_weight=tag_weight)
            for start, end in zip([0, *cuts], [*cuts, len(words)])
        ]
        return joined(words, parses, self._top_label, status)

    def _leaf(self, words: Sequence[str], tags: Sequence[str | None] | None) -> Parse:
        """A tree for a word that is no sentence of the grammar."""
        lexicon = self.grammar.lexicon
        rows = slice(*lexicon.offsets[lexicon.terminal(words[0], True) :][:2])
        likely = lexicon.weights[rows] * self.grammar.symbol_weights[lexicon.symbols[rows]]
        own = self.grammar.tags[self.grammar.tag_of[lexicon.symbols[rows][likely.argmax()]]]
        zero = np.zeros(1, dtype=np.float32)
        tag = (tags[0] if tags else None) or own
        return Parse(words, [tag], [(0, 1, self._top_label)], zero, zero, float("nan"), GLUED)

    @cached_property
    def _top_label(self) -> str:
        roots = np.argsort(-self.grammar.root_weights, kind="stable")
        chains = (self.grammar.chains[root][: None if root >= self.grammar.n_preterminals else -1] for root in roots)
        return next((chain[0] for chain in chains if chain), "S")


def _as_probabilities(scores: np.ndarray) -> np.ndarray:
    return np.clip(scores, 0.0, 1.0).astype(np.float32)


def _label_table(grammar: Grammar) -> LabelTable:
    ids = {label: i for i, label in enumerate(grammar.labels)}
    chains = [chain[:-1] if a < grammar.n_preterminals else chain for a, chain in enumerate(grammar.chains)]
    tag_of = np.full(grammar.n_symbols, NO_TAG, dtype=np.int32)
    tag_of[: grammar.n_preterminals] = grammar.tag_of
    return LabelTable(
        offsets(np.array([len(chain) for chain in chains])).astype(np.int32),
        np.array([ids[label] for chain in chains for label in chain], dtype=np.int32),
        tag_of,
        len(ids),
    )
