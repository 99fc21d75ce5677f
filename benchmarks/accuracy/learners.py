"""Measure how good the parsers are, and what they cost: each learner on each treebank.

    python -m benchmarks.accuracy.learners TREEBANK_DIR... [--states M] [--seed S] [--only NAME...] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Learns from the one and parses the words of the other, once raw and once
with the treebank's tags. Measures F1 as EVALB with COLLINS.prm over all lengths, tagging accuracy, sentences that EVALB
leaves out (errors) and that the grammar has no tree for (no tree), CPU seconds and peak memory of learning
(reading and saving included, in a process of its own), sentences parsed per CPU second, and the grammar's size on disk.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learners import NONE
from spacy_lpcfg.learning import EM, Pivot, Spectral, SplitMerge, TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser, model_from_disk
from spacy_lpcfg.trees import read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, default=16, metavar="M", help="of the learners that have any")
    arguments.add_argument("--seed", type=int, default=0, help="of the learners that draw anything at random")
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="learners, by the first words of their rows")
    args = arguments.parse_args()
    learners = {
        name: learner
        for name, learner in learners_of(args.states, args.seed).items()
        if args.only is None or name.split(",")[0] in args.only
    }
    learning, parsing = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grammar"
        for treebank in args.treebanks:
            for name, learner in learners.items():
                measure.progress(f"{treebank}: {name}")
                names = {"treebank": treebank.name, "learner": name}
                learning.append({**names, **learning_row(learner, treebank / "train.mrg", path)})
                for tags in ("model", "given"):
                    parsing.append({**names, "tags": tags, **parsing_row(path, treebank / "dev.mrg", tags)})
    measure.report({"Learning": learning, "Parsing": parsing}, args.json)


def learners_of(m: int, seed: int) -> dict[str, Any]:
    """The learners by their names, of m states."""
    settings: dict[str, Any] = {"n_states": m, "seed": seed}
    return {
        "PCFG": TreebankPCFG(),
        f"spectral, m = {m}": Spectral(**settings),
        f"pivot, m = {m}": Pivot(**settings),
        f"pivot with evidence of features, m = {m}": make_learner(
            "pivot", seed, settings={"n_states": m}, encoder=NONE
        ),
        f"pivot with evidence of the encoder, m = {m}": make_learner("pivot", seed, settings={"n_states": m}),
        f"EM, m = {m}": EM(**settings),
        f"split and merge, m = {2 * m}": SplitMerge(n_states=2 * m, seed=seed),  # as many states in all
    }


def learning_row(learner: Any, trees: Path, path: Path) -> measure.Row:
    """Learn from a file of trees, save the model to a path, and return what both cost."""
    cost = measure.in_child(learn, learner, trees, path)
    return {
        "trees": cost.result,
        "CPU s": cost.seconds,
        "peak MB": cost.peak_mb,
        "grammar MB": path.stat().st_size / 1e6,
    }


def learn(learner: Any, path: Path, grammar_path: Path) -> int:
    """Learn from a file and save the grammar; how many trees there were."""
    trees = list(read_trees(path))
    learner.fit(trees).to_disk(grammar_path)
    return len(trees)


def parsing_row(grammar_path: Path, gold_path: Path, tags: str) -> measure.Row:
    cost = measure.in_child(parse, grammar_path, gold_path, tags)
    return {**cost.result, "peak MB": cost.peak_mb}


def parse(grammar_path: Path, gold_path: Path, tags: str) -> measure.Row:
    """Parse the sentences of a treebank and score the trees."""
    golds = measure.read_gold(gold_path)
    parses, seconds = measure.parse_all(make_parser(model_from_disk(grammar_path)), golds, tags)
    scores = evaluate(golds, [parse.tree for parse in parses]).scores()
    return {
        "F1": scores["evalb_f"],
        "precision": scores["evalb_p"],
        "recall": scores["evalb_r"],
        "complete": scores["complete_match"],
        "tag accuracy": scores["tag_acc"],
        "sentences": len(golds),
        "EVALB errors": scores["n_error"],
        "no tree": sum(not parse.is_parsed for parse in parses),
        "sentences / CPU s": len(golds) / seconds,
    }


if __name__ == "__main__":
    main()
