"""Measure how near the complexity of parsed documents is to that of gold ones.

    python -m benchmarks.accuracy.complexity MODEL TREES... [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en; every file of TREES is a document. For
each of L2SCA's counts and indices there is a row: its mean over the documents by gold trees and by those that the model
makes of the same words, the mean difference in percent of the gold mean, and Pearson's correlation over the documents.
"""

from __future__ import annotations

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.queries import complexity
from spacy_lpcfg.queries.complexity import COUNTS, INDICES


def main() -> None:
    args = measure.model_and_trees(__doc__).parse_args()
    parser = find_parser(load_pipeline(args.model)).ready_parser()
    gold, parsed, rows = [], [], []
    for path in args.trees:
        measure.progress(path.name)
        trees = measure.read_gold(path)
        gold.append(complexity(trees).document)
        parsed.append(complexity(parse.tree for parse in measure.parsed(parser, trees)).document)
    for name in (*COUNTS, *INDICES):
        one, other = (np.array([record[name] for record in records], dtype=float) for records in (gold, parsed))
        rows.append(
            {
                "measure": name,
                "gold": float(one.mean()),
                "parsed": float(other.mean()),
                "difference, %": float(100 * (other - one).mean() / one.mean()),
                "correlation": float(np.corrcoef(one, other)[0, 1]),
            }
        )
    measure.report({f"{len(gold)} documents": rows}, args.json)


if __name__ == "__main__":
    main()
