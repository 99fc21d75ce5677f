"""Linear approximations of softmax normalisers over the words of a tag, which a lattice uses for speed.

The logarithm of a normaliser is convex in the means of the units, and nearly linear over the means that occur in
sentences. A ridge regression over the decisions of a treebank fits the function of each tag.
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
_MOST_DECISIONS = 2_000  # for each tag
_PENALTY = 1.0  # ridge penalty of the slopes


def fit_normalizers(
    vocabulary: NetworkVocabulary, networks: Sequence[Network], events: DecisionEvents
) -> np.ndarray | None:
    """Fit a linear function for each tag to the log-normalisers of its words.

    networks (sequence of Network): The networks of a model.
    events (DecisionEvents): Sequences, of which a sample is used.
    RETURNS (float32, (n_tags, 1 + sum of n_states), or None): Intercepts, and slopes by the means of all networks;
        None if a network is not feed-forward, so that decisions change its means.
    """
    if any(network.approximation != FEED_FORWARD for network in networks):
        return None
    sampled = events.select(np.arange(0, events.n_sequences, 1 + events.n_sequences // _MOST_SEQUENCES))
    means = [means_of(network, sampled) for network in networks]
    positions = np.repeat(np.arange(sampled.n_positions), np.diff(sampled.choice_offsets))
    normalizers = constant_normalizers(vocabulary, networks)
    for tag, (first, end) in enumerate(pairwise(vocabulary.word_offsets.tolist())):
        positions_of_tag = positions[sampled.choices[:, 0] == first][:_MOST_DECISIONS]
        if len(positions_of_tag):
            of_tag = [of_network[positions_of_tag] for of_network in means]
            normalizers[tag] = _regression(np.hstack(of_tag), _log_normalizers(networks, of_tag, first, end))
    return normalizers


def constant_normalizers(vocabulary: NetworkVocabulary, networks: Sequence[Network]) -> np.ndarray:
    """Return normalisers without slopes: the log-normalisers at the means of units without input."""
    from scipy.special import expit  # imported late: it takes 0.1 s, and most models do not need it

    means = [expit(network.bias[None]) for network in networks]
    normalizers = np.zeros((len(vocabulary.tags), 1 + sum(network.n_states for network in networks)), dtype=np.float32)
    ranges = pairwise(vocabulary.word_offsets.tolist())
    normalizers[:, 0] = [_log_normalizers(networks, means, first, end)[0] for first, end in ranges]
    return normalizers


def normalizers_of(isbn: ISBN) -> np.ndarray:
    """Return the normalisers of a model, or constant ones if it has none."""
    return constant_normalizers(isbn.vocabulary, isbn.networks) if isbn.normalizers is None else isbn.normalizers


def _log_normalizers(networks: Sequence[Network], means: Iterable[np.ndarray], first: int, end: int) -> np.ndarray:
    """Compute log-normalisers over a range of outcomes, (n,), from the means of each network, (n, n_states)."""
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
    """Return intercept and slopes of the ridge regression of values on means, (1 + number of means,)."""
    middle, level = means.mean(axis=0, dtype=float), values.mean(dtype=float)
    apart = means - middle
    slopes = np.linalg.solve(apart.T @ apart + _PENALTY * np.eye(len(middle)), apart.T @ (values - level))
    return np.concatenate([[level - middle @ slopes], slopes])
