"""Parsing with an incremental sigmoid belief network: whole sentences, and prefixes word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.isbn.derivations import DerivationCandidates, Derivations
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.prefix import PrefixTree, prefix_tree
from spacy_lpcfg.isbn.relations import codes
from spacy_lpcfg.isbn.search import Networks, Search
from spacy_lpcfg.isbn.settings import MAX_IDLE_BYTES, BeamSettings
from spacy_lpcfg.parsing.decodings import MBR, Decoding
from spacy_lpcfg.parsing.distribution import ListedDistribution, check_n_best
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
    """A beam-search parser for an ISBN (incremental sigmoid belief network); it may be shared by threads.

    isbn (ISBN): The model.
    decoding (Decoding): How one tree is chosen among the trees that the search finds.
    search (BeamSettings): Settings of the beam search.
    tau (float or None): Power of the probabilities of derivations, see `Derivations`; None for the model's. It affects
        all probabilities of trees, but not log-probabilities of words, surprisal and prefixes.
    RAISES (ValueError): If networks do not support the decoding.
    """

    kind = "a belief network"

    def __init__(
        self,
        isbn: ISBN,
        decoding: Decoding = MBR,
        *,
        search: BeamSettings = BeamSettings(),
        tau: float | None = None,
    ) -> None:
        isbn.check_decoding(decoding.name)
        self.isbn = isbn
        self.search = search
        self.decoding = decoding
        self.tau = isbn.tau if tau is None else tau
        self._networks = Networks(isbn, codes(isbn.relations.latent), codes(isbn.relations.decisions))
        self._idle: list[Search] = []
        self._max_bytes = limit()  # for the vectors of a search

    @property
    def answers(self) -> frozenset[Answer]:
        """The questions that the parser answers: all but "states"; "tree_log_probability" only with one network."""
        without = {"states"} if len(self.isbn.networks) == 1 else {"states", "tree_log_probability"}
        return ANSWERS - without

    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence: return the tree that the decoding chooses from the derivations in the beam.

        Derivations that do not satisfy the constraints are discarded at the end of the search; if none is left, the
        result is the tree without constraints, with the status "unconstrained". If the search finds no derivation, the
        result is a flat tree with the status "glued".

        RETURNS (Parse): Its `log_probability` is summed over the derivations found, and so is a lower bound.
        RAISES (ValueError): As for `Query`.
        """
        query = Query.of(query)
        derivations = self._derivations(query, self.search)
        satisfying = derivations.satisfying(query.constraints)
        if satisfying:
            return self._decode(query, satisfying)
        parse = self._decode(query, derivations) if derivations else self._glued(query)
        return parse if query.constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return a tag of each word without context: the first of its known tags, in alphabetical order.

        An unknown word gets the most frequent tag of unknown words.
        """
        return self.isbn.vocabulary.tags_by_name(words)

    def n_best(self, query: Sentence, n: int) -> list[Analysis]:
        """Return the most probable trees that the search finds, best first.

        Trees differ in their brackets, and each has its most probable tags. Values of an `Analysis`:

        - `probability` is P(tree | words) among the derivations found, tempered with `tau` and summed over tags.
        - `log_probability` is ln P(words) + ln P(tree | words) in nats. It equals ln P(tree, words), summed over tags,
          only if `tau` is 1; `tree_log_probability` is for a tree with its tags.

        query (Query or sequence of str): The sentence.
        n (int): Maximum number of trees; the beam is widened to n.
        RETURNS (list of Analysis): Fewer than n trees if no more are within `BeamSettings.final_margin`; an empty list
            if no derivation is found or satisfies the constraints.
        RAISES (ValueError): As for `parse`, and if n is not a whole number from 1 to `MAX_N_BEST`.
        """
        check_n_best(n)
        wide = replace(self.search, beam=max(self.search.beam, n))
        return self._distribution(Query.of(query), wide).n_best(n)

    def distribution(self, query: Sentence) -> Distribution:
        """Return P(tree | words) over the trees that the search finds: n-best trees, samples, entropy and ln P(words).

        RETURNS (Distribution): Trees that differ in their brackets, tempered with `tau`. Pruned trees are missing, so
            that ln P(words) is a lower bound, and mostly the entropy too. Empty if no derivation satisfies the
            constraints.
        RAISES (ValueError): As for `parse`.
        """
        return self._distribution(Query.of(query), self.search)

    def _distribution(self, query: Query, settings: BeamSettings) -> ListedDistribution:
        derivations = self._derivations(query, settings).satisfying(query.constraints)
        names = self.isbn.tags
        return ListedDistribution(
            (Tree.from_spans(query.words, with_given([names[tag] for tag in tags], query.certain_tags), spans), log)
            for spans, tags, log in derivations.trees()
        )

    def log_probability(self, query: Sentence) -> float:
        """Return a lower bound of ln P(words) in nats, summed over the derivations found; -inf if none are found."""
        return self._derivations(Query(Query.of(query).words), self.search).log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """Return ln P(tree, words) of a tree with its tags, in nats, computed without a beam.

        tree (Tree): A tree in treebank spelling; it is normalized as for learning.
        RETURNS (float): -inf if the tree has unknown labels or tags.
        RAISES (ValueError): If there are several networks, which are only averaged during a search, or the tree has no
            words.
        """
        return float(self.tree_log_probabilities([tree])[0])

    def tree_log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """Return ln P(tree, words) of each tree with its tags, in nats, float64 (n_trees,); see `tree_log_probability`.

        RAISES (ValueError): If there are several networks, or a tree has no words.
        """
        self.require("tree_log_probability")
        functions = self.isbn.has_functions
        normal = [tree for tree in (normalize(tree, functions=functions) for tree in trees) if tree]
        if len(normal) < len(trees):
            raise ValueError("Expected a tree with words, got one of nothing but empty elements.")
        vocabulary = self.isbn.vocabulary
        events = [events_of([tree], vocabulary, self.isbn.relations) for tree in normal]
        known = [i for i, of_tree in enumerate(events) if of_tree.n_sequences]
        log_probabilities = np.full(len(events), -np.inf)
        if known:
            of_words = [vocabulary.candidates(normal[i].words, normal[i].tags).log_factors.sum() for i in known]
            joined = DecisionEvents.join([events[i] for i in known])
            log_probabilities[known] = log_likelihoods(self.isbn.networks[0], joined) + of_words
        return log_probabilities

    def read(self, query: Sentence) -> SentenceReading:
        """Return the posteriors of brackets and tags over the derivations that the search finds.

        If no derivation satisfies the constraints, they are ignored. If the search finds no derivation, the result has
        the flat tree that `parse` returns, with posteriors of 0.
        """
        query = Query.of(query)
        derivations = self._derivations(query, self.search)
        satisfying = derivations.satisfying(query.constraints)
        if satisfying or derivations:
            posteriors = (satisfying or derivations).posteriors(self.isbn.tags)
            log_probability = (satisfying or derivations).log_probability
            return SentenceReading(posteriors, None, log_probability, PARSED if satisfying else UNCONSTRAINED)
        parse = self._glued(query)
        posteriors = Posteriors(dict.fromkeys(parse.spans, 0.0), [{tag: 0.0} for tag in parse.tags])
        return SentenceReading(posteriors, status=GLUED)

    def tempered_posteriors(self, query: Sentence, taus: Sequence[float]) -> list[Posteriors]:
        """Return the posteriors of brackets and tags for each power `tau`, from a single search.

        As in `read`, constraints that no derivation satisfies are ignored. If the search finds no derivation, each item
        has the flat tree that `parse` returns, with posteriors of 0.

        taus (sequence of float): Powers of the probabilities of derivations, above 0; less than 1 makes the posteriors
            less certain.
        RETURNS (list of Posteriors): The posteriors for each tau.
        """
        query = Query.of(query)
        found = self._derivations(query, self.search)
        found = found.satisfying(query.constraints) or found
        if not found:
            return [self.posteriors(query)] * len(taus)
        return [found.tempered(tau).posteriors(self.isbn.tags) for tau in taus]

    def start(self) -> Prefix:
        """Return the empty prefix, to which words can be added one by one with `Prefix.push`."""
        return Prefix(self, Search(self._networks, self.search), (), 0.0, 0.0)

    def surprisal(self, query: Sentence) -> np.ndarray:
        """Return the surprisal of each word given the words before it, and of the end of the sentence.

        With given tags it is the surprisal of each word together with its tag.

        RETURNS (float64, (n_words + 1,)): -log2 P(word | words before) in bits, and finally the surprisal of the end.
            Values are never negative; their sum is an upper bound of -log2 P(sentence) due to the beam. If no
            derivation can generate a word, its value and all later ones are inf. All values are nan if the search
            exceeds the memory limit.
        RAISES (ValueError): As for `parse`.
        """
        query = Query.of(query)
        search = self._borrow(self.search)
        search.add(self.isbn.vocabulary.candidates(query.words, query.certain_tags))
        logs = [0.0]
        for _ in query.words:
            search.advance()
            if search.n_bytes > self._max_bytes:
                return np.full(len(query.words) + 1, np.nan)
            logs.append(np.logaddexp.reduce(search.log_probabilities()))
        search.finish()
        logs.append(np.logaddexp.reduce(search.final_log_probabilities()))
        self._give_back(search)
        falling = np.minimum.accumulate(logs)  # removes rises due to rounding
        with np.errstate(invalid="ignore"):
            bits_of_words = -np.diff(falling) / np.log(2)
        return np.where(np.isnan(bits_of_words), np.inf, bits_of_words)

    def _borrow(self, settings: BeamSettings) -> Search:
        """Take an idle search, since allocating memory is slow, or create one."""
        if settings != self.search:
            return Search(self._networks, settings)
        try:
            return self._idle.pop()
        except IndexError:
            return Search(self._networks, settings)

    def _give_back(self, search: Search) -> None:
        if search.n_bytes <= MAX_IDLE_BYTES:
            search.clear()
            self._idle.append(search)

    def _derivations(self, query: Query, settings: BeamSettings) -> Derivations:
        search = self._borrow(settings)
        if not self._advance(search, query):
            return Derivations([], np.zeros(0))
        search.finish()
        derivations = Derivations(search.final_derivations(), search.final_log_probabilities(), self.tau)
        if settings == self.search:
            self._give_back(search)
        return derivations

    def _advance(self, search: Search, query: Query) -> bool:
        """Search up to the last word of a sentence; return False if the search exceeds the memory limit."""
        search.add(self.isbn.vocabulary.candidates(query.words, query.certain_tags))
        for _ in query.words:
            search.advance()
            if search.n_bytes > self._max_bytes:
                return False
        return True

    def _decode(self, query: Query, derivations: Derivations) -> Parse:
        return self.decoding.choose(DerivationCandidates(query, derivations, self.isbn.tags))

    def _glued(self, query: Query) -> Parse:
        """Return a flat tree, for a sentence without any derivation because of underflow or the memory limit."""
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
    """The beginning of a sentence, with the state of the beam search after its last word; immutable.

    words (tuple[str, ...]): The words so far.
    log_probability (float): A lower bound of ln P(a sentence begins with these words), in nats, summed over the beam.
    surprisal (float): Surprisal of the last word given the words before it, in bits; 0 for the empty prefix.
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
        """Return the prefix with one more word.

        word (str): The next word.
        tag (str or None): Given tag of the word. If it is None or an unknown tag, the search considers all likely tags.
        RAISES (ValueError): If the word is empty or not a string.
        """
        parser, search, query = self._parser, self._search.copy(), Query([word], [tag])
        search.add(parser.isbn.vocabulary.candidates(query.words, query.tags, first=not self.words))
        search.advance()
        after = min(self.log_probability, float(np.logaddexp.reduce(search.log_probabilities())))
        return Prefix(parser, search, (*self.words, word), after, bits(self.log_probability, after))

    def trees(self, n: int = 1) -> list[PrefixTree]:
        """Return the n most probable partial parses of the words so far, best first.

        n (int): Maximum number of partial parses.
        RETURNS (list of PrefixTree): Empty before the first word. The probabilities of all partial parses in the beam
            sum to the probability of the prefix.
        RAISES (ValueError): If n is not a whole number of at least 1.
        """
        COUNT(n=n)
        if not self.words:
            return []
        logs = self._search.log_probabilities().tolist()
        tags = self._parser.isbn.tags
        return [
            prefix_tree(self.words, [tags[tag] for tag in numbers], nodes, log_probability)
            for (nodes, numbers), log_probability in zip(self._search.derivations()[:n], logs, strict=False)
        ]

    def finish(self) -> Finished:
        """Parse the words as a complete sentence.

        RAISES (ValueError): If the prefix has no words yet.
        """
        if not self.words:
            raise ValueError("Expected a word at least before the end of a sentence; push one.")
        search = self._search.copy()
        search.finish()
        derivations = Derivations(search.final_derivations(), search.final_log_probabilities(), self._parser.tau)
        if not derivations:
            return Finished(self._parser._glued(Query(self.words)), bits(self.log_probability, -np.inf))
        after = min(self.log_probability, derivations.log_probability)
        parse = self._parser._decode(Query(self.words), derivations)
        return Finished(replace(parse, log_probability=after), bits(self.log_probability, after))


class Finished(NamedTuple):
    """The result of `Prefix.finish`.

    parse (Parse): The parse of the complete sentence.
    surprisal (float): The surprisal of the end of the sentence, in bits.
    """

    parse: Parse
    surprisal: float


def bits(before: float, after: float) -> float:
    """Return the surprisal of the step from one prefix to the next, in bits; inf if `after` is -inf.

    before, after (float): The log-probabilities of the two prefixes, in nats.
    """
    return (before - after) / np.log(2) if after > -np.inf else np.inf
