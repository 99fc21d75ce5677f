"""The constituent-context model (CCM) of Klein and Manning (2002), learned from tags by EM: the standard baseline.

Each span of a sentence, single words included, is a bracket of a binary tree or not. Every span has a yield (its tags)
and a context (the tags before and after it, or the sentence boundary), each drawn from one of two distributions: that
of brackets, or that of other spans. The prior over binary trees is uniform.

All binary trees of a sentence have the same number of brackets. So neither the normalizers of the four distributions
nor the factors that are common to all spans change any posterior or best tree, and a bracket has the weight

    (brackets of its yield + 2) (brackets of its context + 2) / (others of its yield + 8) (others of its context + 8)

with the authors' smoothing. As in the paper, EM begins with posteriors of trees that are made by splitting uniformly,
and its E steps sum over all trees by the inside-outside algorithm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from spacy_lpcfg.bracketing.binary_trees import Span, best_tree

_Places = tuple[slice, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class CCM:
    """Learner of constituent-context models.

    n_iterations (int): Number of EM iterations.
    constituents, distituents (float): Pseudo-counts of brackets and of other spans.
    seed (int or None): Seed of a random start, in which each span of a sentence has a log-normal weight; None for the
        paper's start.
    """

    n_iterations: int = 10
    constituents: float = 2.0
    distituents: float = 8.0
    seed: int | None = None

    def fit(self, sentences: Iterable[Sequence[str]]) -> ConstituentContext:
        """Learn a model from tagged sentences.

        sentences (iterable of sequences of str): Tags of each sentence, without punctuation; sentences of fewer than
            two words are skipped. Memory grows with the sum of the squared lengths.
        RETURNS (ConstituentContext): The learned model.
        RAISES (ValueError): If there is no sentence of two words.
        """
        by_length: dict[int, list[Sequence[str]]] = defaultdict(list)
        for tags in sentences:
            by_length[len(tags)].append(tags)
        groups = [by_length[n] for n in sorted(by_length) if n > 1]
        if not groups:
            raise ValueError("Expected sentences of at least two words without punctuation to learn from, got none.")
        index = Index(tag for group in groups for tags in group for tag in tags)
        spans = [index.spans(group, is_learning=True) for group in groups]
        model = self._maximize(index, spans, self._start(spans))
        for _ in range(self.n_iterations):
            model = self._maximize(index, spans, [span_marginals(model.log_weights(s)) for s in spans])
        return model

    def _start(self, spans: Sequence[Spans]) -> list[np.ndarray]:
        """Return the posteriors with which EM starts."""
        if self.seed is None:
            return [np.broadcast_to(split_marginals(s.n_words), s.square_shape) for s in spans]
        random = np.random.default_rng(self.seed)
        return [span_marginals(random.normal(size=s.square_shape)) for s in spans]

    def _maximize(self, index: Index, spans: list[Spans], posteriors: list[np.ndarray]) -> ConstituentContext:
        """Estimate the model from expected counts (M step)."""
        yields, contexts = np.zeros((2, len(index.yields) + 1)), np.zeros((2, (len(index.tags) + 2) ** 2))
        for group, square in zip(spans, posteriors, strict=True):
            is_bracket = square[:, group.starts, group.ends]
            for counts, ids in ((yields, group.yields), (contexts, group.contexts)):
                total = np.bincount(ids.ravel(), minlength=counts.shape[1])
                brackets = np.bincount(ids.ravel(), is_bracket.ravel(), minlength=counts.shape[1])
                counts += [brackets, total - brackets]
        of_yields, of_contexts = self._log_odds(yields), self._log_odds(contexts)
        (yield_odds, other_yields, yield_shift), (context_odds, other_contexts, context_shift) = of_yields, of_contexts
        others, shift = (other_yields, other_contexts), yield_shift + context_shift
        return ConstituentContext(index, yield_odds, context_odds, others, shift)

    def _log_odds(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return log-odds up to a constant, log-probabilities of non-brackets, and that constant."""
        is_seen = counts.sum(axis=0) > 0
        brackets, others = counts[0] + self.constituents, np.maximum(counts[1], 0) + self.distituents
        total = np.log(others[is_seen].sum())
        return np.log(brackets) - np.log(others), np.log(others) - total, total - np.log(brackets[is_seen].sum())


@dataclass(frozen=True, eq=False)
class ConstituentContext:
    """A learned constituent-context model: log-odds of yields and contexts.

    index (Index): The known tags and yields.
    yields (float64, (n_yields + 1,)), contexts (float64, ((n_tags + 2) ** 2,)): Log-odds of a bracket, up to a
        constant; the last yield stands for all unknown ones.
    others (tuple of float64 arrays): Log-probabilities of yields and of contexts in spans that are not brackets.
    shift (float): The constant of the log-odds.
    """

    index: Index
    yields: np.ndarray
    contexts: np.ndarray
    others: tuple[np.ndarray, ...]
    shift: float

    def bracket(self, tags: Sequence[str]) -> list[Span]:
        """Return the most probable tree of a sentence.

        tags (sequence of str): Tags of the words, without punctuation.
        RETURNS (list of (start, end)): Spans of two or more words in pre-order.
        """
        return best_tree(self.log_weights(self.index.spans([tags]))[0]) if len(tags) > 1 else []

    def log_likelihood(self, sentences: Iterable[Sequence[str]]) -> float:
        """Return the log-likelihood of sentences: of their yields and contexts, summed over all trees.

        sentences (iterable of sequences of str): Tags of the training sentences; sentences of fewer than two words are
            skipped.
        """
        total = 0.0
        for tags in sentences:
            if len(tags) > 1:
                spans = self.index.spans([tags])
                none = self.others[0][spans.yields].sum() + self.others[1][spans.contexts].sum()
                of_trees = _log_sums(self.log_weights(spans))[0, 0, -1]
                total += none + of_trees + (2 * len(tags) - 1) * self.shift
        return float(total)

    def log_weights(self, spans: Spans) -> np.ndarray:
        """Return the log-weight of each span as a bracket, float64 (n_sentences, n_words + 1, n_words + 1)."""
        square = np.zeros(spans.square_shape)
        square[:, spans.starts, spans.ends] = self.yields[spans.yields] + self.contexts[spans.contexts]
        return square


class Spans(NamedTuple):
    """All spans of sentences of equal length, with the ids of their yields and contexts.

    n_words (int): Length of the sentences.
    starts, ends (int, (n_spans,)): Boundaries of the spans in a sentence.
    yields, contexts (int, (n_sentences, n_spans)): Ids of the tags in each span, and of the two tags around it.
    """

    n_words: int
    starts: np.ndarray
    ends: np.ndarray
    yields: np.ndarray
    contexts: np.ndarray

    @property
    def square_shape(self) -> tuple[int, int, int]:
        return (len(self.yields), self.n_words + 1, self.n_words + 1)


class Index:
    """Ids of tags and of yields, a yield being a string with one character for each tag.

    tags (iterable of str): The known tags. The next id stands for the sentence boundary, and one more for other tags.
    """

    def __init__(self, tags: Iterable[str]) -> None:
        self.tags = {tag: i for i, tag in enumerate(dict.fromkeys(tags))}
        self.yields: dict[str, int] = {}

    def spans(self, sentences: Sequence[Sequence[str]], *, is_learning: bool = False) -> Spans:
        """Collect the spans of sentences of equal length; unknown yields are learned, or else share the last id."""
        n_words, n_tags = len(sentences[0]), len(self.tags)
        starts, ends = np.triu_indices(n_words + 1, k=1)
        tags = np.array([[self.tags.get(tag, n_tags + 1) for tag in sentence] for sentence in sentences])
        padded = np.pad(tags, ((0, 0), (1, 1)), constant_values=n_tags)
        contexts = padded[:, starts] * (n_tags + 2) + padded[:, ends + 1]
        texts = ["".join(map(chr, row)) for row in tags.tolist()]
        slices = list(map(slice, starts.tolist(), ends.tolist()))
        if is_learning:
            for text in texts:
                for part in slices:
                    self.yields.setdefault(text[part], len(self.yields))
        yields = [[self.yields.get(text[part], len(self.yields)) for part in slices] for text in texts]
        return Spans(n_words, starts, ends, np.array(yields, dtype=np.int32), contexts)


def split_marginals(n_words: int) -> np.ndarray:
    """Return the span marginals of random trees that are built from the top by uniformly distributed splits.

    RETURNS (float64, (n_words + 1, n_words + 1)): At i, j the probability of the span [i, j).
    """
    marginals = np.zeros((n_words + 1, n_words + 1))
    marginals[0, n_words] = 1
    for width in range(n_words, 1, -1):
        for start in range(n_words - width + 1):
            share = marginals[start, start + width] / (width - 1)
            marginals[start, start + 1 : start + width] += share
            marginals[start + 1 : start + width, start + width] += share
    return marginals


def span_marginals(log_weights: np.ndarray) -> np.ndarray:
    """Compute the marginal probability of each span, where a tree's probability is proportional to its spans' weights.

    log_weights (float64, (n_sentences, n + 1, n + 1)): Log-weight of the span [i, j) at i, j; other entries are
        ignored.
    RETURNS (float64, same shape): The marginals: 1 for the whole sentence and for words, 0 where i >= j.
    """
    sums, marginals = _log_sums(log_weights), np.zeros_like(log_weights)
    n_words = log_weights.shape[1] - 1
    if n_words:
        marginals[:, 0, -1] = 1
    for length in range(n_words, 1, -1):
        spans, lefts, rights = _splits(n_words, length)
        below = sums[spans] - log_weights[spans]
        shares = marginals[spans] * np.exp(sums[lefts] + sums[rights] - below)
        marginals[lefts] += shares
        marginals[rights] += shares
    return marginals


def _log_sums(log_weights: np.ndarray) -> np.ndarray:
    """Compute ln of the sum over all trees of each span, float64 (n_sentences, n + 1, n + 1)."""
    sums = log_weights.copy()
    n_words = log_weights.shape[1] - 1
    for length in range(2, n_words + 1):
        spans, lefts, rights = _splits(n_words, length)
        sums[spans] += logsumexp(sums[lefts] + sums[rights], axis=2, keepdims=True)
    return sums


def _splits(n_words: int, length: int) -> tuple[_Places, _Places, _Places]:
    """Return where all spans of a length, and the left and right parts of their splits, are in (., n + 1, n + 1).

    RETURNS (tuple): Places of the shape (., n_spans, 1) for spans, (., n_spans, length - 1) for parts; all differ.
    """
    starts = np.arange(n_words - length + 1)[:, None]
    ends, middles = starts + length, starts + np.arange(1, length)
    everything = slice(None)
    return (everything, starts, ends), (everything, starts, middles), (everything, middles, ends)
