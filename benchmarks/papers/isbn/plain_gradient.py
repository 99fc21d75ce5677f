"""Plain stochastic gradient ascent, with a rate and a weight decay that fall when the held-out likelihood does.

Henderson and Titov (2010) reduce both "whenever accuracy on the development set went down" (section 7.1). Differs: the
likelihood of the development set decides, and the paper tells neither the first rate nor by how much it is reduced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.likelihood import Sweep, check, log_likelihoods, pad, unpad
from spacy_lpcfg.isbn.network import BIASES, Network

MOST_CUTS = 5  # the rate and the precision are halved so many times, and then learning ends
BATCH_SIZE = 5  # sequences of a step


@dataclass(frozen=True)
class PlainGradient:
    """Settings of gradient ascent.

    learn_rate (float): Rate of the first epoch, by which the gradient of a sequence's log-likelihood is multiplied.
    precision (float): Precision of the normal prior of each weight in the first epoch; biases have no prior.
    n_epochs (int): Largest number of passes over the sequences.
    seed (int): Seed of the order of the sequences.
    """

    learn_rate: float
    precision: float
    n_epochs: int = 40
    seed: int = 0

    def fit(self, network: Network, events: DecisionEvents, *, dev: DecisionEvents) -> Network:
        """Train a network; return that of the best epoch by the likelihood of the sequences `dev`."""
        check(events, network.parameters)
        rng, weights = np.random.default_rng(self.seed), {k: v.copy() for k, v in pad(network.parameters).items()}
        best, best_dev, last_dev, n_cuts = network, -np.inf, -np.inf, 0
        for _ in range(self.n_epochs):
            scale = 0.5**n_cuts
            self._epoch(network, weights, events, rng.permutation(events.n_sequences), scale)
            now = network.of({k: v.copy() for k, v in unpad(weights, network.n_states).items()})
            now_dev = float(log_likelihoods(now, dev).sum())
            if now_dev > best_dev:
                best, best_dev = now, now_dev
            n_cuts += not now_dev > last_dev
            last_dev = now_dev
            if n_cuts > MOST_CUTS:
                break
        return best

    def _epoch(
        self, network: Network, weights: dict[str, np.ndarray], events: DecisionEvents, order: np.ndarray, scale: float
    ) -> None:
        """Change the padded weights by one pass in this order, with the rate and the precision times `scale`."""
        rate, precision = self.learn_rate * scale, self.precision * scale
        gradients = {name: np.zeros_like(array) for name, array in weights.items()}
        in_order = events.select(order)
        for first in range(0, len(order), BATCH_SIZE):
            batch = in_order.select(np.arange(first, min(first + BATCH_SIZE, len(order))))
            Sweep(batch, weights, network.approximation, network.n_states).gradient(gradients)
            for name, gradient in gradients.items():
                if name not in BIASES:
                    weights[name] *= 1 - rate * precision * batch.n_sequences / len(order)
                weights[name] += rate * gradient
                gradient.fill(0)
