"""Measure how good the parsers are, and what they cost: each learner on each treebank, and another parser beside them.

    python -m benchmarks.accuracy.learners TREEBANK_DIR... [--part PART] [--only NAME...]
        [--peer-train COMMAND --peer-parse COMMAND] [--json FILE]

A TREEBANK_DIR holds train.mrg and PART.mrg (default: dev), and may hold the config.cfg that `scripts/treebanks.py`
makes, which tells the language. Learns from the one and parses the words of the other, once raw and once with the
treebank's tags. Measures F1 as EVALB with COLLINS.prm over all lengths, tagging accuracy, sentences that EVALB leaves
out (errors) and that the grammar has no tree for (no tree), CPU seconds and peak memory of learning (reading and saving
included, in a process of its own) and of parsing, and the size of the model on disk.

The peer's COMMANDs are run without a shell. {trees} stands for a file with a tree a line, as scoring sees them, from
which the first learns what it writes to {model}; the second parses the sentences of {words}, one a line, words between
spaces, and writes a bracketed tree a line to {output}. Its start-up counts. For example:

    --peer-train "java -cp BerkeleyParser-1.7.jar edu.berkeley.nlp.PCFGLA.GrammarTrainer -path {trees} -out {model}
        -treebank SINGLEFILE -SMcycles 5"
    --peer-parse "java -jar BerkeleyParser-1.7.jar -gr {model} -inputFile {words} -outputFile {output}"
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thinc.api import Config

from benchmarks import measure, peers
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learners import AUTO, NONE
from spacy_lpcfg.models.kinds import make_parser, model_from_disk
from spacy_lpcfg.trees import read_trees


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    measure.part_argument(arguments)
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="learners, by the first words of their rows")
    arguments.add_argument("--peer-train", metavar="COMMAND")
    arguments.add_argument("--peer-parse", metavar="COMMAND")
    args = arguments.parse_args()
    if bool(args.peer_train) != bool(args.peer_parse):
        arguments.error("a peer needs both --peer-train and --peer-parse")
    learning, parsing = [], []
    for treebank in args.treebanks:
        train, test = treebank / "train.mrg", treebank / f"{args.part}.mrg"
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder, "model")
            for name, learner in learners_of(language(treebank)).items():
                if args.only is None or name.split(",")[0] in args.only:
                    measure.progress(f"{treebank}: {name}")
                    names = {"treebank": treebank.name, "learner": name}
                    cost = measure.in_child(learn, learner, train, model)
                    learning.append({**names, **learning_row(cost.seconds, cost.peak_mb, model)})
                    for tags in ("model", "given"):
                        cost = measure.in_child(parse, model, test, tags)
                        parsing.append({**names, "tags": tags, **cost.result, "peak MB": cost.peak_mb})
            if args.peer_train:
                names = {"treebank": treebank.name, "learner": "peer"}
                costs = measure.in_child(train_peer, args.peer_train, train, model).result
                learning.append({**names, **learning_row(*costs, model)})
                row = measure.in_child(parse_by_peer, args.peer_parse, test, model).result
                parsing.append({**names, "tags": "model", **row})
    measure.report({"Learning": learning, "Parsing": parsing}, args.json)


def language(treebank: Path) -> str:
    config = treebank / "config.cfg"
    return Config().from_disk(config, interpolate=False)["nlp"]["lang"] if config.exists() else "en"


def learners_of(lang: str, m: int = 16) -> dict[str, Any]:
    """Return the learners of m states by their names."""

    def learner(name: str, encoder: str = AUTO, **settings: Any) -> Any:
        return make_learner(name, 0, lang, settings, encoder=encoder)

    return {
        "PCFG": learner("pcfg"),
        f"spectral, m = {m}": learner("spectral", n_states=m),
        f"pivot, m = {m}": learner("pivot", n_states=m, evidence=False),
        f"pivot with evidence of features, m = {m}": learner("pivot", NONE, n_states=m),
        f"pivot with evidence of the encoder, m = {m}": learner("pivot", n_states=m),
        f"EM, m = {m}": learner("em", n_states=m),
        f"split and merge, m = {2 * m}": learner("split-merge", n_states=2 * m),  # as many states in all
    }


def learning_row(seconds: float, peak_mb: float, model: Path) -> measure.Row:
    return {"CPU s": seconds, "peak MB": peak_mb, "model MB": model.stat().st_size / 1e6}


def learn(learner: Any, trees: Path, model: Path) -> None:
    learner.fit(read_trees(trees)).to_disk(model)


def parse(model: Path, gold_path: Path, tags: str) -> measure.Row:
    """Parse the sentences of a treebank and score the trees."""
    golds = measure.read_gold(gold_path)
    parses, seconds = measure.parse_all(make_parser(model_from_disk(model)), golds, tags)
    return parsing_row(golds, [parse.tree for parse in parses], seconds, sum(not parse.is_parsed for parse in parses))


def parsing_row(golds: Sequence[Any], trees: Sequence[Any], seconds: float, n_failed: int) -> measure.Row:
    """Return the EVALB scores of trees in percent, the numbers of sentences, and sentences in a CPU second."""
    scores = evaluate(golds, trees).scores()
    return {
        "F1": scores["evalb_f"],
        "precision": scores["evalb_p"],
        "recall": scores["evalb_r"],
        "complete": scores["complete_match"],
        "tag accuracy": scores["tag_acc"],
        "sentences": len(golds),
        "EVALB errors": scores["n_error"],
        "no tree": n_failed,
        "sentences / CPU s": len(golds) / seconds,
    }


def train_peer(command: str, trees: Path, model: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a peer's learning, start-up included."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines(f"( {tree})\n" for tree in measure.read_gold(trees))
        file.flush()
        return peers.run(command, trees=file.name, model=model), peers.children_mb()


def parse_by_peer(command: str, gold_path: Path, model: Path) -> measure.Row:
    golds = measure.read_gold(gold_path)
    trees, seconds = peers.output_of(command.replace("{model}", str(model)), golds, peers.trees_of)
    n_failed = sum(not sentence for sentence in trees)
    return {**parsing_row(golds, trees, seconds, n_failed), "peak MB": peers.children_mb()}


if __name__ == "__main__":
    main()
