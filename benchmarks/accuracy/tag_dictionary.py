"""What the setting `words` is worth: tags that come right if it lists those of unknown words, and what wrong ones cost.

    python -m benchmarks.accuracy.tag_dictionary en WSJ/dev.mrg GUM/dev.mrg [--alone]

The sentences are those of the first 400 of each file with words that the model does not know. One dictionary lists the
gold tags of these words, and another a wrong tag for each, drawn from the gold tags of all. With `--alone` the grammar
parses without its evidence.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.words.tag_dictionary import NO_TAGS, TagDictionary

N_READ = 400


class Tagged(NamedTuple):
    """Whether the tag of each unknown word is right, and F1 of the sentences."""

    are_right: list[bool]
    f1: float


def main() -> None:
    args = measure.model_and_trees(__doc__, alone=False).parse_args()
    model = find_lpcfg_parser(load_pipeline(args.model))[1]
    model = model.without_evidence if args.alone else model
    rows = [{"trees": str(path), **row_of(model, measure.read_gold(path)[:N_READ])} for path in args.trees]
    measure.report({"Dictionaries of right and of wrong tags": rows}, args.json)


def is_unknown(model: ParsingModel, word: str) -> bool:
    return word not in model.words and word.lower() not in model.words


def dictionaries(model: ParsingModel, golds: Sequence[Tree]) -> tuple[TagDictionary, TagDictionary]:
    """Return a dictionary of the gold tags of unknown words, and one of a wrong tag for each."""
    pairs = [(word, tag) for gold in golds for word, tag in zip(gold.words, gold.tags, strict=True)]
    known_tags = {*model.tags}
    right = defaultdict(set)
    for word, tag in pairs:
        if is_unknown(model, word) and tag in known_tags:
            right[word].add(tag)
    drawn = random.Random(0)
    tags = [tag for word, tag in pairs if word in right]
    wrong = {word: [drawn.choice([tag for tag in tags if tag not in own])] for word, own in right.items()}
    return TagDictionary({word: sorted(own) for word, own in right.items()}), TagDictionary(wrong)


def tagged(model: ParsingModel, golds: Sequence[Tree], words: TagDictionary) -> Tagged:
    """Parse the words of gold trees."""
    trees = [parse.tree for parse in measure.parsed(make_parser(model, words=words), golds)]
    are_right = [
        tag == gold_tag
        for gold, tree in zip(golds, trees, strict=True)
        for word, gold_tag, tag in zip(gold.words, gold.tags, tree.tags, strict=True)
        if is_unknown(model, word)
    ]
    return Tagged(are_right, evaluate(golds, trees).total().brackets.fmeasure)


def row_of(model: ParsingModel, golds: Sequence[Tree]) -> measure.Row:
    """Return what dictionaries are worth on the sentences that have unknown words."""
    golds = [gold for gold in golds if any(is_unknown(model, word) for word in gold.words)]
    before, right, wrong = (tagged(model, golds, words) for words in (NO_TAGS, *dictionaries(model, golds)))
    gained = sum(now and not then for then, now in zip(before.are_right, right.are_right, strict=True))
    lost = sum(then and not now for then, now in zip(before.are_right, wrong.are_right, strict=True))
    n_right = sum(before.are_right)
    n_wrong = len(before.are_right) - n_right
    return {
        "unknown words": len(before.are_right),
        "wrong tags": n_wrong,
        "mended, %": 100 * gained / max(n_wrong, 1),
        "lost by wrong entries, %": 100 * lost / max(n_right, 1),
        "F1": before.f1,
        "F1, right entries": right.f1,
        "F1, wrong entries": wrong.f1,
    }


if __name__ == "__main__":
    main()
