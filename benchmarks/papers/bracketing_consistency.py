"""Whether latent trees are recovered as the data grow: theorem 1 of Parikh, Cohen and Xing (2014).

    python -m benchmarks.papers.bracketing_consistency [--json FILE]

The share of 40 random trees of 8 words, of models with random parameters, that are found exactly from N sentences of
each, the top bracket given, in percent. Latent vectors have 2 dimensions, word vectors 8. The theorem promises 100 as N
grows.
"""

from __future__ import annotations

import numpy as np

from benchmarks import measure
from benchmarks.papers.simulated_trees import LatentModel, Shape, leaves, random_shape, sequence_covariances, spans
from spacy_lpcfg.bracketing.paper.latent_tree import minimal_tree
from spacy_lpcfg.bracketing.paper.metric import log_volume

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)  # sentences
N_TREES, N_WORDS, N_STATES, DIMENSIONS, NOISE = 40, 8, 2, 8, 1.0


def is_recovered(covariances: np.ndarray, m: int, shape: Shape) -> bool:
    """Whether the minimal tree of covariances (n, n, p, p) is the given one; not, where their rank is too small."""
    volumes = log_volume(covariances, m)
    np.fill_diagonal(volumes, 0.0)
    if not np.all(np.isfinite(volumes)):
        return False
    tree = minimal_tree(-(volumes + volumes.T) / 2, len(leaves(shape[0])))
    return [tuple(span) for span in tree.spans] == spans(shape)[1:]


def one_tree(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    model = LatentModel.random(random_shape(0, N_WORDS, rng), N_STATES, DIMENSIONS, NOISE, rng)
    return is_recovered(sequence_covariances(model.sample(n, rng)), N_STATES, model.shape)


def main() -> None:
    args = measure.arguments(__doc__).parse_args()
    rows: list[measure.Row] = []
    for n in SIZES:
        measure.progress(f"{n} sentences")
        share = np.mean([one_tree(n, seed) for seed in range(N_TREES)])
        rows.append({"sentences": n, "exact trees, %": 100 * float(share)})
    measure.report({"Trees recovered": rows}, args.json)


if __name__ == "__main__":
    main()
