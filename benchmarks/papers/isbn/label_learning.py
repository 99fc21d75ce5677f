"""Dynamic sigmoid belief networks learned from label sequences, by the kernels that parsers are learned by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.papers.isbn.label_events import label_events, model_of, network_of, start_label_network
from benchmarks.papers.isbn.simulation import DynamicSBN, Sequences
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.training import Trainer

STEPS = 25
"""Steps of an epoch."""


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
    learn_rate: float = 0.1,
    precision: float = 2.0,
    seed: int = 0,
) -> LabelFit:
    """The parameters that maximise the likelihood of sequences under an approximation, with a normal prior.

    train, dev (Sequences): To learn from, and those by whose likelihood the best epoch is chosen.
    like (DynamicSBN): Of the sizes that the learned one has, and in nothing else.
    approximation (str): See `Network`.
    n_epochs (int), learn_rate (float): See `Trainer`.
    precision (float): Of the prior of each weight, an inverse variance; biases have no prior.
    seed (int): Of the parameters to begin with, and of the order of sequences.
    RAISES (ValueError): If the approximation is none.
    """
    events, held_out = (label_events(sequences, like.n_labels, like.n_inputs) for sequences in (train, dev))
    sizes = {"n_states": like.n_states, "n_labels": like.n_labels, "n_inputs": like.n_inputs}
    start = start_label_network(approximation, **sizes, seed=seed)
    trainer = Trainer(
        n_epochs=n_epochs,
        batch_size=-(-events.n_sequences // STEPS),
        learn_rate=learn_rate,
        weight_decay=precision / STEPS,
        averaging=0.0,
        seed=seed,
    )
    network = trainer.fit(start, events, dev=held_out)
    learned = model_of(network, like.n_labels, like.max_length)
    return LabelFit(learned, float(log_likelihoods(network, held_out).sum()))


def label_log_likelihoods(model: DynamicSBN, approximation: str, sequences: Sequences) -> np.ndarray:
    """log P(labels and inputs) of sequences under an approximation, float64 (n_sequences,)."""
    return log_likelihoods(network_of(model, approximation), label_events(sequences, model.n_labels, model.n_inputs))
