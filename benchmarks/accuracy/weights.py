"""Whether folds of the training trees agree with the weights, the bracket cost and the temperatures of presets.

    python -m benchmarks.accuracy.weights TREEBANK_DIR [--presets NAME...] [--folds K] [--most N] [--seed S]
        [--json FILE]

Reads train.mrg of TREEBANK_DIR alone. Deals its trees to K folds, learns each preset from all folds but one, and parses
the raw words of that one, or of N of its sentences drawn at random. Members parse once: what grammars and what networks
think of each sentence is kept, and averaged anew for each share of the grammars. Measures F1 as EVALB with COLLINS.prm
over all lengths by share and by cost, and by temperature the expected calibration error of the brackets' scores, with
the others at their defaults.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from benchmarks import measure
from spacy_lpcfg.combination import Combination, Combined
from spacy_lpcfg.combination.learner import GRAMMARS_SHARE, default_weights
from spacy_lpcfg.combination.members import Member
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.evaluation.calibration import outcomes, reliability, tempered
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.result import PARSED, Parse, Posteriors
from spacy_lpcfg.trees import Tree, clean, read_trees

BRACKET_COST = Combination.bracket_cost
SHARES = (0.0, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0)
COSTS = (0.3, 0.35, 0.38, 0.42, 0.45, 0.5, 0.55)
SWEPT_TEMPERATURES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0, 1.1, 1.25)
BLOCK = 50  # trees that go to one fold together: neighbours are alike, and every fold has some of all kinds of text

Part = TypeVar("Part")


class Believed(NamedTuple):
    """The posteriors of grammars and of networks for a sentence, and its gold tree as scoring sees it."""

    gold: Tree
    grammars: Posteriors
    networks: Posteriors


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    names = [name for name in PRESETS if name != "fast"]
    arguments.add_argument("--presets", nargs="+", choices=names, default=names, metavar="NAME")
    arguments.add_argument("--folds", type=int, default=3, metavar="K")
    arguments.add_argument("--most", type=int, metavar="N", help="sentences of a fold to parse; default: all")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    trees = list(read_trees(args.treebank / "train.mrg"))
    if not 2 <= args.folds <= len(trees) / BLOCK:
        arguments.error(f"--folds needs 2 at least, and {BLOCK} trees for each")
    tables: dict[str, list[measure.Row]] = {}
    for name in args.presets:
        folds = []
        for others, held_out in split(trees, args.folds, args.most):
            measure.progress(f"{name}: fold {len(folds) + 1}")
            folds.append(believed(preset(name, seed=args.seed).fit(others), held_out))
        tables |= swept(name, folds)
    measure.report(tables, args.json)


def split(trees: Sequence[Tree], n: int, most: int | None) -> Iterator[tuple[list[Tree], list[Tree]]]:
    """Yield for each fold the trees of all other folds, and its own."""
    folds = np.arange(len(trees)) // BLOCK % n
    for fold in range(n):
        of_fold = [trees[i] for i in np.flatnonzero(folds == fold)]
        if most is not None and most < len(of_fold):
            of_fold = random.Random(0).sample(of_fold, most)
        yield [trees[i] for i in np.flatnonzero(folds != fold)], of_fold


def believed(combined: Combined, trees: Sequence[Tree]) -> list[Believed]:
    """Return the posteriors of a combination's members for the words of trees."""
    networks = [member for member in combined.members if member.is_network]
    grammars = [member for member in combined.members if member not in networks]
    parsers = [parser_of_kind(members, combined.beam) for members in (grammars, networks)]
    golds = [tree for tree in map(clean, trees) if tree is not None]
    return [Believed(gold, *(parser.posteriors(gold.words) for parser in parsers)) for gold in golds]


def parser_of_kind(members: Sequence[Member], beam: int) -> CombinedParser:
    """Members of one kind do alone what they do among all: the first grammar prunes for grammars, and no network."""
    return CombinedParser(Combined(tuple(members), tuple(default_weights(members)), beam=beam))


def swept(name: str, folds: Sequence[list[Believed]]) -> dict[str, list[measure.Row]]:
    """The tables of a preset."""
    told = [outcomes(parses(fold), golds_of(fold)) for fold in folds]
    return {
        f"{name}: F1 by the share of the grammars": rows(
            folds, "share", SHARES, GRAMMARS_SHARE, lambda fold, share: f1(parses(fold, share=share), golds_of(fold))
        ),
        f"{name}: F1 by the bracket cost": rows(
            folds, "cost", COSTS, BRACKET_COST, lambda fold, cost: f1(parses(fold, cost=cost), golds_of(fold))
        ),
        f"{name}: calibration error by temperature, %": rows(
            told,
            "temperature",
            SWEPT_TEMPERATURES,
            PRESETS[name].temperature,
            lambda of_fold, value: error(*of_fold, value),
        ),
    }


def rows(
    parts: Sequence[Part],
    setting: str,
    values: Sequence[float],
    default: float,
    measured: Callable[[Part, float], float],
) -> list[measure.Row]:
    """Return a measure of each fold at each value of a setting, and the mean."""
    values_by_fold = []
    for value in sorted({*values, default}):
        scores = [measured(part, value) for part in parts]
        named = f"{value:g}, default" if value == default else f"{value:g}"
        of_folds = {f"fold {i}": score for i, score in enumerate(scores, start=1)}
        values_by_fold.append({setting: named, "mean": float(np.mean(scores)), **of_folds})
    return values_by_fold


def f1(parses: Sequence[Parse], golds: list[Tree]) -> float:
    return evaluate(golds, [parse.tree for parse in parses]).scores()["evalb_f"]


def error(scores: np.ndarray, right: np.ndarray, temperature: float) -> float:
    """The expected calibration error in percent; same arguments as `reliability`."""
    return 100 * reliability(tempered(scores, temperature), right).expected_error


def golds_of(fold: Sequence[Believed]) -> list[Tree]:
    return [sentence.gold for sentence in fold]


def parses(fold: Sequence[Believed], *, share: float = GRAMMARS_SHARE, cost: float = BRACKET_COST) -> list[Parse]:
    """Return the parses by the mean of the members' posteriors, as `CombinedParser.parse` finds them."""
    weights = (share, 1 - share)
    return [
        decoded(sentence.gold.words, Posteriors.mean((sentence.grammars, sentence.networks), weights), cost)
        for sentence in fold
    ]


def decoded(words: Sequence[str], posteriors: Posteriors, cost: float) -> Parse:
    """The brackets of least expected loss, with the most probable tags."""
    spans = mbr_brackets(posteriors.brackets, len(words), cost=cost)
    tags = [max(of_word, key=of_word.__getitem__) for of_word in posteriors.tags]
    return Parse(
        words=words,
        tags=tags,
        spans=spans,
        span_scores=np.array([posteriors.brackets.get(span, 0.0) for span in spans], dtype=np.float32),
        tag_scores=np.array(
            [of_word[tag] for of_word, tag in zip(posteriors.tags, tags, strict=True)], dtype=np.float32
        ),
        log_probability=float("nan"),
        status=PARSED,
    )


if __name__ == "__main__":
    main()
