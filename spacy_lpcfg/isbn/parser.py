"""Parsing by an incremental sigmoid belief network: whole sentences, and word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.isbn.derivations import Derivations, log_sum
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.lattice.reader import LatticeReader, can_guide
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.prefix import PrefixTree, prefix_tree
from spacy_lpcfg.isbn.relations import codes
from spacy_lpcfg.isbn.search import Networks, Search
from spacy_lpcfg.isbn.settings import MAX_IDLE_BYTES, BeamSettings
from spacy_lpcfg.parsing.distribution import ListedDistribution, check_n_best
from spacy_lpcfg.parsing.kinds import add_kind
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.protocol import ANSWERS, Answer, Sentence, SentenceParser, SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import (
    GLUED,
    PARSED,
    UNCONSTRAINED,
    Analysis,
    Distribution,
    Parse,
    Posteriors,
    with_given,
)
from spacy_lpcfg.storage.reader import limit
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree


class IncrementalParser(SentenceParser):
    """Parses sentences by an ISBN; any number of threads may share one.

    isbn (ISBN): by any learner.
    settings (BeamSettings): search and decoding.
    """

    kind = "a belief network"

    def __init__(self, isbn: ISBN, *, settings: BeamSettings = BeamSettings()) -> None:
        self.isbn = isbn
        self.settings = settings
        self._networks = Networks(isbn, codes(isbn.relations.latent), codes(isbn.relations.decisions))
        self._idle: list[Search] = []
        self._max_bytes = limit()  # of the vectors of a search
        self._lattices = self._new_lattices(settings)

    @property
    def answers(self) -> frozenset[Answer]:
        """All but state vectors, which its nodes do not have; several networks have no probability of a given tree."""
        without = {"states"} if len(self.isbn.networks) == 1 else {"states", "tree_log_probability"}
        return ANSWERS - without

    def parse(self, query: Sentence) -> Parse:
        """The tree of a sentence that the derivations in the beam choose, as `BeamSettings.decoding` says.

        Derivations that do not satisfy the constraints are left out at the end of the search; if none is left, the tree
        is that without constraints, of status "unconstrained".
        RETURNS (Parse): its `log_probability` sums the derivations that the search has found: a lower bound, the higher
            the wider the beam.
        RAISES (ValueError): As `Query`.
        """
        query = Query.of(query)
        derivations = self._derivations(query, self.settings)
        kept = derivations.that(query.constraints)
        if kept:
            return self._decode(query, kept)
        parse = self._decode(query, derivations) if derivations else self._glued(query)
        return parse if query.constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """A tag of each word alone, from a table; of words that the network does not know that of unknown words."""
        return self.isbn.vocabulary.tags_by_name(words)

    def n_best(self, query: Sentence, n: int) -> list[Analysis]:
        """The most probable trees that the search finds, best first.

        n (int): how many, at least 1; the beam is as wide at least.
        RETURNS (list of Analysis): distinct but for their tags, which are those most likely with the tree; a
            log-probability sums all found derivations of a tree, over its tags too, and a probability is a share of all
            that are found. That of the tree with the tags that it has here is `tree_log_probability`, which is lower.
            Fewer than n if there are no more within `BeamSettings.final_margin`; none where `parse`
            falls back.
        RAISES (ValueError): As `parse`, and if n is no whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        wide = replace(self.settings, beam=max(self.settings.beam, n))
        return self._distribution(Query.of(query), wide).n_best(n)

    def distribution(self, query: Sentence) -> Distribution:
        """P(tree | words) over the trees that the search finds: n-best trees, samples, entropy and ln P(words).

        RETURNS (Distribution): of trees that are distinct but for their tags. What the beam lost is not in it: ln P is
            a lower bound, and so in general is the entropy. Empty where `parse` falls back.
        RAISES (ValueError): As `parse`.
        """
        return self._distribution(Query.of(query), self.settings)

    def _distribution(self, query: Query, settings: BeamSettings) -> ListedDistribution:
        derivations = self._derivations(query, settings).that(query.constraints)
        names = self.isbn.tags
        return ListedDistribution(
            (Tree.from_spans(query.words, with_given([names[tag] for tag in own], query.certain_tags), spans), log)
            for spans, own, log in derivations.trees()
        )

    def log_probability(self, query: Sentence) -> float:
        """ln P(words) in nats, summed over the derivations that the search finds: a lower bound; -inf for none."""
        return self._derivations(Query(Query.of(query).words), self.settings).log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """ln P(tree, words) of a tree with just its tags, in nats; no beam has a part in it.

        tree (Tree): in the treebank's spelling; it is normalized as for learning.
        RETURNS (float): -inf if it has labels or tags that the network does not know.
        RAISES (ValueError): If there are several networks, whose mean is known along a search only; if the tree has no
            words.
        """
        return float(self.tree_log_probabilities([tree])[0])

    def tree_log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """Those of several trees, float64 (n_trees,); as `tree_log_probability`."""
        self.require("tree_log_probability")
        normal = [tree for tree in map(normalize, trees) if tree is not None]
        if len(normal) < len(trees):
            raise ValueError("Expected a tree with words, got one of nothing but empty elements.")
        vocabulary = self.isbn.vocabulary
        events = [events_of([tree], vocabulary, self.isbn.relations) for tree in normal]
        known = [i for i, each in enumerate(events) if each.n_sequences]
        found = np.full(len(events), -np.inf)
        if known:
            of_words = [vocabulary.candidates(normal[i].words, normal[i].tags).log_factors.sum() for i in known]
            joined = DecisionEvents.join([events[i] for i in known])
            found[known] = log_likelihoods(self.isbn.networks[0], joined) + of_words
        return found

    def read(self, query: Sentence, *, guide: Posteriors | None = None) -> SentenceReading:
        """Probabilities of the brackets and tags in the derivations that the search finds.

        Those of the one tree that `parse` gives, where it falls back. Under a guide, if it is not of a single tree and
        if there are no constraints, those in a lattice, if there are settings for it and `can_guide` holds; those of
        the guide where that falls back.
        """
        query = Query.of(query)
        if self._lattices is not None and guide is not None and not (guide.is_of_one or query.constraints):
            return SentenceReading(self._lattices.posteriors(query, guide))
        derivations = self._derivations(query, self.settings)
        kept = derivations.that(query.constraints)
        if kept or derivations:
            posteriors = (kept or derivations).posteriors(self.isbn.tags)
            log_probability = (kept or derivations).log_probability
            return SentenceReading(posteriors, None, log_probability, PARSED if kept else UNCONSTRAINED)
        parse = self._glued(query)
        posteriors = Posteriors(dict.fromkeys(parse.spans, 0.0), [{tag: 0.0} for tag in parse.tags])
        return SentenceReading(posteriors, status=GLUED)

    def start(self) -> Prefix:
        """The state before the first word of a sentence, from which words can be pushed one by one."""
        return Prefix(self, self._new_search(self.settings), (), 0.0, 0.0)

    def surprisal(self, query: Sentence) -> np.ndarray:
        """How unexpected each word of a sentence is after those before it, and its end after all of them.

        With given tags it is the surprisal of words with tags.
        RETURNS (float64, (n_words + 1,)): -log2 P(word | words before), in bits, and last that of the end. Never
            negative; they add up to -log2 P(sentence), of which the beam makes them an upper bound. nan where the
            search takes more memory than is allowed.
        RAISES (ValueError): As `parse`.
        """
        query = Query.of(query)
        search = self._borrow(self.settings)
        search.add(self.isbn.vocabulary.candidates(query.words, query.certain_tags))
        logs = [0.0]
        for _ in query.words:
            search.advance()
            if search.n_bytes > self._max_bytes:
                return np.full(len(query.words) + 1, np.nan)
            logs.append(log_sum(search.log_probabilities()))
        search.finish()
        logs.append(log_sum(search.final_log_probabilities()))
        self._give_back(search)
        falling = np.minimum.accumulate(logs)  # which they are, but for rounding
        with np.errstate(invalid="ignore"):
            found = -np.diff(falling) / np.log(2)
        return np.where(np.isnan(found), np.inf, found)

    def _new_lattices(self, settings: BeamSettings) -> LatticeReader | None:
        if settings.lattice is None or not can_guide(self.isbn):
            return None
        return LatticeReader(
            self.isbn, self._networks, settings.lattice, unary_cap=settings.unary_cap, max_bytes=self._max_bytes
        )

    def _new_search(self, settings: BeamSettings) -> Search:
        return Search(
            self._networks,
            beam=settings.beam,
            branching=settings.branching,
            unary_cap=settings.unary_cap,
            max_pops=settings.max_pops,
            margin=settings.margin,
            final_margin=settings.final_margin,
            tolerance=settings.tolerance,
        )

    def _borrow(self, settings: BeamSettings) -> Search:
        """A search that no thread uses: fresh memory is slow."""
        if settings != self.settings:
            return self._new_search(settings)
        try:
            return self._idle.pop()
        except IndexError:
            return self._new_search(settings)

    def _give_back(self, search: Search) -> None:
        if search.n_bytes <= MAX_IDLE_BYTES:
            search.clear()
            self._idle.append(search)

    def _derivations(self, query: Query, settings: BeamSettings) -> Derivations:
        search = self._borrow(settings)
        if not self._advance(search, query):
            return Derivations([], np.zeros(0))
        search.finish()
        derivations = Derivations(search.final_derivations(), search.final_log_probabilities())
        if settings == self.settings:
            self._give_back(search)
        return derivations

    def _advance(self, search: Search, query: Query) -> bool:
        """Shift all words of a sentence, but for those that there is no memory for; whether it was enough."""
        search.add(self.isbn.vocabulary.candidates(query.words, query.certain_tags))
        for _ in query.words:
            search.advance()
            if search.n_bytes > self._max_bytes:
                return False
        return True

    def _decode(self, query: Query, derivations: Derivations) -> Parse:
        posteriors = derivations.posteriors(self.isbn.tags)
        if self.settings.decoding == "most-probable":
            chosen, numbers, _ = derivations.trees()[0]
            spans, own = list(chosen), [self.isbn.tags[tag] for tag in numbers]
        else:
            spans = mbr_brackets(posteriors.brackets, len(query.words), cost=self.settings.bracket_cost)
            own = [max(shares, key=shares.__getitem__) for shares in posteriors.tags]
        return Parse(
            words=query.words,
            tags=with_given(own, query.certain_tags),
            spans=spans,
            span_scores=_as_probabilities([posteriors.brackets[span] for span in spans]),
            tag_scores=_as_probabilities([shares[tag] for tag, shares in zip(own, posteriors.tags, strict=True)]),
            log_probability=derivations.log_probability,
            status=PARSED,
        )

    def _glued(self, query: Query) -> Parse:
        """A flat tree, for a sentence without any derivation: where a network's numbers overflow, or memory ends."""
        candidates = self.isbn.vocabulary.candidates(query.words, query.certain_tags)
        labels = self.isbn.labels
        return Parse(
            words=query.words,
            tags=with_given(
                [self.isbn.tags[tag] for tag in candidates.tags[candidates.offsets[:-1]]], query.certain_tags
            ),
            spans=[(0, len(query.words), "S" if "S" in labels or not labels else labels[0])],
            span_scores=np.zeros(1, dtype=np.float32),
            tag_scores=np.zeros(len(query.words), dtype=np.float32),
            log_probability=float("nan"),
            status=GLUED,
        )


class Prefix:
    """The words of a sentence up to some point, and what the parser makes of them. It never changes.

    words (tuple[str, ...]): so far.
    log_probability (float): natural log of the probability that a sentence begins with these words, over the hypotheses
        in the beam: a lower bound.
    surprisal (float): of the last word after those before it, in bits; 0 before any word.
    """

    def __init__(
        self,
        parser: IncrementalParser,
        search: Search,
        words: tuple[str, ...],
        log_probability: float,
        surprisal: float,
    ) -> None:
        self._parser = parser
        self._search = search
        self.words = words
        self.log_probability = log_probability
        self.surprisal = surprisal

    def push(self, word: str, tag: str | None = None) -> Prefix:
        """The prefix with one more word.

        tag (str): given to the word; None, or one that the network never saw, for the parser's own.
        """
        parser, search = self._parser, self._search.copy()
        search.add(parser.isbn.vocabulary.candidates([word], [tag], first=not self.words))
        search.advance()
        after = min(self.log_probability, log_sum(search.log_probabilities()))
        return Prefix(parser, search, (*self.words, word), after, bits(self.log_probability, after))

    def trees(self, n: int = 1) -> list[PrefixTree]:
        """The most probable hypotheses about the words so far, at most n of them, best first.

        RETURNS (list of PrefixTree): each with its log-probability, of which that of the prefix is the sum; empty
            before the first word.
        RAISES (ValueError): If n is no whole number of at least 1.
        """
        COUNT(n=n)
        if not self.words:
            return []
        logs = self._search.log_probabilities().tolist()
        tags = self._parser.isbn.tags
        return [
            prefix_tree(self.words, [tags[tag] for tag in own], nodes, log_probability)
            for (nodes, own), log_probability in zip(self._search.derivations()[:n], logs, strict=False)
        ]

    def finish(self) -> Finished:
        """What the words are as a whole sentence.

        RAISES (ValueError): Before the first word.
        """
        if not self.words:
            raise ValueError("Expected a word at least before the end of a sentence; push one.")
        search = self._search.copy()
        search.finish()
        derivations = Derivations(search.final_derivations(), search.final_log_probabilities())
        if not derivations:
            return Finished(self._parser._glued(Query(self.words)), bits(self.log_probability, -np.inf))
        after = min(self.log_probability, derivations.log_probability)
        parse = self._parser._decode(Query(self.words), derivations)
        return Finished(replace(parse, log_probability=after), bits(self.log_probability, after))


class Finished(NamedTuple):
    """The parse of a sentence, and the surprisal of its end in bits."""

    parse: Parse
    surprisal: float


def _as_probabilities(scores: list[float]) -> np.ndarray:
    return np.array(scores, dtype=np.float32).clip(0, 1)


def bits(before: float, after: float) -> float:
    """Surprisal by which a log-probability has come from one to the other; inf where nothing is left."""
    return (before - after) / np.log(2) if after > -np.inf else np.inf


def network_parser(isbn: ISBN, decoding: str, *, search: BeamSettings = BeamSettings()) -> IncrementalParser:
    """Return the parser that `ISBN.parser` makes; `decoding` goes before that of the settings."""
    return IncrementalParser(isbn, settings=replace(search, decoding=decoding))


add_kind(ISBN.kind, ISBN.from_bytes, network_parser)
