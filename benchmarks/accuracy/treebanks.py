"""Measure what head rules and coarse tags are worth on a treebank of any dialect.

    python -m benchmarks.accuracy.treebanks TREES... [--lang CODE] [--dialect NAME] [--heads NAME...]
        [--tag-set fine coarse] [--seeds N...] [--json FILE]

TREES are files, or folders of them. For each seed 2,500 trees are drawn, from which a pivot grammar without evidence
learns, and 1,300 others, of at most 40 words, which it parses from raw words. Measures F1 and tags (EVALB, COLLINS.prm)
and the CPU seconds of both, under each table of head rules and with each kind of tags. Beside the names of tables there
are "first" and "last" child, and "learned" (`head_learning.py`), from the same 2,500 trees. Trees of more than 60 words
are left out.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy.head_learning import learned_heads, lines_of
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import LexicalSettings, Pivot
from spacy_lpcfg.learning.lexicon.lexical import signatures_of
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, TreeFiles, clean, normalize
from spacy_lpcfg.trees.heads import TABLES
from spacy_lpcfg.trees.tags import with_coarse_tags

N_LEARNED, N_PARSED = 2_500, 1_300
_SIDES = {"first": "side: left\n", "last": "side: right\n"}


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("trees", nargs="+", type=Path, metavar="TREES")
    arguments.add_argument("--lang", default="is", metavar="CODE", help="of signatures, and of the heads by default")
    arguments.add_argument("--dialect", metavar="NAME")
    arguments.add_argument("--heads", nargs="+", metavar="NAME", help=f"of {', '.join([*TABLES, *_SIDES])}, learned")
    arguments.add_argument("--tag-set", nargs="+", default=["fine"], choices=("fine", "coarse"))
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    args = arguments.parse_args()
    files = TreeFiles.of(args.trees, dialect=args.dialect, on_error=lambda _: None)
    treebank = [tree for tree in map(normalize, files) if tree is not None and len(tree) <= 60]
    rows = []
    for seed in args.seeds:
        drawn = random.Random(seed).sample(treebank, min(N_LEARNED + N_PARSED, len(treebank)))
        for heads, tags in product(args.heads or [args.lang], args.tag_set):
            measure.progress(f"seed {seed}, heads {heads}, {tags} tags")
            used = list(map(with_coarse_tags, drawn)) if tags == "coarse" else drawn
            rows += row(
                used[N_PARSED:], used[:N_PARSED], heads, args.lang, {"seed": seed, "heads": heads, "tags": tags}
            )
    measure.report({", ".join(map(str, args.trees)): rows}, args.json)


def row(train: list[Tree], others: list[Tree], heads: str, lang: str, names: measure.Row) -> Iterator[measure.Row]:
    """F1 and CPU seconds of a grammar."""
    golds = [tree for tree in map(clean, others) if tree is not None and len(tree) <= 40]
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        learner = Pivot(lang=table(heads, train, Path(folder)), lexical=LexicalSettings(signatures=signatures_of(lang)))
        parser = make_parser(learner.fit(train))
        learned = time.process_time()
        parses = [parser.parse(gold.words).tree for gold in golds]
    scores = evaluate(golds, parses).scores()
    yield {
        **names,
        "number of tags": len({tag for tree in train for tag in tree.tags}),
        "F1": scores["evalb_f"],
        "tags right": scores["tag_acc"],
        "learning": learned - start,
        "parsing": time.process_time() - learned,
    }


def table(heads: str, train: list[Tree], folder: Path) -> str:
    """Return a learner's name of head rules: that of a table, or of a file that is written to a folder."""
    if heads not in (*_SIDES, "learned"):
        return heads
    path = folder / f"{heads}.heads"
    path.write_text(_SIDES[heads] if heads in _SIDES else "".join(lines_of(learned_heads(train))), "utf-8")
    return str(path)


if __name__ == "__main__":
    main()
