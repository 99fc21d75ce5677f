"""Random dynamic sigmoid belief networks and what is learned of them, as in section 7.1 of Henderson and Titov (2010).

    python -m benchmarks.papers.isbn.artificial [--models M] [--train N] [--scales S...] [--no-edges]
        [--restarts R] [--beam B] [--seed SEED] [--json FILE]

Draws networks of 5 units, 6 labels and 8 inputs, and from each N elements to learn from, 10,000 to develop on and
10,000 to test on, in sequences of up to 100. Of the networks the first M are taken that are not trivial by the paper's
rule: of the labels more than 70% are found with the true network, and 3 points more than by the unigram model. The
paper decides by Gibbs sampling; here it is the exact posterior, on the elements to develop on. Tables, means over the
networks:

- learned: the three approximations, by maximum likelihood, the best of R starts by the likelihood of the development
  elements; labels by beam search. Beside them a unigram model, and the true network: by the same beam search over the
  exact filter, and by the exact posterior, the limit of the paper's Gibbs sampler. Error reduction is over the model of
  the line above (of both mean-field models over feed-forward), where the exact posterior has no error;
- true parameters: the approximations with the parameters of the true network, without learning.

There are as many of each as there are scales, the standard deviations of the parameters, which the paper does not tell.
With --no-edges, the networks that are drawn have no edges from labels and inputs to state vectors, unlike those that
are learned. SEED is that of the first network that is tried.

Likelihood is that of a label and input together, nats per element. "Better" counts the networks on which an
approximation beats feed-forward, "significantly" those with p < 5% in a paired permutation test over sequences. Labels
that the length of a sequence rules out are excluded for all alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice

import numpy as np

from benchmarks import measure
from benchmarks.papers.isbn.exact import ExactFilter, posteriors
from benchmarks.papers.isbn.label_learning import fit_labels, label_log_likelihoods
from benchmarks.papers.isbn.labelling import Approximation, Filter, Unigram, decode, log_probabilities
from benchmarks.papers.isbn.simulation import DynamicSBN, Sequences
from benchmarks.significance import sign_permutation_test
from spacy_lpcfg.isbn.network import APPROXIMATIONS

N_TESTED = 10_000
LEAST_ACCURACY, LEAST_GAIN = 70.0, 3.0  # of networks that are not trivial
BASELINE, FEED_FORWARD = "unigram", APPROXIMATIONS[0]
LEARNED = "learned"
BETTER = ("better (significantly)", "better likelihood")
BEAM, EXACT = "true network, beam search", "true network, exact posterior"


@dataclass(frozen=True)
class Data:
    """A network, and elements drawn from it."""

    seed: int
    model: DynamicSBN
    train: Sequences
    dev: Sequences
    test: Sequences

    @classmethod
    def draw(cls, seed: int, scale: float, n_train: int, *, has_edges: bool) -> Data:
        model = DynamicSBN.random(scale=scale, has_edges=has_edges, seed=seed)
        samples = [model.sample(n, seed=1_000 * (seed + 1) + i) for i, n in enumerate((n_train, N_TESTED, N_TESTED))]
        return cls(seed, model, *samples)

    @cached_property
    def unigram(self) -> Unigram:
        return Unigram(self.train, self.model.n_labels, self.model.n_inputs)

    def legal(self, sequences: Sequences) -> np.ndarray:
        return sequences.legal(self.model.n_labels, self.model.max_length)

    def is_trivial(self) -> bool:
        """By the accuracy of the exact posterior and the unigram model on the elements to develop on."""
        exact = accuracy(posteriors(self.model, self.dev).argmax(axis=1) == self.dev.labels)
        unigram = accuracy(decode(self.unigram, self.dev, self.legal(self.dev), beam=1) == self.dev.labels)
        return exact <= LEAST_ACCURACY or exact - unigram <= LEAST_GAIN


@dataclass(frozen=True)
class Outcome:
    """The result of a model on the test elements: whether each label is right, and nats per element if it tells."""

    is_right: np.ndarray
    nats: float | None = None

    @property
    def accuracy(self) -> float:
        return accuracy(self.is_right)


Results = list[dict[str, Outcome]]
"""By network, the outcomes by the names of the models."""


def accuracy(is_right: np.ndarray) -> float:
    return 100 * float(np.mean(is_right))


def networks(scale: float, args: argparse.Namespace) -> Iterator[Data]:
    """Return the networks that are not trivial, in the order of their seeds."""
    drawn = (Data.draw(seed, scale, args.train, has_edges=not args.no_edges) for seed in count(args.seed))
    return (data for data in drawn if not data.is_trivial())


def outcome(model: Filter, data: Data, beam: int, nats: float | None = None) -> Outcome:
    """Find labels by beam search; the likelihood is the model's, unless it is given."""
    is_right = decode(model, data.test, data.legal(data.test), beam=beam) == data.test.labels
    return Outcome(is_right, -float(np.mean(log_probabilities(model, data.test))) if nats is None else nats)


def references(data: Data, beam: int) -> dict[str, Outcome]:
    """The unigram model, and the true network."""
    exact = posteriors(data.model, data.test).argmax(axis=1) == data.test.labels
    searched = outcome(ExactFilter(data.model), data, beam)
    return {BASELINE: outcome(data.unigram, data, 1), BEAM: searched, EXACT: Outcome(exact)}


def approximated(model: DynamicSBN, name: str, data: Data, beam: int) -> Outcome:
    """An approximation of a network, which need not be the true one."""
    nats = -float(label_log_likelihoods(model, name, data.test).sum()) / len(data.test.labels)
    return outcome(Approximation(model, name), data, beam, nats)


def learned(name: str, data: Data, args: argparse.Namespace) -> Outcome:
    """An approximation whose parameters are learned, the best of several starts."""
    fits = [fit_labels(data.train, data.dev, like=data.model, approximation=name, seed=s) for s in range(args.restarts)]
    return approximated(max(fits, key=lambda fit: fit.dev_log_likelihood).model, name, data, args.beam)


def mean_accuracy(results: Results, name: str) -> float:
    return float(np.mean([result[name].accuracy for result in results]))


def better(results: Results, name: str, offsets: list[np.ndarray]) -> measure.Row:
    """On how many networks a model has more labels right than feed-forward (significantly more), and is likelier."""
    pairs = [(result[name], result[FEED_FORWARD]) for result in results]
    gains = [
        np.add.reduceat(a.is_right.astype(int) - b.is_right, begins[:-1])
        for (a, b), begins in zip(pairs, offsets, strict=True)
    ]
    wins = [gain for gain in gains if gain.sum() > 0]
    n_significant = sum(sign_permutation_test(gain) < 0.05 for gain in wins)
    n_likelier = sum(a.nats < b.nats for a, b in pairs)
    cells = (f"{len(wins)} of {len(pairs)} ({n_significant})", f"{n_likelier} of {len(pairs)}")
    return dict(zip(BETTER, cells, strict=True))


def error_reduction(results: Results, name: str) -> float | None:
    """Return the error reduction over feed-forward, and of feed-forward over the unigram model, in percent."""
    if name not in APPROXIMATIONS:
        return None
    base = mean_accuracy(results, BASELINE if name == FEED_FORWARD else FEED_FORWARD)
    return 100 * (mean_accuracy(results, name) - base) / (mean_accuracy(results, EXACT) - base)


def row(kind: str, results: Results, name: str, offsets: list[np.ndarray]) -> measure.Row:
    """The row of a model whose parameters are learned, or true."""
    is_mean_field = name in APPROXIMATIONS and name != FEED_FORWARD
    nats = [result[name].nats for result in results]
    return {
        kind: name,
        "accuracy, %": mean_accuracy(results, name),
        **({"error reduction, %": error_reduction(results, name)} if kind == LEARNED else {}),
        "nats per element": None if None in nats else f"{np.mean(nats):.4f}",
        **(better(results, name, offsets) if is_mean_field else dict.fromkeys(BETTER)),
    }


def main() -> None:
    numbers = {"models": 10, "train": 20_000, "restarts": 2, "beam": 10, "seed": 0}
    args = measure.arguments(__doc__, **numbers, scales=[1.5], no_edges=False).parse_args()
    by_scale = {scale: measured(scale, args) for scale in args.scales}
    tables = {
        f"{title}, scale {scale:g}": rows for scale, of_scale in by_scale.items() for title, rows in of_scale.items()
    }
    measure.report(tables, args.json)


def measured(scale: float, args: argparse.Namespace) -> dict[str, list[measure.Row]]:
    """The tables of networks whose parameters have one scale."""
    results, trues, offsets = [], [], []
    for data in islice(networks(scale, args), args.models):
        trained = references(data, args.beam)
        trues.append(trained | {name: approximated(data.model, name, data, args.beam) for name in APPROXIMATIONS})
        results.append(trained | {name: learned(name, data, args) for name in APPROXIMATIONS})
        offsets.append(data.test.offsets)
        measure.progress(str({"seed": data.seed} | {name: each.accuracy for name, each in results[-1].items()}))
    systems = [BASELINE, *APPROXIMATIONS, BEAM, EXACT]
    return {
        "Learned": [row(LEARNED, results, name, offsets) for name in systems],
        "True parameters": [row("true parameters", trues, name, offsets) for name in (*APPROXIMATIONS, BEAM)],
    }


if __name__ == "__main__":
    main()
