"""Incremental sigmoid belief networks, slowly and as the paper's equations say it, and random ones to compare on."""

from itertools import pairwise

import numpy as np
from scipy.optimize import root
from scipy.special import entr, expit, log_softmax, logsumexp, softmax

from spacy_lpcfg.isbn.events import DecisionEvents

RANGES = ((0, 4), (4, 9), (9, 10), (10, 14))  # of outcomes; only those of the first have masks
N_OUTCOMES, N_INPUTS, N_LATENT = 14, 9, 2


def sequence_log_likelihoods(parameters, approximation, events, keep=None):
    """Return the log-likelihood of each sequence, a position and a decision at a time.

    keep (n_positions, n_states): What multiplies means that are passed along latent edges.
    """
    found = []
    for first, end in pairwise(events.sequence_offsets):
        passed, total = [], 0.0
        for p in range(first, end):
            means, log_likelihood = position(parameters, approximation, events, p, passed)
            passed.append(means if keep is None else means * keep[p])
            total += log_likelihood
        found.append(total)
    return np.array(found)


def position(parameters, approximation, events, p, passed):
    """The means after the decisions of position p, and the log-likelihood of these."""
    theta = parameters["bias"].astype(float)
    for earlier, weights in zip(events.latent[p], parameters["latent_weights"], strict=True):
        if earlier >= 0:
            theta = theta + weights @ passed[earlier]
    for row in events.rows[events.row_offsets[p] : events.row_offsets[p + 1]]:
        theta = theta + parameters["decision_weights"][row]
    log_likelihood = 0.0
    for first, end, mask, outcome in events.choices[events.choice_offsets[p] : events.choice_offsets[p + 1]]:
        allowed = np.ones(end - first, dtype=bool) if mask < 0 else events.masks[mask, : end - first].astype(bool)
        weights = parameters["outcome_weights"][first:end][allowed].astype(float)
        biases = parameters["outcome_bias"][first:end][allowed].astype(float)
        chosen = int(allowed[: outcome - first].sum())
        log_likelihood += log_softmax(weights @ expit(theta) + biases)[chosen]
        theta = UPDATES[approximation](theta, weights, biases, chosen)
    return expit(theta), log_likelihood


def stay(theta, weights, biases, chosen):
    return theta


def step(theta, weights, biases, chosen):
    """One step of the natural gradient, which is that by the means, with rate 1."""
    return theta + weights[chosen] - softmax(weights @ expit(theta) + biases) @ weights


def settle(theta, weights, biases, chosen):
    """The maximum of the concave bound, which is the root of its slope, by another program."""
    prior = theta + weights[chosen]
    found = root(slope, theta, (prior, weights, biases), tol=1e-12).x
    assert np.abs(slope(found, prior, weights, biases)).max() < 1e-8
    return found


def bound(means, prior, weights, biases):
    """Equation 13 with the means of before in `prior`, natural parameters to which the chosen row is added."""
    return (entr(means) + entr(1 - means)).sum() + means @ prior - logsumexp(weights @ means + biases)


def slope(theta, prior, weights, biases):
    """Return the gradient of the bound by the means."""
    return prior - theta - softmax(weights @ expit(theta) + biases) @ weights


UPDATES = {"feed-forward": stay, "mean-field": settle, "mean-field-step": step}


def random_events(rng, n_sequences=3, longest=6):
    """Sequences of any decisions: some positions have none, some several, of one outcome or more."""
    lengths = rng.integers(1, longest, n_sequences)
    n_rows, n_choices = rng.integers(0, 4, (2, lengths.sum()))
    n_choices[0] = 2
    masks = (rng.random((3, 4)) < 0.7).astype(np.uint8)
    masks[:, 0] = 1
    latent = [[rng.integers(-1, t, N_LATENT) if t else [-1] * N_LATENT for t in range(length)] for length in lengths]
    return DecisionEvents(
        sequence_offsets=_offsets(lengths),
        latent=np.concatenate([np.array(rows) for rows in latent]).astype(np.int32),
        row_offsets=_offsets(n_rows),
        rows=rng.integers(0, N_INPUTS, n_rows.sum()).astype(np.int32),
        choice_offsets=_offsets(n_choices),
        choices=np.array([_random_choice(rng, masks) for _ in range(n_choices.sum())], dtype=np.int32),
        masks=masks,
    )


def _random_choice(rng, masks):
    first, end = RANGES[rng.integers(len(RANGES))]
    mask = rng.integers(-1, len(masks)) if first == 0 else -1
    allowed = np.flatnonzero(masks[mask]) if mask >= 0 else np.arange(end - first)
    return first, end, mask, first + rng.choice(allowed)


def _offsets(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def random_parameters(rng, n_states, scale=1.0):
    """Parameters whose single floats are exactly these numbers."""
    shapes = {
        "bias": (n_states,),
        "latent_weights": (N_LATENT, n_states, n_states),
        "decision_weights": (N_INPUTS, n_states),
        "outcome_weights": (N_OUTCOMES, n_states),
        "outcome_bias": (N_OUTCOMES,),
    }
    return {name: (scale * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
