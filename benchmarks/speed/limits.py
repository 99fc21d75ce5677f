"""Limits: CPU seconds and memory of one sentence by its length.

    python -m benchmarks.speed.limits TREES [MODEL...]       # the grammar that comes with the package, and MODELs
    python -m benchmarks.speed.limits TREES --token ,        # sentences of one token, again and again

Sentences are the words of TREES in a row, without the punctuation that ends sentences; the bracketer gets their tags.
Each has a process of its own, which first parses the 20 first words. "MB more" is by how much the peak of its memory
then rises; it has in it what a model makes only when it first needs it, such as rules that back off.
"""

from __future__ import annotations

from functools import reduce
from itertools import cycle, islice, product
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from benchmarks import measure
from spacy_lpcfg.bracketing.tags import universal


def cost(model: Path | None, trees: Path, n_words: int, token: str | None) -> measure.Row:
    """Return what a sentence costs a pipeline that has parsed a short one; None for the English model."""
    nlp = spacy.blank("en") if model is None else spacy.load(model)
    if model is None:
        nlp.add_pipe("lpcfg_parser")
    long, short = sentence(nlp.vocab, trees, n_words, token), sentence(nlp.vocab, trees, 20, None)
    components = [component for name, component in nlp.pipeline if name != "lpcfg_sentencizer"]
    for component in components:
        if hasattr(component, "tags"):
            component.tags = "model"
        component(short)
    before = measure.peak_mb()
    long, seconds = measure.timed(reduce, lambda doc, component: component(doc), components, long)
    (group,) = long.spans.values()
    return {"CPU s": seconds, "MB more": measure.peak_mb() - before, "status": group.attrs["status"][0]}


def sentence(vocab: Vocab, trees: Path, n_words: int, token: str | None) -> Doc:
    """The words of trees in a row, or a token again and again, which is tagged as a noun."""
    leaves = [(token, "NN")] if token else words_of(trees)
    words, tags = map(list, zip(*islice(cycle(leaves), n_words), strict=True))
    starts = [True] + [False] * (n_words - 1)
    return Doc(vocab, words=words, tags=tags, pos=[universal(tag) for tag in tags], sent_starts=starts)


def words_of(trees: Path) -> list[tuple[str, str]]:
    """Words and tags, but what ends sentences."""
    leaves = [leaf for tree in measure.read_gold(trees) for leaf in zip(tree.words, tree.tags, strict=True)]
    return [leaf for leaf in leaves if leaf[1] != "."]


def main() -> None:
    arguments = measure.arguments(__doc__, lengths=[100, 300, 1_000, 5_000])
    arguments.add_argument("trees", type=Path)
    arguments.add_argument("models", type=Path, nargs="*")
    arguments.add_argument("--token", help="what sentences are made of, instead of the words of TREES")
    args = arguments.parse_args()
    rows = []
    for model, n_words in product([None, *args.models], args.lengths):
        costs = measure.in_child(cost, model, args.trees, n_words, args.token).result
        rows.append({"model": "bundled" if model is None else model.name, "words": n_words, **costs})
        measure.progress(str(rows[-1]))
    measure.report({"One sentence": rows}, args.json)


if __name__ == "__main__":
    main()
