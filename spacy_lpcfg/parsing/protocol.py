"""The interface of parsers, and the questions about a sentence that a parser may answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, Analysis, Distribution, Parse, Posteriors, StateVectors
from spacy_lpcfg.trees.tree import Tree

Sentence = Query | Sequence[str]
"""What parsers take: a query, or the bare words of a sentence in the spelling of the treebank."""

Answer = Literal["distribution", "log_probability", "tree_log_probability", "surprisal", "states"]
_NAMES: dict[str, str] = {
    "distribution": "n-best trees, samples and entropies",
    "log_probability": "log-probabilities of sentences",
    "tree_log_probability": "log-probabilities of trees",
    "surprisal": "surprisal",
    "states": "state vectors",
}
ANSWERS: frozenset[Answer] = frozenset(get_args(Answer))


@dataclass(frozen=True, eq=False)
class SentenceReading:
    """The result of inference before decoding: posteriors, log-probability and status of a sentence.

    posteriors (Posteriors): The posteriors of brackets and tags.
    parse (Parse or None): The tree of a fall-back, whose scores then are the posteriors; None if inference succeeded.
    log_probability (float): The log-probability of the sentence, as in `Parse`; nan if the model has none.
    status (str): The status of the sentence's parses, as in `Parse`.
    """

    posteriors: Posteriors
    parse: Parse | None = None
    log_probability: float = float("nan")
    status: str = PARSED

    @classmethod
    def of(cls, parse: Parse) -> SentenceReading:
        """Create a reading from the tree of a fall-back, whose scores are used as posteriors."""
        return SentenceReading(Posteriors.of(parse), parse, parse.log_probability, parse.status)


class SentenceParser(ABC):
    """Interface of a parser of sentences that uses one model; threads may share a parser.

    Methods that `answers` does not list raise ValueError.

    kind (str): What error messages call the model, such as "a belief network".
    """

    kind: str

    @property
    def answers(self) -> frozenset[Answer]:
        """The names of the questions that the parser answers, from `ANSWERS`, besides trees and posteriors."""
        return frozenset()

    def require(self, answer: Answer) -> None:
        """Raise ValueError unless `answer` is among the `answers` of the parser."""
        if answer not in self.answers:
            known = ["trees", "posteriors", *(name for key, name in _NAMES.items() if key in self.answers)]
            raise ValueError(
                f"No {_NAMES[answer]} from {self.kind}, which has {', '.join(known)}. Use one proper grammar (such as "
                "EM, Pivot and TreebankPCFG learn), which has all of them."
            )

    @abstractmethod
    def parse(self, query: Sentence) -> Parse:
        """Parse a sentence; every sentence of one or more words gets a tree.

        query (Query or sequence of str): The sentence; bare words in treebank spelling are parsed without further
            knowledge.
        RAISES (ValueError): As for `Query`. Unknown words are no error.
        """

    @abstractmethod
    def read(self, query: Sentence) -> SentenceReading:
        """Compute the posteriors of a sentence, without choosing a tree."""

    @abstractmethod
    def likely_tags(self, words: Sequence[str]) -> list[str]:
        """Look up a likely tag of each word without context, for sentences that cannot be parsed in time."""

    def prepare(self, queries: Sequence[Query]) -> list[Query]:
        """Return the queries with evidence and listed tags added, computed in one batch; by default unchanged.

        Calling this is optional: `parse` adds what a query lacks.
        """
        return list(queries)

    def posteriors(self, query: Sentence) -> Posteriors:
        """Return the posterior probabilities of all brackets and tags that were not pruned.

        If the model has no tree over the whole sentence, the scores of the tree that `parse` returns take their place.
        """
        return self.read(query).posteriors

    def tempered_posteriors(self, query: Sentence, taus: Sequence[float]) -> list[Posteriors]:
        """Return the posteriors of a sentence for each tau: the probabilities of trees to the power tau, renormalized.

        taus (sequence of float): The powers, above 0; less than 1 makes probabilities less certain.
        RETURNS (list of Posteriors): The posteriors for each power.
        RAISES (ValueError): If the model has no distribution over trees.
        """
        raise ValueError(f"Expected a model whose trees have probabilities, got {self.kind}: nothing to temper.")

    def distribution(self, query: Sentence) -> Distribution:
        """Return the distribution P(tree | words); empty if the model has no tree over the whole sentence.

        RAISES (ValueError): If `answers` lacks "distribution".
        """
        self.require("distribution")
        raise NotImplementedError

    def n_best(self, query: Sentence, n: int) -> list[Analysis]:
        """Return the n most probable trees, best first; fewer if there are no more, see `Distribution.n_best`.

        RAISES (ValueError): If `answers` lacks "distribution", or n is out of range.
        """
        return self.distribution(query).n_best(n)

    def states(self, query: Sentence) -> list[StateVectors]:
        """Return the inside and outside vectors of all constituents and words of the tree of `parse`, in pre-order.

        RETURNS (list of StateVectors): Empty if the model has no tree over the whole sentence.
        RAISES (ValueError): If `answers` lacks "states".
        """
        self.require("states")
        raise NotImplementedError

    def surprisal(self, query: Sentence) -> np.ndarray:
        """Return -log2 P(word | words before) of each word and of the sentence's end, in bits, float64 (n_words + 1,).

        RAISES (ValueError): If `answers` lacks "surprisal".
        """
        self.require("surprisal")
        raise NotImplementedError

    def log_probability(self, query: Sentence) -> float:
        """Return ln P(words), in nats; tags and constraints of the query are ignored.

        RAISES (ValueError): If `answers` lacks "log_probability".
        """
        self.require("log_probability")
        raise NotImplementedError

    def tree_log_probability(self, tree: Tree) -> float:
        """Return ln P(tree, words), in nats.

        RAISES (ValueError): If `answers` lacks "tree_log_probability".
        """
        self.require("tree_log_probability")
        raise NotImplementedError

    def tree_log_probabilities(self, trees: Sequence[Tree]) -> np.ndarray:
        """Return ln P(tree, words) of each tree, in nats, float64 (n_trees,)."""
        return np.array([self.tree_log_probability(tree) for tree in trees])
