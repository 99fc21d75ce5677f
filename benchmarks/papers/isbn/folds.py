"""Mean field against feed-forward on a treebank, as in section 7.2 of Henderson and Titov (2010), by cross-validation.

    python -m benchmarks.papers.isbn.folds TREEBANK_DIR [--rates R...] [--precisions P...] [--folds K]
        [--seeds S...] [--states N] [--max-length WORDS] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg, of which sentences of at most so many words are read. The first rate and the
precision of the weights' prior are chosen for each approximation by the likelihood of dev.mrg after learning from all
folds but the first; dev.mrg also ends learning. Then every fold of train.mrg is parsed by networks that learned from
the others: with the treebank's tags, by the most probable derivation and by minimum Bayes risk, with a beam of 10.
Measures F1 (EVALB, COLLINS.prm). The steps are plain gradients as in the paper, whose rate and decay fall when the
likelihood of dev.mrg does.

The last table has the difference of mean field to feed-forward over the folds (mean, range), with a 95% interval by a
paired bootstrap over sentences and seeds, the p-value of a paired permutation test over all sentences, in which the
trees of all seeds of a sentence are exchanged together, and the difference that a t-test over the folds would find
significant (5%, two sides) with a probability of 80%, with the variance of Nadeau and Bengio (2003), since the folds
learn from much the same trees.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

import numpy as np
from scipy.stats import t

from benchmarks.papers.isbn.plain_gradient import PlainGradient
from benchmarks.papers.isbn.treebanks import read
from benchmarks.significance import difference_interval, evalb_counts, paired_permutation_test
from spacy_lpcfg.evaluation.evalb import Evaluation
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.events import events_of
from spacy_lpcfg.isbn.learning import ISBNLearner, normalized_trees
from spacy_lpcfg.isbn.likelihood import log_likelihoods
from spacy_lpcfg.isbn.network import FEED_FORWARD, MEAN_FIELD, start_network
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.parsing.decodings import DECODINGS, MBR, MostProbable
from spacy_lpcfg.trees import Tree

NAMES = (FEED_FORWARD, MEAN_FIELD)
COMPARED = (MostProbable.name, MBR.name)


class Settings(NamedTuple):
    """The first rate, and the precision of the prior."""

    rate: float
    precision: float


def main() -> None:
    options = {"rates": [0.03, 0.1], "precisions": [0.5, 2, 8]}
    arguments = measure.arguments(__doc__, **options, folds=10, seeds=[0, 1], states=40, max_length=15)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    args = arguments.parse_args()
    trees, dev = (read(args.treebank / f"{part}.mrg", args.max_length) for part in ("train", "dev"))
    np.random.default_rng(0).shuffle(trees)  # type: ignore[arg-type]
    folds = [trees[first :: args.folds] for first in range(args.folds)]
    tables: dict[str, list[measure.Row]] = {"Choice": [], "Folds": []}
    settings = {}
    for name in NAMES:
        rows = tried(name, without(folds, 0), dev, args)
        likeliest = min(rows, key=lambda row: row["dev, nats a word"])
        settings[name] = Settings(likeliest["rate"], likeliest["precision"])
        tables["Choice"] += rows
    evaluations: dict[tuple[str, str], list[Evaluation]] = {pair: [] for pair in product(NAMES, COMPARED)}
    for number, golds in enumerate(folds):
        for name, seed in product(NAMES, args.seeds):
            isbn, _ = learned(name, without(folds, number), dev, settings[name], seed, args)
            row: measure.Row = {"fold": number, "approximation": name, "seed": seed}
            for decoding in COMPARED:
                parser = IncrementalParser(isbn, search=BeamSettings(beam=10), decoding=DECODINGS[decoding])
                evaluations[name, decoding].append(measure.scored(parser, golds, "given").evaluation)
                row[decoding] = f1(evaluations[name, decoding][-1])
            tables["Folds"].append(row)
            measure.progress(str(row))
    tables["Mean field minus feed-forward"] = [
        compared(decoding, *(evaluations[name, decoding] for name in NAMES), args.folds) for decoding in COMPARED
    ]
    measure.report(tables, args.json)


def without(folds: Sequence[Sequence[Tree]], number: int) -> list[Tree]:
    """Return the trees of all folds but one."""
    return [tree for other, fold in enumerate(folds) if other != number for tree in fold]


def tried(name: str, trees: Sequence[Tree], dev: Sequence[Tree], args: argparse.Namespace) -> list[measure.Row]:
    """Return a row for each setting, with the log-likelihood of dev a word."""
    rows = []
    for rate, precision in product(args.rates, args.precisions):
        _, log_likelihood = learned(name, trees, dev, Settings(rate, precision), args.seeds[0], args)
        rows.append({"approximation": name, "rate": rate, "precision": precision, "dev, nats a word": -log_likelihood})
        measure.progress(str(rows[-1]))
    return rows


def learned(
    name: str, trees: Sequence[Tree], dev: Sequence[Tree], settings: Settings, seed: int, args: argparse.Namespace
) -> tuple[ISBN, float]:
    """Learn from trees, until dev is no likelier; also return the log-likelihood of dev a word."""
    learner = ISBNLearner.variant("paper")
    (normalized, root), (held_out, _) = normalized_trees(trees), normalized_trees(dev)
    vocabulary = learner.lexical.vocabulary(normalized, learner.lexical.min_count_of(sum(map(len, normalized))))
    events, dev_events = (events_of(some, vocabulary, learner.relations) for some in (normalized, held_out))
    start = start_network(name, vocabulary, learner.relations, n_states=args.states, seed=seed)
    network = PlainGradient(settings.rate, settings.precision, seed=seed).fit(start, events, dev=dev_events)
    isbn = ISBN(vocabulary, learner.relations, (network,), {"root_label": root})
    return isbn, float(log_likelihoods(network, dev_events).sum()) / sum(map(len, held_out))


def f1(evaluation: Evaluation) -> float:
    return evaluation.scores()["evalb_f"]


def compared(decoding: str, base: list[Evaluation], other: list[Evaluation], n_folds: int) -> measure.Row:
    """Return the row of a decoding; the evaluations come fold by fold, with those of all seeds of a fold together."""
    f1s = np.array([[f1(evaluation) for evaluation in evaluations] for evaluations in (base, other)])
    differences = (f1s[1] - f1s[0]).reshape(n_folds, -1).mean(axis=1)
    error = np.sqrt((1 / n_folds + 1 / (n_folds - 1)) * differences.var(ddof=1))
    counts = [counts_of(evaluations, len(base) // n_folds) for evaluations in (base, other)]
    return {
        "decoding": decoding,
        **{name: float(values.mean()) for name, values in zip(NAMES, f1s, strict=True)},
        "difference": float(differences.mean()),
        "least": float(differences.min()),
        "largest": float(differences.max()),
        "folds where mean field is better": int((differences > 0).sum()),
        "95%": str(difference_interval(*counts)),
        "p": paired_permutation_test(*counts),
        "found with 80% power": float(error * sum(t.ppf((0.975, 0.8), n_folds - 1))),
    }


def counts_of(evaluations: Sequence[Evaluation], n_seeds: int) -> np.ndarray:
    """Return the counts of all folds by seed, of evaluations fold by fold, each with those of its seeds."""
    by_seed = [[e.sentences for e in evaluations[seed::n_seeds]] for seed in range(n_seeds)]
    return evalb_counts([Evaluation([score for fold in folds for score in fold]) for folds in by_seed])


if __name__ == "__main__":
    main()
