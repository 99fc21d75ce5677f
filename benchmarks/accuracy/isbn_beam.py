"""Measure what the width of the beam does to an ISBN's trees, log-probabilities and surprisals.

    python -m benchmarks.accuracy.isbn_beam ISBN TREES [--beams 1,3,10,30,100] [--max-words N]
        [--json FILE] [--plot FILE]

ISBN is a folder that `spacy-lpcfg learn isbn` wrote; TREES are the gold trees of the sentences, of which those of more
than N words are left out. For each width, from raw words: F1 (EVALB, COLLINS.prm) of the brackets of least expected
loss and of the most probable tree; log-probability a word, which grows towards the model's own; surprisal of a word in
bits, the mean of those of all words and ends, and how far it is from that of the widest beam, on average and at most;
the least surprisal, which is never negative; and how far at most the surprisals of a sentence are from adding up to its
log-probability, in bits.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.isbn import ISBN, BeamSettings, IncrementalParser
from spacy_lpcfg.trees import Tree


def search(isbn: ISBN, beam: int, golds: list[Tree]) -> tuple[measure.Row, list[np.ndarray]]:
    """A row of the table without its comparisons, and the surprisals of each sentence."""
    measure.progress(f"beam {beam}")
    parser = IncrementalParser(isbn, settings=BeamSettings(beam=beam))
    parses, seconds = measure.parse_all(parser, golds, "model")
    best = [parser.n_best(gold.words, n=1) for gold in golds]
    start = time.process_time()
    surprisals = [parser.surprisal(gold.words) for gold in golds]
    surprisal_seconds = time.process_time() - start
    sums = np.array([bits.sum() for bits in surprisals])
    logs = np.array([parse.log_probability for parse in parses])
    n_words = sum(map(len, golds))
    return {
        "beam": beam,
        "words / CPU s": n_words / seconds,
        "of surprisal": n_words / surprisal_seconds,
        "F1": evaluate(golds, [parse.tree for parse in parses]).scores()["evalb_f"],
        "F1, best tree": evaluate(golds, [ranked[0].tree if ranked else None for ranked in best]).scores()["evalb_f"],
        "log P / word": float(logs.sum() / n_words),
        "bits / word": float(np.concatenate(surprisals).mean()),
        "least": float(min(bits.min() for bits in surprisals)),
        "off the sum": float(np.abs(sums + logs / np.log(2)).max()),
    }, surprisals


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("isbn", type=Path, metavar="ISBN")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--beams", default="1,3,10,30,100", metavar="N,...")
    arguments.add_argument("--max-words", type=int, default=1_000, metavar="N")
    arguments.add_argument("--plot", type=Path, metavar="FILE", help="draw the speed and the F1 to this file")
    args = arguments.parse_args()
    measure.check_plot(arguments, args.plot)
    golds = [gold for gold in measure.read_gold(args.trees) if len(gold) <= args.max_words]
    isbn = measure.read_isbn(args.isbn)
    searches = [search(isbn, beam, golds) for beam in sorted(map(int, args.beams.split(",")))]
    widest = np.concatenate(searches[-1][1])
    rows = []
    for row, surprisals in searches:
        off = np.abs(np.concatenate(surprisals) - widest)
        rows.append({**row, "mean off the widest": float(off.mean()), "most": float(off.max())})
    measure.report({f"The beam, on {len(golds)} sentences of {args.trees}": rows}, args.json)
    if args.plot:
        measure.plot([{"beam": row["beam"], "F1": row["F1"]} for row in rows], args.plot, "F1", y_scale="linear")


if __name__ == "__main__":
    main()
