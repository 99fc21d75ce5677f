"""Calibration of the probabilities of brackets, tags and trees: reliability diagrams, and fitting of tau.

All answers about the trees of a sentence come from one distribution. Raising its weights to the power tau and
normalizing them makes it less certain (tau below 1) or more certain. `fit_tau` chooses the tau that gives the brackets
of held-out trees the largest likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, Parse, Posteriors
from spacy_lpcfg.trees.tree import Tree

N_BINS = 10
TAUS = (0.2, 0.23, 0.26, 0.29, 0.32, 0.35, 0.38, 0.42, 0.46, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5)
"""The powers of the probabilities of trees that are tried."""


class Reliability(NamedTuple):
    """A reliability diagram: brackets in bins of equal width by their probability.

    counts (int64, (n_bins,)): Number of brackets in each bin.
    confidences (float64, (n_bins,)): Mean probability of the brackets in each bin; nan for an empty bin.
    accuracies (float64, (n_bins,)): Share of the brackets in each bin that are in the gold tree; nan for an empty bin.
    """

    counts: np.ndarray
    confidences: np.ndarray
    accuracies: np.ndarray

    @property
    def expected_error(self) -> float:
        """The expected calibration error: the mean of |confidence - accuracy| over all brackets; 0 for no brackets."""
        filled = self.counts > 0
        distances = np.abs(self.confidences - self.accuracies)[filled]
        return float(np.average(distances, weights=self.counts[filled])) if filled.any() else 0.0


Outcomes = tuple[np.ndarray, np.ndarray]
"""Probabilities of brackets, tags or trees, float64 (n,), and whether each of these is right, bool (n,)."""


def outcomes(parses: Sequence[Parse], golds: Sequence[Tree]) -> Outcomes:
    """Return the probability of each bracket of parses, and whether the bracket is in the gold tree.

    parses (sequence of Parse): Parses of the sentences.
    golds (sequence of Tree): Gold trees of the same sentences, normalized as for scoring.
    RETURNS (float64 (n_brackets,), bool (n_brackets,)): Probabilities and correctness of all brackets, sentence by
        sentence.
    RAISES (ValueError): If the numbers of sentences, or of words in any of them, differ.
    """
    scores, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    if [len(parse.words) for parse in parses] != [len(gold.words) for gold in golds]:
        raise ValueError(
            f"Expected gold trees of the same words as {len(parses)} parses, got {len(golds)} trees of other lengths."
        )
    for parse, gold in zip(parses, golds, strict=True):
        brackets = set(gold.spans())
        scores.append(np.asarray(parse.span_scores, dtype=np.float64))
        right.append(np.array([span in brackets for span in parse.spans], dtype=bool))
    return np.concatenate(scores), np.concatenate(right)


def tag_outcomes(parses: Sequence[Parse], golds: Sequence[Tree]) -> Outcomes:
    """Return the probability of each tag of parses, and whether it is the gold tag, sentence by sentence.

    parses, golds: As for `outcomes`.
    RAISES (ValueError): If the numbers of sentences, or of words in any of them, differ.
    """
    scores = [np.asarray(parse.tag_scores, dtype=np.float64) for parse in parses]
    pairs = (zip(parse.tags, gold.tags, strict=True) for parse, gold in zip(parses, golds, strict=True))
    right = [tag == expected for of_words in pairs for tag, expected in of_words]
    return np.concatenate([np.zeros(0), *scores]), np.array(right, dtype=bool)


class DomainOutcomes(NamedTuple):
    """The outcomes of the brackets, tags and trees of a domain's parses, from which calibration errors are computed.

    The outcome of a bracket, tag or tree is its probability, and whether it agrees with the gold tree.

    brackets (Outcomes): The result of `outcomes`.
    tags (Outcomes): The result of `tag_outcomes`.
    trees (Outcomes): P(tree | words) of each tree for which it is known, and whether it is the gold tree.
    """

    brackets: Outcomes
    tags: Outcomes
    trees: Outcomes

    @classmethod
    def of(cls, parses: Sequence[Parse], golds: Sequence[Tree], *, with_tags: bool = True) -> DomainOutcomes:
        """Compare parses with gold trees.

        parses, golds: As for `outcomes`.
        with_tags (bool): Whether a tree must have the gold tags to be right. It must for grammars, whose probabilities
            of trees include tags, and need not for networks, whose probabilities are summed over tags.
        RAISES (ValueError): As for `outcomes`.
        """
        brackets, tags = outcomes(parses, golds), tag_outcomes(parses, golds)
        known = [pair for pair in zip(parses, golds, strict=True) if not np.isnan(pair[0].probability)]
        probabilities = np.array([parse.probability for parse, _ in known], dtype=np.float64)
        are_right = [
            sorted(parse.spans) == sorted(gold.spans()) and not (with_tags and list(parse.tags) != list(gold.tags))
            for parse, gold in known
        ]
        return cls(brackets, tags, (probabilities, np.array(are_right, dtype=bool)))

    def expected_errors(self) -> tuple[float, float, float]:
        """Return the expected calibration errors, in [0, 1], of brackets, tags and trees."""
        brackets, tags, trees = (reliability(*outcomes_of_kind).expected_error for outcomes_of_kind in self)
        return brackets, tags, trees


def reliability(scores: np.ndarray, right: np.ndarray) -> Reliability:
    """Group brackets into `N_BINS` bins by probability, and compute the accuracy in each bin.

    scores (float, (n,)): Probabilities of brackets, in [0, 1].
    right (bool, (n,)): Whether each bracket is in its gold tree.
    """
    bins = np.minimum((scores * N_BINS).astype(np.int64), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    with np.errstate(invalid="ignore"):
        confidences = np.bincount(bins, weights=scores, minlength=N_BINS) / counts
        accuracies = np.bincount(bins, weights=right, minlength=N_BINS) / counts
    return Reliability(counts, confidences, accuracies)


def bracket_losses(
    parser: SentenceParser, queries: Sequence[Query], golds: Sequence[Tree], taus: Sequence[float] = TAUS
) -> np.ndarray:
    """Return the log-loss of the brackets of gold trees for each tau (power that tempers the model's distribution).

    Each bracket, present or absent, is judged independently, see `bracket_loss`.

    parser (SentenceParser): The parser, whose posteriors are computed anew with each tau.
    queries (sequence of Query): The sentences, as `parser.prepare` returns them.
    golds (sequence of Tree): Their gold trees, normalized as for scoring.
    taus (sequence of float): Powers to which the probabilities of trees are raised.
    RETURNS (float64, (n_taus,)): Log-loss in nats per gold bracket. It is summed over all brackets to which the model
        gives a probability or that a gold tree has, and divided by the number of gold brackets.
    RAISES (ValueError): If there are no gold brackets, or the model has no distribution over trees.
    """
    n_brackets = sum(len(gold.spans()) for gold in golds)
    if not n_brackets:
        raise ValueError("Expected brackets to fit tau on, got none: give trees with constituents.")
    losses = np.zeros(len(taus))
    for query, gold in zip(queries, golds, strict=True):
        losses += [bracket_loss(posteriors, gold) for posteriors in parser.tempered_posteriors(query, taus)]
    return losses / n_brackets


def bracket_loss(posteriors: Posteriors, gold: Tree) -> float:
    """Return the log-loss of a sentence's brackets, summed over the brackets, in nats.

    The loss of a bracket is -ln p if it is in the gold tree, else -ln(1 - p). Probabilities below `MIN_POSTERIOR`, and
    of gold brackets without a posterior, count as `MIN_POSTERIOR`.

    posteriors (Posteriors): The posteriors of brackets.
    gold (Tree): The gold tree.
    """
    spans = set(gold.spans())
    p = np.array([*posteriors.brackets.values(), *(MIN_POSTERIOR for _ in spans - posteriors.brackets.keys())])
    is_gold = np.array([span in spans for span in posteriors.brackets] + [True] * (len(p) - len(posteriors.brackets)))
    p = np.clip(np.where(is_gold, p, 1 - p), MIN_POSTERIOR, 1)
    return float(-np.log(p).sum())


def fit_tau(parser: SentenceParser, queries: Sequence[Query], golds: Sequence[Tree]) -> float:
    """Return the tau (power that tempers the model's distribution) with the lowest log-loss of brackets, one of `TAUS`.

    parser, queries, golds: As for `bracket_losses`.
    RAISES (ValueError): As for `bracket_losses`.
    """
    return TAUS[int(np.argmin(bracket_losses(parser, queries, golds)))]
