"""Whether latent trees are recovered as the data grow: theorem 1 of Parikh, Cohen and Xing (2014).

    python -m benchmarks.papers.bracketing_consistency [--sentences N...] [--repeats R] [--words W] [--states M]
        [--noise S] [--json FILE]

The share of R random trees of W words with random parameters that are found exactly from N sentences of each, the top
bracket given, in percent. The theorem promises 100 as N grows.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import measure
from benchmarks.papers.simulated_trees import LatentModel, Shape, leaves, random_shape, sequence_covariances, spans
from spacy_lpcfg.bracketing.paper.latent_tree import minimal_tree
from spacy_lpcfg.bracketing.paper.metric import log_volume

DIMENSIONS = 8


def is_recovered(covariances: np.ndarray, m: int, shape: Shape) -> bool:
    """Whether the minimal tree of covariances (n, n, p, p) is the given one; not, where their rank is too small."""
    volumes = log_volume(covariances, m)
    np.fill_diagonal(volumes, 0.0)
    if not np.all(np.isfinite(volumes)):
        return False
    tree = minimal_tree(-(volumes + volumes.T) / 2, len(leaves(shape[0])))
    return [tuple(span) for span in tree.spans] == spans(shape)[1:]


def one_tree(n: int, args, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    model = LatentModel.random(random_shape(0, args.words, rng), args.states, DIMENSIONS, args.noise, rng)
    return is_recovered(sequence_covariances(model.sample(n, rng)), args.states, model.shape)


def row(n: int, args: argparse.Namespace) -> measure.Row:
    measure.progress(f"{n} sentences")
    share = np.mean([one_tree(n, args, seed) for seed in range(args.repeats)])
    return {"sentences": n, "exact trees, %": 100 * float(share)}


def main() -> None:
    arguments = measure.arguments(__doc__)
    sizes = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
    arguments.add_argument("--sentences", type=int, nargs="+", default=sizes, metavar="N")
    arguments.add_argument("--repeats", type=int, default=40, metavar="R")
    arguments.add_argument("--words", type=int, default=8, metavar="W")
    arguments.add_argument("--states", type=int, default=2, metavar="M")
    arguments.add_argument("--noise", type=float, default=1.0, metavar="S")
    args = arguments.parse_args()
    measure.report({"Trees recovered": [row(n, args) for n in args.sentences]}, args.json)


if __name__ == "__main__":
    main()
