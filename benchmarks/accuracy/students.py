"""Measure how much of a combination's accuracy students keep: a grammar and a network that learn from its trees.

    python -m benchmarks.accuracy.students TREEBANK_DIR --text FILE [--shares P...] [--weights W...] [--seed S]
        [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg; the text is tokenised, with a sentence a line. The teacher, the preset
`balanced`, learns from train.mrg and parses the text once. The students are a pivot grammar of 24 states and a network,
both from left to right, and the combination of the two. They learn from train.mrg alone, and from the parsed text too:
from all its trees, with train.mrg as often as `Distillation` would count it; in a second round, from the trees that
these students give it together; from the share P of the teacher's trees that it is most certain of; and from all of
them, with train.mrg W times. Measures F1 as EVALB with COLLINS.prm over all lengths from the raw words of dev.mrg,
sentences that are right as a whole, and how much is kept of what the teacher's F1 is above that of the same student
without text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.combination import Combination, Combined, Distillation
from spacy_lpcfg.combination.distillation import as_learned
from spacy_lpcfg.combination.parsed_text import ScoredTree, most_certain, parse_text
from spacy_lpcfg.combination.presets import preset
from spacy_lpcfg.components.training.raw_text import RawText
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.transforms import normalize_rooted

N_STATES = 24  # of the student grammar, which has more to learn from than the treebank
TREEBANK = "the treebank alone"


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--text", type=Path, required=True, metavar="FILE")
    arguments.add_argument("--shares", type=float, nargs="*", default=[0.5], metavar="P")
    arguments.add_argument("--weights", type=int, nargs="*", default=[3], metavar="W")
    arguments.add_argument("--seed", type=int, default=0, metavar="S")
    args = arguments.parse_args()
    students = Combination((Pivot(n_states=N_STATES, seed=args.seed), ISBNLearner(seed=args.seed)))
    lessons = Distillation(preset("balanced", seed=args.seed), students, RawText(args.text, None))
    normalized = (normalize_rooted(tree) for tree in read_trees(args.treebank / "train.mrg"))
    golds = [tree for tree in normalized if tree is not None]
    dev = measure.read_gold(args.treebank / "dev.mrg")
    measure.progress("teacher")
    teacher = lessons.teacher.fit(golds)
    scored = [{"learned from": TREEBANK, "parser": "teacher", **scores(teacher, dev)}]
    for name, model in taught(lessons, golds, teacher, args.shares, args.weights):
        for student, model_of_student in (
            ("grammar", model.members[0]),
            ("network", model.members[1]),
            ("both", model),
        ):
            scored.append({"learned from": name, "parser": student, **scores(as_learned(model_of_student), dev)})
            measure.progress(str(scored[-1]))
    measure.report({args.treebank.name: [{**row, "kept, %": kept_gain(row, scored)} for row in scored]}, args.json)


def taught(
    lessons: Distillation, golds: Sequence[Tree], teacher: Combined, shares: Sequence[float], weights: Sequence[int]
) -> Iterator[tuple[str, Combined]]:
    """Yield the name of each lesson, and the students that it makes."""
    yield TREEBANK, lessons.student.fit(golds)
    parsed = parse(lessons, teacher)
    trees = [result.tree for result in parsed]
    first = lessons.learn(golds, trees)
    yield f"{len(trees):,} trees", first
    again = [result.tree for result in parse(lessons, first)]
    yield f"{len(again):,} trees, second round", lessons.learn(golds, again)
    for share in shares:
        some = [result.tree for result in most_certain(parsed, share)]
        yield f"{len(some):,} most certain trees", lessons.learn(golds, some)
    for weight in weights:
        yield f"{len(trees):,} trees, treebank {weight} times", replace(lessons, weight=weight).learn(golds, trees)


def parse(lessons: Distillation, teacher: Combined) -> list[ScoredTree]:
    """The trees of the text."""
    measure.progress("parsing the text")
    return list(parse_text(teacher, lessons.text, lessons.max_words))


def scores(model: ParsingModel, golds: list[Tree]) -> measure.Row:
    """Return the F1 and the exact matches of a model on the words of trees."""
    parses, _ = measure.parse_all(model.parser(), golds, "model")
    percentages = evaluate(golds, [parse.tree for parse in parses]).scores()
    return {"F1": percentages["evalb_f"], "exact": percentages["complete_match"]}


def kept_gain(row: measure.Row, scored: Sequence[measure.Row]) -> float | None:
    """Return the share of the teacher's gain over a student of the treebank alone that a student has, in percent."""
    teacher, *alone = [other for other in scored if other["learned from"] == TREEBANK]
    alone_f1 = next((other["F1"] for other in alone if other["parser"] == row["parser"]), None)
    if row["learned from"] == TREEBANK or alone_f1 in (None, teacher["F1"]):
        return None
    return 100 * (row["F1"] - alone_f1) / (teacher["F1"] - alone_f1)


if __name__ == "__main__":
    main()
