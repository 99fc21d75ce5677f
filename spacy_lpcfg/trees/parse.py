"""What a parser says of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from spacy_lpcfg.trees.tree import Span, Tree

PARSED = "parsed"  # the model's tree
COARSE = "coarse"  # the treebank PCFG's tree: the latent weights of every tree add up to nothing
BACKED_OFF = "backed-off"  # a tree with rules that the grammar lacks
GLUED = "glued"  # no tree over the whole sentence: parts of it, side by side
SEGMENTED = "segmented"  # a sentence over the length limit: pieces of it, side by side
OUT_OF_TIME = "out-of-time"  # such a sentence, of which the last pieces are words without brackets
UNCONSTRAINED = "unconstrained"  # no tree has the spans that were asked for: the model's tree without regard to them


@dataclass(frozen=True, eq=False)
class Parse:
    """The tree of a sentence, with what the model thinks of its parts.

    words (sequence of str): (n_words,).
    tags (list[str]): (n_words,); given ones stand as given.
    spans (list of (start, end, label)): the brackets in pre-order, without the treebank's root label.
    span_scores (float32, (n_spans,)): posterior of each bracket, in [0, 1]; 0 for one around glued parts.
    tag_scores (float32, (n_words,)): posterior of each tag, in [0, 1].
    log_probability (float): natural log of the probability of the sentence, and of its given tags, over the trees
        that pruning left: a lower bound, exact with the `EXHAUSTIVE` settings of a chart. nan if the model is not
        proper or has no tree over the whole sentence.
    status (str): "parsed", or the fall-back that made the tree: "coarse", "backed-off", "glued", "segmented",
        "out-of-time", "unconstrained".
    """

    words: Sequence[str]
    tags: list[str]
    spans: list[Span]
    span_scores: np.ndarray
    tag_scores: np.ndarray
    log_probability: float
    status: str

    @cached_property
    def tree(self) -> Tree:
        """The tree, without the treebank's root label."""
        return Tree.from_spans(self.words, self.tags, self.spans)

    @property
    def is_parsed(self) -> bool:
        """Whether the grammar has a tree over the whole sentence."""
        return self.status in (PARSED, COARSE)


@dataclass(frozen=True, eq=False)
class Posteriors:
    """What a model thinks of every bracket and tag that a sentence may have.

    brackets (dict of (start, end, label) to float): probability of each that pruning left and that is likely enough,
        in pre-order; of several over the same words the one that stands outside in most trees comes first.
    tags (list of dict of str to float): (n_words,); the probability of each tag of a word.
    is_of_one (bool): whether they are those of a single tree's parts, because the model has no tree over the whole
        sentence.
    """

    brackets: dict[Span, float]
    tags: list[dict[str, float]]
    is_of_one: bool = False

    @classmethod
    def of(cls, parse: Parse) -> Posteriors:
        """Those of what has one tree only."""
        of_tags = [{tag: float(score)} for tag, score in zip(parse.tags, parse.tag_scores)]
        return cls(dict(zip(parse.spans, parse.span_scores.tolist())), of_tags, is_of_one=True)

    def mirrored(self) -> Posteriors:
        """Those of the sentence read from right to left; over the same words labels keep their order."""
        n_words = len(self.tags)
        brackets = {
            (start, end, label): self.brackets[n_words - end, n_words - start, label]
            for start, end, label in mirrored_spans(self.brackets, n_words)
        }
        return Posteriors(brackets, self.tags[::-1], self.is_of_one)


def mirrored_spans(spans: Iterable[Span], n_words: int) -> list[Span]:
    """Spans in pre-order, of the sentence read from right to left; labels of the same words keep their order."""
    mirrored = [(n_words - end, n_words - start, label) for start, end, label in spans]
    return sorted(mirrored, key=lambda span: (span[0], -span[1]))


class Analysis(NamedTuple):
    """A tree of a sentence and how probable it is.

    tree (Tree): without the treebank's root label.
    log_probability (float): ln P(tree, words), in nats: by a grammar of the tree with its tags, by a belief network of
        its brackets, summed over the tags of the words.
    probability (float): P(tree | words), of the same tree.
    """

    tree: Tree
    log_probability: float
    probability: float


class Distribution(Protocol):
    """P(tree | words) of a sentence under one model; of a sentence that the model has no tree for it is empty.

    log_probability (float): ln P(words), in nats; nan if there is no tree.
    """

    @property
    def log_probability(self) -> float: ...

    def n_best(self, n: int) -> list[Analysis]:
        """Trees, the most probable first, at most n."""
        ...

    def samples(self, n: int, *, seed: int = 0) -> list[Tree]:
        """Trees drawn independently; none if there is no tree."""
        ...

    def entropy(self) -> float:
        """Bits; nan if there is no tree."""
        ...


class Undistributed:
    """What parsers by several models say when asked for what only one model has."""

    def distribution(self, *_: Any, **__: Any) -> NoReturn:
        """RAISES (ValueError): Always."""
        raise ValueError(
            "Several models together have posteriors, but no one distribution over trees: no probabilities of trees "
            "and sentences, n-best trees, samples, entropy, surprisal or state vectors. Ask a parser by one proper "
            "grammar (such as EM, Pivot and TreebankPCFG learn) or by a belief network."
        )

    n_best = states = surprisal = log_probability = tree_log_probability = distribution


def check_input(words: Sequence[str], tags: Sequence[str | None] | None) -> None:
    """RAISES (ValueError): If there are no words to parse, or other tags than words."""
    if not words or (tags is not None and len(tags) != len(words)):
        raise ValueError(
            f"Expected at least one word, and a tag or None for each; got {len(words)} words and "
            f"{'no' if tags is None else len(tags)} tags."
        )


def with_given(own: list[str], given: Sequence[str | None] | None) -> list[str]:
    """A parser's own tags, but given ones where there are any."""
    return own if given is None else [tag or name for tag, name in zip(given, own)]
