"""Parsing by an incremental sigmoid belief network: whole sentences, and word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from spacy_lpcfg.isbn.derivations import Derivations, log_sum
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.prefix import PrefixTree, prefix_tree
from spacy_lpcfg.isbn.relations import codes
from spacy_lpcfg.isbn.search import Networks, Search
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.parsing.distribution import ListedDistribution, check_number
from spacy_lpcfg.parsing.mbr import consensus
from spacy_lpcfg.parsing.result import (
    GLUED,
    PARSED,
    UNCONSTRAINED,
    Analysis,
    Distribution,
    Parse,
    Posteriors,
    check_input,
    with_given,
)
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree

DECODINGS = ("brackets", "tree")
_MOST_IDLE = 1 << 25  # bytes of vectors that an idle search may hold room for

MOST = 100_000_000  # of anything that a search counts


@dataclass(frozen=True)
class BeamSettings:
    """How widely a parser searches, and which tree it chooses.

    beam (int): hypotheses that are kept after each word.
    branching (int): actions that are followed at each step: the most likely ones (and Shift).
    margin (float): in nats; the search for a word goes on while a hypothesis would enter the beam if it shifted its
        word with a probability that much above the greatest one so far.
    unary_cap (int): most nodes that are projected in a row.
    max_pops (int): most hypotheses that are looked at for a word; those at the end of a sentence that by then have not
        come to its end are completed by their most likely steps.
    final_margin (float): in nats; derivations of the whole sentence are sought until they fall so far below the best.
    tolerance (float): residual of the equations for the means, where the approximation is "mean-field".
    decoding (str): "brackets" finds the brackets that nest and have the largest sum of posteriors, each less
        `bracket_cost` (minimum Bayes risk over the derivations that are left); "tree" the most probable tree.
    bracket_cost (float): a bracket less likely than this is better left out; more of it for precision, less for recall.
    RAISES (ValueError): On another way of decoding, or sizes below 1 or above `MOST`.
    """

    beam: int = 30
    branching: int = 5
    margin: float = 1.0
    unary_cap: int = 4
    max_pops: int = 4_000
    final_margin: float = 8.0
    tolerance: float = 0.1
    decoding: str = "brackets"
    bracket_cost: float = 0.5

    def __post_init__(self) -> None:
        if self.decoding not in DECODINGS:
            raise ValueError(f"Expected decoding to be one of {DECODINGS}, got {self.decoding!r}.")
        for name in ("beam", "branching", "unary_cap", "max_pops"):
            if not 1 <= getattr(self, name) <= MOST:
                raise ValueError(f"Expected {name} from 1 to {MOST:,}, got {getattr(self, name)}.")


class IncrementalParser:
    """Parses sentences by an ISBN; any number of threads may share one.

    isbn (ISBN): by any learner.
    settings (BeamSettings): search and decoding.
    """

    def __init__(self, isbn: ISBN, *, settings: BeamSettings = BeamSettings()) -> None:
        self.isbn = isbn
        self.settings = settings
        self._networks = Networks(isbn, codes(isbn.relations.latent), codes(isbn.relations.decisions))
        self._idle: list[Search] = []

    def parse(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Parse:
        """The tree of a sentence that the derivations in the beam choose, as `BeamSettings.decoding` says.

        words (sequence of str): in the treebank's spelling; at least one.
        tags (sequence of str or None): given tags, None where there is none; None for the parser's own. A tag that
            the network never saw counts as none.
        constraints (Constraints): spans that the tree must have or must not have. Derivations without them are left out
            at the end of the search; if none is left, the tree is that without constraints, of status "unconstrained".
        RETURNS (Parse): its `log_probability` sums the derivations that the search has found: a lower bound, the higher
            the wider the beam.
        RAISES (ValueError): If there are no words, other tags than words, or constraints on what is no span of the
            words. Never because of what they are.
        """
        finals = self._finals(words, tags, self.settings)
        kept = finals.that(constraints, len(words))
        if kept:
            return self._decode(words, tags, kept)
        parse = self._decode(words, tags, finals) if finals else self._glued(words, tags)
        return parse if constraints.allow(parse.spans) else replace(parse, status=UNCONSTRAINED)

    def n_best(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        n: int,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> list[Analysis]:
        """The most probable trees that the search finds, best first; arguments as of `parse`.

        n (int): how many, at least 1; the beam is as wide at least.
        RETURNS (list of Analysis): distinct but for their tags, which are those most likely with the tree; a
            log-probability sums all found derivations of a tree, and a probability is a share of all that are found.
            Fewer than n if there are no more within `BeamSettings.final_margin`; none where `parse` falls back.
        RAISES (ValueError): As of `parse`, and if n is less than 1.
        """
        check_number(n)
        wide = replace(self.settings, beam=max(self.settings.beam, n))
        return self._distribution(words, tags, constraints, wide).n_best(n)

    def distribution(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Distribution:
        """P(tree | words) over the trees that the search finds: n-best trees, samples, entropy and ln P(words).

        words, tags, constraints: as of `parse`.
        RETURNS (Distribution): of trees that are distinct but for their tags. What the beam lost is not in it: ln P is
            a lower bound, and so in general is the entropy. Empty where `parse` falls back.
        RAISES (ValueError): As of `parse`.
        """
        return self._distribution(words, tags, constraints, self.settings)

    def _distribution(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None,
        constraints: Constraints,
        settings: BeamSettings,
    ) -> ListedDistribution:
        finals = self._finals(words, tags, settings).that(constraints, len(words))
        names = self.isbn.tags
        return ListedDistribution(
            (Tree.from_spans(words, with_given([names[tag] for tag in own], tags), spans), log_probability)
            for spans, own, log_probability in finals.trees()
        )

    def log_probability(self, words: Sequence[str]) -> float:
        """ln P(words) in nats, summed over the derivations that the search finds: a lower bound; -inf for none."""
        return self._finals(words, None, self.settings).log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """ln P(tree, words) of a tree with its tags, in nats; no beam has a part in it.

        tree (Tree): in the treebank's spelling; it is normalized as for learning.
        RETURNS (float): -inf if it has labels or tags that the network does not know.
        RAISES (ValueError): If there are several networks, whose mean is known along a search only; if the tree has no
            words.
        """
        return float(self.tree_log_probabilities([tree])[0])

    def tree_log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """Those of several trees, float64 (n_trees,); as `tree_log_probability`."""
        if len(self.isbn.networks) > 1:
            raise ValueError(
                "Several networks together have no probability of a given tree: look for it in n_best, or ask a parser "
                "by one of them."
            )
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

    def states(self, *_: Any, **__: Any) -> NoReturn:
        """RAISES (ValueError): Always: nodes of a belief network have no states of their own."""
        raise ValueError("Belief networks have no inside and outside vectors: ask a parser by one grammar.")

    def posteriors(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> Posteriors:
        """Probabilities of the brackets and tags in the derivations that the search finds; arguments as of `parse`.

        Those of the one tree that `parse` gives, where it falls back.
        """
        finals = self._finals(words, tags, self.settings)
        finals = finals.that(constraints, len(words)) or finals
        if finals:
            return finals.posteriors(self.isbn.tags)
        parse = self._glued(words, tags)
        return Posteriors(dict.fromkeys(parse.spans, 0.0), [{tag: 0.0} for tag in parse.tags])

    def start(self) -> Prefix:
        """The state before the first word of a sentence, from which words can be pushed one by one."""
        return Prefix(self, self._new_search(self.settings), (), 0.0, 0.0)

    def surprisal(self, words: Sequence[str], tags: Sequence[str | None] | None = None) -> np.ndarray:
        """How unexpected each word of a sentence is after those before it, and its end after all of them.

        words, tags: as of `parse`; with given tags it is the surprisal of words with tags.
        RETURNS (float64, (n_words + 1,)): -log2 P(word | words before), in bits, and last that of the end. Never
            negative; they add up to -log2 P(sentence), of which the beam makes them an upper bound.
        RAISES (ValueError): As of `parse`.
        """
        check_input(words, tags)
        search = self._borrow(self.settings)
        search.add(self.isbn.vocabulary.candidates(words, tags))
        logs = [0.0]
        for _ in words:
            search.advance()
            logs.append(log_sum(search.log_probabilities()))
        search.finish()
        logs.append(log_sum(search.final_log_probabilities()))
        self._give_back(search)
        falling = np.minimum.accumulate(logs)  # which they are, but for rounding
        with np.errstate(invalid="ignore"):
            found = -np.diff(falling) / np.log(2)
        return np.where(np.isnan(found), np.inf, found)

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
        if search.n_bytes <= _MOST_IDLE:
            search.clear()
            self._idle.append(search)

    def _finals(self, words: Sequence[str], tags: Sequence[str | None] | None, settings: BeamSettings) -> Derivations:
        check_input(words, tags)
        search = self._borrow(settings)
        search.run(self.isbn.vocabulary.candidates(words, tags))
        finals = Derivations(search.final_derivations(), search.final_log_probabilities())
        if settings == self.settings:
            self._give_back(search)
        return finals

    def _decode(self, words: Sequence[str], tags: Sequence[str | None] | None, finals: Derivations) -> Parse:
        posteriors = finals.posteriors(self.isbn.tags)
        if self.settings.decoding == "tree":
            chosen, numbers, _ = finals.trees()[0]
            spans, own = list(chosen), [self.isbn.tags[tag] for tag in numbers]
        else:
            spans = consensus(posteriors.brackets, len(words), cost=self.settings.bracket_cost)
            own = [max(shares, key=shares.__getitem__) for shares in posteriors.tags]
        return Parse(
            words=words,
            tags=with_given(own, tags),
            spans=spans,
            span_scores=_as_probabilities([posteriors.brackets[span] for span in spans]),
            tag_scores=_as_probabilities([shares[tag] for tag, shares in zip(own, posteriors.tags)]),
            log_probability=finals.log_probability,
            status=PARSED,
        )

    def _glued(self, words: Sequence[str], tags: Sequence[str | None] | None) -> Parse:
        """A flat tree, for a sentence without any derivation: such as when the numbers of a network overflow."""
        candidates = self.isbn.vocabulary.candidates(words, tags)
        labels = self.isbn.labels
        return Parse(
            words=words,
            tags=with_given([self.isbn.tags[tag] for tag in candidates.tags[candidates.offsets[:-1]]], tags),
            spans=[(0, len(words), "S" if "S" in labels or not labels else labels[0])],
            span_scores=np.zeros(1, dtype=np.float32),
            tag_scores=np.zeros(len(words), dtype=np.float32),
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
        """
        if not self.words:
            return []
        logs = self._search.log_probabilities().tolist()
        tags = self._parser.isbn.tags
        return [
            prefix_tree(self.words, [tags[tag] for tag in own], nodes, log_probability)
            for (nodes, own), log_probability in zip(self._search.derivations()[:n], logs)
        ]

    def finish(self) -> Finished:
        """What the words are as a whole sentence.

        RAISES (ValueError): Before the first word.
        """
        if not self.words:
            raise ValueError("Expected a word at least before the end of a sentence; push one.")
        search = self._search.copy()
        search.finish()
        finals = Derivations(search.final_derivations(), search.final_log_probabilities())
        if not finals:
            return Finished(self._parser._glued(self.words, None), bits(self.log_probability, -np.inf))
        after = min(self.log_probability, finals.log_probability)
        parse = self._parser._decode(self.words, None, finals)
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
