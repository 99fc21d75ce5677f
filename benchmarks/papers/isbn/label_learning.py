"""Dynamic sigmoid belief networks learned from label sequences, by the kernels that parsers are learned by.

A dynamic network is an incremental one. A position is an element, whose only relation, latent and of decisions, is to
the element before it. Its decisions are the label, one of the outcomes [0, L), and the input given the label `y`, one
of the X outcomes from `L + y * X` on. Input rows are the label `y`, and the input `x` as row `L + x`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.papers.isbn.simulation import DynamicSBN, Sequences
from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import Network
from spacy_lpcfg.isbn.training import Trainer

STEPS = 25
"""Steps of an epoch."""

PRECISION = 2.0
"""Inverse variance of the normal prior of each weight; biases have no prior."""


def network_of(model: DynamicSBN, approximation: str) -> Network:
    """The network of an approximation that has the parameters of a dynamic one, as single floats."""
    arrays = {
        "bias": model.bias,
        "latent_weights": model.latent[None],
        "decision_weights": np.concatenate([model.from_label, model.from_input]),
        "outcome_weights": np.concatenate([model.to_label, model.to_input.reshape(-1, model.n_states)]),
        "outcome_bias": np.concatenate([model.to_label_bias, model.to_input_bias.ravel()]),
    }
    return Network(approximation, **{name: array.astype(np.float32) for name, array in arrays.items()})


def start_label_network(approximation: str, *, n_states: int, n_labels: int, n_inputs: int, seed: int) -> Network:
    """A network to begin learning from, of the sizes that label sequences have."""
    return Network.random(
        approximation,
        n_states=n_states,
        n_latent=1,
        n_inputs=n_labels + n_inputs,
        n_outcomes=n_labels * (1 + n_inputs),
        seed=seed,
    )


def model_of(network: Network, n_labels: int, max_length: int) -> DynamicSBN:
    """The dynamic network of an incremental one: the inverse of `network_of`.

    network (Network): Over the outcomes and input rows of label sequences.
    """
    arrays = {name: array.astype(float) for name, array in network.parameters.items()}
    to_input = arrays["outcome_weights"][n_labels:].reshape(n_labels, -1, network.n_states)
    return DynamicSBN(
        bias=arrays["bias"],
        latent=arrays["latent_weights"][0],
        from_label=arrays["decision_weights"][:n_labels],
        from_input=arrays["decision_weights"][n_labels:],
        to_label=arrays["outcome_weights"][:n_labels],
        to_label_bias=arrays["outcome_bias"][:n_labels],
        to_input=to_input,
        to_input_bias=arrays["outcome_bias"][n_labels:].reshape(n_labels, -1),
        max_length=max_length,
    )


def label_events(sequences: Sequences, n_labels: int, n_inputs: int) -> DecisionEvents:
    """Sequences as positions with a choice of a label and one of an input."""
    labels, inputs = sequences.labels, sequences.inputs
    n = len(labels)
    index = np.arange(n) - np.repeat(sequences.offsets[:-1], sequences.lengths)
    is_first = index == 0
    before = np.flatnonzero(~is_first) - 1
    first_input = n_labels + labels * n_inputs
    choices = np.empty((n, 2, 4), np.int32)
    choices[:, 0] = np.stack([np.zeros(n), np.full(n, n_labels), np.full(n, -1), labels], axis=1)
    choices[:, 1] = np.stack([first_input, first_input + n_inputs, np.full(n, -1), first_input + inputs], axis=1)
    return DecisionEvents(
        sequence_offsets=sequences.offsets.astype(np.int64),
        latent=(index - 1).astype(np.int32)[:, None],
        row_offsets=np.concatenate([[0], np.cumsum(np.where(is_first, 0, 2))]).astype(np.int64),
        rows=np.stack([labels[before], n_labels + inputs[before]], axis=1).astype(np.int32).ravel(),
        choice_offsets=2 * np.arange(n + 1, dtype=np.int64),
        choices=choices.reshape(-1, 4),
        masks=np.empty((0, n_labels), np.uint8),
    )


class LabelFit(NamedTuple):
    """A learned model, and the log-likelihood of the held-out sequences under its approximation."""

    model: DynamicSBN
    dev_log_likelihood: float


def fit_labels(
    train: Sequences,
    dev: Sequences,
    *,
    like: DynamicSBN,
    approximation: str,
    n_epochs: int = 100,
    seed: int = 0,
) -> LabelFit:
    """The parameters that maximise the likelihood of sequences under an approximation, with a normal prior.

    train, dev (Sequences): To learn from, and those by whose likelihood the best epoch is chosen.
    like (DynamicSBN): Of the sizes that the learned one has, and in nothing else.
    approximation (str): See `Network`.
    n_epochs (int): See `Trainer`.
    seed (int): Of the parameters to begin with, and of the order of sequences.
    RAISES (ValueError): If the approximation is none.
    """
    events, held_out = (label_events(sequences, like.n_labels, like.n_inputs) for sequences in (train, dev))
    sizes = {"n_states": like.n_states, "n_labels": like.n_labels, "n_inputs": like.n_inputs}
    start = start_label_network(approximation, **sizes, seed=seed)
    trainer = Trainer(
        n_epochs=n_epochs,
        batch_size=-(-events.n_sequences // STEPS),
        learn_rate=0.1,
        weight_decay=PRECISION / STEPS,
        averaging=0.0,
        seed=seed,
    )
    network = trainer.fit(start, events, dev=held_out)
    learned = model_of(network, like.n_labels, like.max_length)
    return LabelFit(learned, float(log_likelihoods(network, held_out).sum()))


def label_log_likelihoods(model: DynamicSBN, approximation: str, sequences: Sequences) -> np.ndarray:
    """log P(labels and inputs) of sequences under an approximation, float64 (n_sequences,)."""
    return log_likelihoods(network_of(model, approximation), label_events(sequences, model.n_labels, model.n_inputs))
