"""Measure how good the parsers are, and what they cost: each learner on each treebank.

    python -m benchmarks.accuracy.learners TREEBANK_DIR... [--states M] [--seed S] [--text FILE]
        [--only NAME...] [--json FILE]

A TREEBANK_DIR holds train.mrg and dev.mrg. Learns from the one and parses the words of the other, once raw and once
with the treebank's tags. Measures F1 as EVALB with COLLINS.prm over all lengths, tagging accuracy, sentences that EVALB
leaves out (errors) and that the grammar has no tree for (no tree), CPU seconds and peak memory of learning
(reading and saving included, in a process of its own), sentences parsed per CPU second, and the grammar's size on disk.
With a text, tokenised and a sentence a line, also of a grammar that learns from the ensemble's trees of it, and of what
learns from the balanced combination's trees: a grammar, a network, and both together; learning then counts the
teacher's learning and parsing too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure
from spacy_lpcfg.combination import Combination, Distillation
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.components.training.raw_text import RawText
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import EM, Clusters, Ensembles, Pivot, Spectral, SplitMerge, TreebankPCFG
from spacy_lpcfg.parsing.model import model_from_disk
from spacy_lpcfg.stacking import StackedLearner
from spacy_lpcfg.trees import read_trees

N_SEEDS = 2  # of each learner of an ensemble


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, default=16, metavar="M", help="of the learners that have any")
    arguments.add_argument("--text", type=Path, metavar="FILE", help="to learn from what a combination says of it")
    arguments.add_argument("--seed", type=int, default=0, help="of the learners that draw anything at random")
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="learners, by the first words of their rows")
    args = arguments.parse_args()
    learners = {
        name: learner
        for name, learner in learners_of(args.states, args.seed, args.text).items()
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


def learners_of(m: int, seed: int, text: Path | None) -> dict[str, Any]:
    """The learners by their names: of m states, and of more where more are better."""
    more = 3 * m // 2
    settings: dict[str, Any] = {"n_states": m, "seed": seed}
    learners: dict[str, Any] = {
        "PCFG": TreebankPCFG(),
        f"spectral, m = {m}": Spectral(**settings),
        f"pivot, m = {m}": Pivot(**settings),
        f"pivot with a span layer, m = {m}": StackedLearner(Pivot(**settings)),
        f"clusters, m = {m}": Clusters(**settings),
        f"EM, m = {m}": EM(**settings),
        f"split and merge, m = {2 * m}": SplitMerge(n_states=2 * m, seed=seed),  # as many states in all
        f"ensemble of 8, m = {more}": ensemble_of_8(more, seed),
    }
    learners |= {f"{name} combination": preset(name, seed=seed) for name in PRESETS if name != "fast"}
    if text is not None:
        sentences = RawText(text, None)
        learners |= {"fast preset": preset("fast", text=sentences, seed=seed)}
        learners |= {"fast preset without span layer": preset("fast", text=sentences, seed=seed, span_layer=False)}
        learners |= distilled_learners(more, seed, sentences)
    return learners


def ensemble_of_8(m: int, seed: int) -> Combination:
    """Four grammars each way."""
    return Combination.both_ways(Ensembles.diverse(4, n_states=m, seed=N_SEEDS * seed))


def distilled_learners(m: int, seed: int, text: RawText) -> dict[str, Any]:
    """Return the students of an ensemble and a combination: a grammar of m states, a network, and both."""
    ensemble, balanced = ensemble_of_8(m, seed), preset("balanced", seed=seed)
    grammar, network = Pivot(n_states=m, seed=seed), ISBNLearner(seed=seed)
    return {
        f"distilled, m = {m}": Distillation(ensemble, grammar, text),
        f"distilled by balanced, m = {m}": Distillation(balanced, grammar, text),
        "distilled network": Distillation(balanced, network, text),
        "distilled grammar and network": Distillation(balanced, Combination((grammar, network)), text),
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
    parses, seconds = measure.parse_all(model_from_disk(grammar_path).parser(), golds, tags)
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
