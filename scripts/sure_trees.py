"""Parse raw text, and write the trees of which a model is sure, for other models to learn from.

    python scripts/sure_trees.py MODEL TEXT OUTPUT [--least P] [--jobs N]

MODEL is a folder that spacy.load opens, with an lpcfg_parser in it; TEXT has a sentence a line. Writes a tree a line,
of sentences of 2 to 40 tokens. The model, best a combination of several, gives each bracket of a tree a probability of
at least P (0.7), which it only does where its members agree, and its treebank has all local trees of it (a label over
the labels of its children).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from joblib import Parallel, delayed

from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees import Tree, write_trees
from spacy_lpcfg.trees.transforms import escape_tokens

LENGTHS = range(2, 41)
WRITTEN, UNPARSED, UNSURE, UNSEEN = "written", "without a tree", "unsure", "with local trees that the treebank lacks"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("text", type=Path, metavar="TEXT")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    arguments.add_argument("--least", type=float, default=0.7, metavar="P")
    arguments.add_argument("--jobs", type=int, default=1, metavar="N")
    args = arguments.parse_args()
    nlp = load_pipeline(args.model)
    _, model = find_lpcfg_parser(nlp)
    sentences = [
        words
        for line in args.text.read_text("utf-8").splitlines()
        if len(words := [token.text for token in nlp.make_doc(line) if not token.is_space]) in LENGTHS
    ]
    counts: Counter[str] = Counter()
    trees: list[Tree] = []
    for parse in parses(model, sentences, args.jobs):
        verdict = judge(parse, model, args.least)
        counts[verdict] += 1
        if verdict == WRITTEN:
            trees.append(Tree(model.root_label, (parse.tree,)) if model.root_label else parse.tree)
    write_trees(args.output, trees)
    print(", ".join(f"{counts[verdict]:,} {verdict}" for verdict in (WRITTEN, UNSURE, UNSEEN, UNPARSED)))


def parses(model: ParsingModel, sentences: Sequence[Sequence[str]], n_jobs: int) -> Iterator[Parse]:
    """Yield the parse of each sentence."""
    parse, words = model.parser().parse, model.words
    yield from Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(parse)(escape_tokens(sentence, known=words)) for sentence in sentences
    )


def judge(parse: Parse, model: ParsingModel, least: float) -> str:
    """Return whether a tree is written, or why it is not."""
    if parse.status != PARSED or not len(parse.spans):
        return UNPARSED
    if parse.span_scores.min() < least:
        return UNSURE
    return UNSEEN if model.local_trees.unseen(parse.tree) else WRITTEN


if __name__ == "__main__":
    main()
