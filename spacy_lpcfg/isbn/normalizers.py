"""Normalisers of the words of a tag as linear functions of the means: what a lattice takes instead of softmaxes.

The logarithm of a normaliser is convex in the means, and nearly linear where they are in sentences. A ridge regression
over the decisions of a treebank finds the function of each tag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.likelihood import means_of
from spacy_lpcfg.isbn.network import FEED_FORWARD, ISBN, Network
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary

_MOST_SEQUENCES = 4_000
_MOST_DECISIONS = 2_000  # of a tag
_PENALTY = 1.0  # of the squares of slopes, beside squares of errors in nats


def fit_normalizers(
    vocabulary: NetworkVocabulary, networks: Sequence[Network], events: DecisionEvents
) -> np.ndarray | None:
    """For each tag the function that is nearest to its words' log-normalisers in some sequences.

    networks (sequence of Network): that decide together.
    events (DecisionEvents): of the vocabulary; of many some are taken.
    RETURNS (float32, (n_tags, 1 + number of states), or None): values at means 0, and slopes by the means of all
        networks; None of networks whose means decisions change.
    """
    if any(network.approximation != FEED_FORWARD for network in networks):
        return None
    some = events.select(np.arange(0, events.n_sequences, 1 + events.n_sequences // _MOST_SEQUENCES))
    means = [means_of(network, some) for network in networks]
    positions = np.repeat(np.arange(some.n_positions), np.diff(some.choice_offsets))
    found = constant_normalizers(vocabulary, networks)
    for tag, (first, end) in enumerate(pairwise(vocabulary.word_offsets.tolist())):
        chosen = positions[some.choices[:, 0] == first][:_MOST_DECISIONS]
        if len(chosen):
            of_tag = [each[chosen] for each in means]
            found[tag] = _regression(np.hstack(of_tag), _log_normalizers(networks, of_tag, first, end))
    return found


def constant_normalizers(vocabulary: NetworkVocabulary, networks: Sequence[Network]) -> np.ndarray:
    """Without slopes: the log-normalisers at the means that units have without any input, as `fit_normalizers`."""
    from scipy.special import expit  # which takes 0.1 s to import, and most models need no more of it

    means = [expit(network.bias[None]) for network in networks]
    found = np.zeros((len(vocabulary.tags), 1 + sum(network.n_states for network in networks)), dtype=np.float32)
    ranges = pairwise(vocabulary.word_offsets.tolist())
    found[:, 0] = [_log_normalizers(networks, means, first, end)[0] for first, end in ranges]
    return found


def normalizers_of(isbn: ISBN) -> np.ndarray:
    """Those of a model, constants if it has none."""
    return constant_normalizers(isbn.vocabulary, isbn.networks) if isbn.normalizers is None else isbn.normalizers


def _log_normalizers(networks: Sequence[Network], means: Iterable[np.ndarray], first: int, end: int) -> np.ndarray:
    """Of a range of outcomes under the mean of the networks' logits, (n,), by means of (n, n_states) each."""
    from scipy.special import logsumexp

    logits = np.mean(
        [
            of_network @ network.outcome_weights[first:end].T + network.outcome_bias[first:end]
            for network, of_network in zip(networks, means, strict=True)
        ],
        axis=0,
    )
    return logsumexp(logits, axis=1)


def _regression(means: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The intercept and the slopes of the linear function that is nearest to values, (1 + number of means,)."""
    middle, level = means.mean(axis=0, dtype=float), values.mean(dtype=float)
    apart = means - middle
    slopes = np.linalg.solve(apart.T @ apart + _PENALTY * np.eye(len(middle)), apart.T @ (values - level))
    return np.concatenate([[level - middle @ slopes], slopes])
