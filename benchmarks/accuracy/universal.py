"""Measure parsers that learn phrases from dependencies, as of Universal Dependencies, in many languages.

    python -m benchmarks.accuracy.universal FOLDER... [--json FILE]

A FOLDER is a copy of a repository UD_Language-Name. A pivot grammar learns from its file *-train.conllu, or from
*-dev.conllu where that is absent, and parses the words of *-test.conllu, cut as the treebank cuts them; tags are its
own. Phrases: F1 as EVALB with COLLINS.prm against the phrases that the gold dependencies give. UAS: words whose head,
read back from the tree, is that of the treebank, punctuation included; beside it the same of the phrases of gold
dependencies, which is what no parser of phrases can exceed by much, and of a chain: each word depends on the next one,
or on the one before, whichever is more frequent. Times are CPU seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu
from spacy_lpcfg.trees.phrases import phrases_of
from spacy_lpcfg.trees.phrases.heads import dependency_heads

PARTS = "train", "dev"


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    args = arguments.parse_args()
    measured = []
    for folder in args.folders:
        measure.progress(folder.name)
        measured.append(measure.in_child(row, folder).result)
    measure.report({"phrases and dependencies": measured}, args.json)


def row(folder: Path) -> measure.Row:
    train = next(path for part in PARTS for path in folder.glob(f"*-{part}.conllu"))
    test = next(folder.glob("*-test.conllu"))
    sentences = list(read_conllu(test))
    golds = [phrases_of(sentence).tree for sentence in sentences]
    learned_from = [phrases_of(sentence).tree for sentence in read_conllu(train)]
    start = time.process_time()
    parser = make_parser(make_learner("pivot", lang="dependencies").fit(learned_from))
    middle = time.process_time()
    parses = [parser.parse(gold.words).tree for gold in golds]
    end = time.process_time()
    scores = evaluate(golds, parses).scores()
    return {
        "treebank": folder.name.removeprefix("UD_"),
        "part": train.stem.rpartition("-")[2],
        "trees": len(learned_from),
        "F1": scores["evalb_f"],
        "tags": scores["tag_acc"],
        "UAS": attachment(sentences, map(dependency_heads, parses)),
        "of gold phrases": attachment(sentences, map(dependency_heads, golds)),
        "chain": max(attachment(sentences, (chain(sentence, step) for sentence in sentences)) for step in (1, -1)),
        "learning, s": round(middle - start),
        "sentences/s": round(len(golds) / (end - middle)),
    }


def chain(sentence: DependencySentence, step: int) -> list[int]:
    """Return heads that are the next word, or the one before; the last word is the root."""
    return [head if 0 <= head < len(sentence.words) else -1 for head in range(step, len(sentence.words) + step)]


def attachment(sentences: Iterable[DependencySentence], heads: Iterable[list[int]]) -> float:
    """Return the percentage of words that have the right head."""
    pairs = [pair for each, its in zip(sentences, heads, strict=True) for pair in zip(each.heads, its, strict=True)]
    return 100 * sum(gold == head for gold, head in pairs) / len(pairs)


if __name__ == "__main__":
    main()
