"""Whether latent trees are recovered as the data grow, and what sharing covariances does to that.

    python -m benchmarks.papers.bracketing_consistency [--sentences N...] [--repeats R] [--words W] [--states M]
        [--noise S] [--json FILE]

The share of trees that are found exactly, the top bracket given, from N sentences, in percent:

- one tree: R random trees of W words with random parameters, N sentences of each (theorem 1 of Parikh, Cohen and Xing
  2014 promises 100 as N grows);
- a grammar: 36 sequences of four tags, a random tree for each, and parameters that depend on the labels of a node and
  of the one above it alone; N sentences over all sequences. Covariances are of the sequence alone ("own"), or shared by
  the kernel over (tag, tag, distance), or of the sequence and shrunk towards the shared ones as by 100 sentences more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks import measure
from benchmarks.papers.simulated_trees import (
    LatentModel,
    Shape,
    leaves,
    random_emission,
    random_map,
    random_shape,
    spans,
)
from spacy_lpcfg.bracketing.paper.covariances import (
    Covariances,
    add_pairs,
    sequence_covariances,
    shared_covariances,
    shrink,
)
from spacy_lpcfg.bracketing.paper.latent_tree import minimal_tree
from spacy_lpcfg.bracketing.paper.metric import log_volume, smooth

N_TAGS, N_LABELS, N_SEQUENCES, DIMENSIONS = 4, 3, 36, 8
GAMMA, PRIOR = 0.4, 100.0


@dataclass(frozen=True)
class Sequence:
    """Tags with their tree, and the model of their words."""

    tags: np.ndarray
    model: LatentModel


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


def grammar(args, rng: np.random.Generator) -> list[Sequence]:
    """Sequences of tags whose models share their parameters by the labels of nodes."""
    maps = {pair: random_map(args.states, rng) for pair in np.ndindex(N_LABELS, N_LABELS)}
    emissions = [random_emission(args.states, DIMENSIONS, rng) for _ in range(N_TAGS)]
    sequences: dict[bytes, Sequence] = {}
    while len(sequences) < N_SEQUENCES:
        shape = random_shape(0, int(rng.integers(4, 9)), rng)
        tags = rng.integers(N_TAGS, size=len(leaves(shape)))
        labels = {span: int(rng.integers(N_LABELS)) for span in spans(shape)}
        above = {child: labels[span] for span in labels for child in _children(span, labels)}
        by_span = {span: maps[above.get(span, 0), label] for span, label in labels.items()}
        model = LatentModel(shape, by_span, [emissions[tag] for tag in tags], args.noise)
        sequences.setdefault(tags.tobytes(), Sequence(tags, model))
    return list(sequences.values())


def _children(span: tuple[int, int], labels: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """The spans right below a span: those that no other one below it holds."""
    below = [s for s in labels if s != span and span[0] <= s[0] and s[1] <= span[1]]
    return [s for s in below if not any(t != s and t[0] <= s[0] and s[1] <= t[1] for t in below)]


def shared_grammar(n: int, args, seed: int) -> dict[str, float]:
    """Share of the sequences whose tree is recovered, by kind of covariances."""
    rng = np.random.default_rng(seed)
    sequences = grammar(args, rng)
    counts = rng.multinomial(n, np.full(N_SEQUENCES, 1 / N_SEQUENCES))
    vectors = [sequence.model.sample(count, rng) for sequence, count in zip(sequences, counts, strict=True)]
    shape = (9, N_TAGS, N_TAGS)
    table = Covariances(np.zeros((*shape, DIMENSIONS, DIMENSIONS), np.float32), np.zeros(shape))
    for sequence, rows in zip(sequences, vectors, strict=True):
        offsets = np.arange(len(rows) + 1) * len(sequence.tags)
        flat = rows.reshape(-1, DIMENSIONS).astype(np.float32)
        add_pairs(table, flat, np.tile(sequence.tags, len(rows)).astype(np.int32), offsets)
    means, _ = smooth(table, GAMMA, 9)
    is_right: dict[str, list[bool]] = {"own": [], "shared": [], "shrunk": []}
    for sequence, rows, count in zip(sequences, vectors, counts, strict=True):
        shared = shared_covariances(means, np.arange(N_TAGS), sequence.tags)
        of_group = sequence_covariances(rows) if count else np.zeros_like(shared)
        for name, estimate in (
            ("own", of_group),
            ("shared", shared),
            ("shrunk", shrink(of_group, count, shared, PRIOR)),
        ):
            is_right[name].append(is_recovered(estimate, args.states, sequence.model.shape))
    return {name: float(np.mean(values)) for name, values in is_right.items()}


def row(n: int, args) -> measure.Row:
    measure.progress(f"{n} sentences")
    alone = np.mean([one_tree(n, args, seed) for seed in range(args.repeats)])
    shares = [shared_grammar(n, args, seed) for seed in range(max(args.repeats // 10, 1))]
    by_name = {f"a grammar, {name}": 100 * float(np.mean([s[name] for s in shares])) for name in shares[0]}
    return {"sentences": n, "one tree": 100 * float(alone), **by_name}


def main() -> None:
    arguments = measure.arguments(__doc__)
    sizes = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
    arguments.add_argument("--sentences", type=int, nargs="+", default=sizes, metavar="N")
    arguments.add_argument("--repeats", type=int, default=40, metavar="R")
    arguments.add_argument("--words", type=int, default=8, metavar="W")
    arguments.add_argument("--states", type=int, default=2, metavar="M")
    arguments.add_argument("--noise", type=float, default=1.0, metavar="S")
    args = arguments.parse_args()
    measure.report({"Exact trees, %": [row(n, args) for n in args.sentences]}, args.json)


if __name__ == "__main__":
    main()
