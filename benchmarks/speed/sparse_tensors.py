"""Measure what it is worth to keep a grammar's tensors as sparse ones: accuracy, speed and size.

    python -m benchmarks.speed.sparse_tensors TREEBANK_DIR... [--states M] [--seed S] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Learns a pivot grammar, and stores its tensors exactly and as
`Tensors.sparsify` does, with entries below growing shares of the largest left to a product of marginals. Measures F1
(EVALB, COLLINS.prm, all lengths, raw words), sentences per CPU second beside those of the grammar as it is learned by
default, in turn, the percentage of entries that are kept one by one, and MB of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.accuracy import levers
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.tensors import NEGLIGIBLE, Tensors
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.trees import Tree, read_trees

SHARES = (0.0, 1e-3, NEGLIGIBLE, 1e-2, 3e-2, 0.1)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, default=Pivot.n_states, metavar="M")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    rows = []
    for folder in args.treebanks:
        measure.progress(folder.name)
        grammar, dense = learned(Pivot(n_states=args.states, seed=args.seed), list(read_trees(folder / "train.mrg")))
        golds = measure.read_gold(folder / "dev.mrg")
        shapes = grammar.tensors.shapes
        stored = {"all": Tensors.from_dense(dense, shapes)}
        stored |= {f"above {share:g} of the largest": Tensors.sparsify(dense, shapes, share) for share in SHARES}
        for name, tensors in stored.items():
            rows.append({"treebank": folder.name, "entries kept": name, **row(grammar, tensors, golds)})
    measure.report({f"Pivots of {args.states} states": rows}, args.json)


def learned(learner: Pivot, trees: Sequence[Tree]) -> tuple[Grammar, np.ndarray]:
    """The grammar of the last iteration of EM, and its tensors before they are stored, float32 (n_entries,)."""
    fit = learner.start(trees)
    for _ in range(learner.n_iterations):
        fit.step()
    expected = fit.expected
    latent = fit.split.normalized(expected.roots, expected.rules, expected.forms, fit.smoothing)
    return fit.grammar(), latent.tensors


def row(grammar: Grammar, tensors: Tensors, golds: list[Tree]) -> measure.Row:
    """A grammar with tensors that are stored so."""
    stored = replace(grammar, tensors=tensors)
    n_kept = len(tensors.exact) + len(tensors.entries)
    return {
        "% of entries": 100 * n_kept / tensors.sizes.sum(),
        "MB": len(stored.to_bytes()) / 1e6,
        **levers.row(Parser(stored), Parser(grammar), golds, "model"),
    }


if __name__ == "__main__":
    main()
