"""The answers of parsers: trees, posteriors, and vectors of latent states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.trees.tree import Span, Tree

PARSED = "parsed"  # the model's tree
COARSE = "coarse"  # the treebank PCFG's tree: the latent weights of every tree add up to nothing
BACKED_OFF = "backed-off"  # a tree with rules that the grammar lacks
GLUED = "glued"  # no tree over the whole sentence: parts of it, side by side
SEGMENTED = "segmented"  # a sentence over the length limit: pieces of it, side by side
OUT_OF_TIME = "out-of-time"  # such a sentence, of which the last pieces are words without brackets
UNCONSTRAINED = "unconstrained"  # no tree has the spans that were asked for: the model's tree without regard to them
_FROM_BEST = (PARSED, COARSE, BACKED_OFF, GLUED, SEGMENTED, OUT_OF_TIME, UNCONSTRAINED)


def worst_status(*statuses: str) -> str:
    """Return the worst of several statuses, which becomes the status of a tree that is joined from several parses.

    From best to worst: parsed, coarse, backed-off, glued, segmented, out-of-time, unconstrained.
    """
    return max(statuses, key=_FROM_BEST.index)


@dataclass(frozen=True, eq=False)
class Parse:
    """The tree of a sentence, with the posteriors of its brackets and tags.

    words (sequence of str, (n_words,)): The words.
    tags (list[str], (n_words,)): The tags; given tags are kept.
    spans (list of (start, end, label)): The brackets in pre-order, without the treebank's root label.
    span_scores (float32, (n_spans,)): Posterior of each bracket, in [0, 1]; 0 for a bracket that only joins pieces.
    tag_scores (float32, (n_words,)): Posterior of each tag, in [0, 1].
    log_probability (float): ln P(words, given tags), summed over the trees that were not pruned: a lower bound, exact
        with the `EXHAUSTIVE` settings of a chart. nan if the model is not proper or has no tree over the whole
        sentence.
    status (str): "parsed", or the fall-back that made the tree: "coarse", "backed-off", "glued", "segmented",
        "out-of-time", "unconstrained".
    probability (float): P(tree | words), among the trees that were not pruned. For a grammar the tree includes the tags
        that the parser chose; for a belief network the probability is summed over tags. nan if the model has no
        distribution over whole trees, or no tree over the whole sentence.
    """

    words: Sequence[str]
    tags: list[str]
    spans: list[Span]
    span_scores: np.ndarray
    tag_scores: np.ndarray
    log_probability: float
    status: str
    probability: float = float("nan")

    @cached_property
    def tree(self) -> Tree:
        """The tree, without the treebank's root label."""
        return Tree.from_spans(self.words, self.tags, self.spans)

    @property
    def is_parsed(self) -> bool:
        """Whether the status is "parsed" or "coarse": a tree of the model spans the sentence as constrained."""
        return self.status in (PARSED, COARSE)


MIN_POSTERIOR = 1e-3
"""The least posterior of a bracket that charts return."""


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posterior probabilities of all brackets and tags of a sentence.

    brackets (dict of (start, end, label) to float): Probabilities of brackets, in pre-order, without brackets that were
        pruned or are very unlikely. Among brackets over the same words, the one that is outermost in most trees comes
        first.
    tags (list of dict of str to float, (n_words,)): The probability of each tag of a word.
    """

    brackets: dict[Span, float]
    tags: list[dict[str, float]]

    @classmethod
    def of(cls, parse: Parse) -> Posteriors:
        """Return posteriors that hold only the brackets and tags of one parse, with their scores."""
        of_tags = [{tag: float(score)} for tag, score in zip(parse.tags, parse.tag_scores, strict=True)]
        return cls(dict(zip(parse.spans, parse.span_scores.tolist(), strict=True)), of_tags)

    @property
    def best_tags(self) -> list[str]:
        """The most probable tag of each word."""
        return [max(of_word, key=of_word.__getitem__) for of_word in self.tags]

    def parse_of(
        self,
        words: Sequence[str],
        own_tags: Sequence[str],
        spans: list[Span],
        *,
        given: Sequence[str | None] | None = None,
        log_probability: float = float("nan"),
        status: str = PARSED,
    ) -> Parse:
        """Create the parse of a tree, scored with these posteriors; brackets and tags without a posterior get 0.

        words (sequence of str, (n_words,)): The words.
        own_tags (sequence of str, (n_words,)): The tags that the parser chose, whose posteriors become the tag scores.
        spans (list of (start, end, label)): The brackets of the tree in pre-order.
        given (sequence of str or None, (n_words,)): Given tags, which replace the parser's; None for a word without
            one.
        log_probability, status (float, str): As in `Parse`.
        """
        return Parse(
            words=words,
            tags=with_given(own_tags, given),
            spans=spans,
            span_scores=np.array([self.brackets.get(span, 0.0) for span in spans], dtype=np.float32),
            tag_scores=np.array(
                [of.get(tag, 0.0) for of, tag in zip(self.tags, own_tags, strict=True)], dtype=np.float32
            ),
            log_probability=log_probability,
            status=status,
        )


class Analysis(NamedTuple):
    """A tree of a sentence with its probability.

    For a grammar the tree includes its tags; for a belief network probabilities are summed over the tags of the words.

    tree (Tree): The tree, without the treebank's root label.
    log_probability (float): ln P(tree, words), in nats.
    probability (float): P(tree | words).
    """

    tree: Tree
    log_probability: float
    probability: float


class Distribution(Protocol):
    """The distribution P(tree | words) of a sentence; empty if the model has no tree over the whole sentence.

    log_probability (float): ln P(words), in nats; nan if there is no tree.
    """

    @property
    def log_probability(self) -> float: ...

    def n_best(self, n: int) -> list[Analysis]:
        """Return at most n trees, the most probable first; an empty list if the distribution has none."""
        ...

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """Return n trees drawn independently, with replacement; an empty list if the distribution has no trees."""
        ...

    def entropy(self) -> float:
        """Return the entropy of the distribution over trees, in bits; nan if there is no tree."""
        ...


class StateVectors(NamedTuple):
    """Inside and outside vectors of the latent states of a constituent or a word.

    start, end (int): Half-open span of words.
    symbol (str): The grammar's symbol: the labels over exactly these words, outermost first, joined by "|"; for a word,
        its tag is the last.
    inside (float32, (m,)): P(these words | symbol, state), divided by exp(`log_scale`); m states may differ by symbol.
    outside (float32, (m,)): P(all other words, state), scaled such that inside * outside are the posteriors
        P(symbol over these words, state | sentence), which sum to the posterior of the symbol.
    log_scale (float): Natural logarithm of the divisor of `inside`, chosen so that its largest entry is from 0.5 to 1.

    Vectors of a spectral grammar are linear maps of probabilities; their entries may be negative.
    """

    start: int
    end: int
    symbol: str
    inside: np.ndarray
    outside: np.ndarray
    log_scale: float


def with_given(tags: Sequence[str], given: Sequence[str | None] | None) -> list[str]:
    """Return a parser's tags, with each replaced by the given tag of its word unless that is None or "".

    given (sequence of str or None, (n_words,), or None): Given tags; None for no given tags at all.
    """
    return list(tags) if given is None else [tag or name for tag, name in zip(given, tags, strict=True)]
