"""Measure parsers of phrases that learn from treebanks of dependencies, with and without an encoder, beside UDPipe 1.

    python -m benchmarks.accuracy.universal FOLDER... [--encoders FOLDER] [--udpipe N] [--lang CODE] [--json FILE]

A FOLDER holds train, dev and test, .conllu as `scripts/universal.py` writes them, or .mrg. Learns the grammar alone,
with features of the treebank, and with ENCODERS/NAME.encoder if it is there, where NAME is that of the FOLDER and the
file is by `spacy-lpcfg encoder --tune`. All read words, not tags; settings are chosen on dev. F1 is EVALB's; UAS is the
percentage of words with the right head, without punctuation. Columns:

- `UAS of gold`: the heads of the gold trees by the table `dependencies`, the most that the parser can have
- `UDPipe`: UAS of its tagger and parser, learned from the same parts in N epochs (`pip install ufal.udpipe`); words are
  those of the treebank for both
- `learning` and `sentences / CPU s`: of the last of our parsers that was learned
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, clean, dependencies, head_rules, read_trees
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu
from spacy_lpcfg.trees.phrases import phrases_of

TABLE = "dependencies"


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    arguments.add_argument("--encoders", type=Path, metavar="FOLDER")
    arguments.add_argument("--udpipe", type=int, metavar="N")
    arguments.add_argument("--lang", default="xx", metavar="CODE", help="language of the head rules for .mrg")
    args = arguments.parse_args()
    measure.report({folder.name: [row(folder, args)] for folder in args.folders}, args.json)


def row(folder: Path, args: Any) -> measure.Row:
    """Return the figures of a treebank."""
    encoder = args.encoders and args.encoders / f"{folder.name}.encoder"
    parsers = [("grammar", "none", {"evidence": False}), ("features", "none", {})]
    if encoder and encoder.is_file():
        parsers.append(("encoder", str(encoder), {}))
    is_conllu = (folder / "train.conllu").is_file()
    scores: measure.Row = {}
    for name, vectors, settings in parsers:
        heads = TABLE if is_conllu else None
        result = measure.in_child(learn_and_parse, folder, args.lang, settings, heads, vectors).result
        scores |= {name: result.pop("F1"), **result}
    peer = measure.in_child(udpipe, folder, args.udpipe).result if is_conllu and args.udpipe else {}
    return {"trees": len(list(read_trees(file_of(folder, "train")))), **scores, **peer}


def file_of(folder: Path, part: str) -> Path:
    return next(path for path in (folder / f"{part}.conllu", folder / f"{part}.mrg") if path.is_file())


def learn_and_parse(folder: Path, lang: str, settings: dict[str, Any], heads: str | None, encoder: str) -> measure.Row:
    """Learn a model; parse the test part, and score its trees, and their heads if it has dependencies."""
    train, dev = (list(read_trees(file_of(folder, part))) for part in ("train", "dev"))
    learner = make_learner("pivot", 0, lang, settings, heads, encoder=encoder)
    model, seconds = measure.timed(lambda: learner.fit(train, held_out=dev))
    path = file_of(folder, "test")
    sentences = list(read_conllu(path)) if path.suffix == ".conllu" else []
    trees = [phrases_of(sentence).tree for sentence in sentences] or read_trees(path)
    golds = list(filter(None, map(clean, trees)))
    scored = measure.scored(make_parser(model), golds, "model")
    row = {"F1": scored.f1, "learning, CPU s": seconds, "sentences / CPU s": len(golds) / scored.seconds}
    return row | {"UAS": uas(sentences, scored.trees), "UAS of gold": uas(sentences, golds)} if sentences else row


def uas(sentences: Sequence[DependencySentence], trees: Sequence[Tree]) -> float:
    """Return the percentage of words, without punctuation, with the right head, where trees get heads by the table."""
    rules = head_rules(TABLE)
    return percentage(sentences, [[each.head for each in dependencies(tree, rules)] for tree in trees])


def percentage(sentences: Sequence[DependencySentence], heads: Sequence[Sequence[int]]) -> float:
    right = [
        head == gold
        for sentence, of_words in zip(sentences, heads, strict=True)
        for gold, head, part in zip(sentence.heads, of_words, sentence.parts_of_speech, strict=True)
        if part != "PUNCT"
    ]
    return 100 * sum(right) / len(right)


def udpipe(folder: Path, n_epochs: int) -> measure.Row:
    """Train UDPipe's tagger and parser; return UAS on the words of the test part, and the CPU seconds of training."""
    from ufal.udpipe import InputFormat, Model, ProcessingError, Sentence, Trainer

    def read(part: str) -> Iterator[Any]:
        reader = InputFormat.newConlluInputFormat()
        reader.setText(file_of(folder, part).read_text("utf-8"))
        sentence, error = Sentence(), ProcessingError()
        while reader.nextSentence(sentence, error):
            yield sentence
            sentence = Sentence()

    tagger, error = f"iterations={n_epochs}", ProcessingError()
    settings = "none", tagger, f"{tagger};learning_rate=0.01;learning_rate_final=0.001", error
    data, seconds = measure.timed(
        lambda: Trainer.train("morphodita_parsito", [*read("train")], [*read("dev")], *settings)
    )
    if error.occurred():
        raise ValueError(error.message)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        model = Model.load(file.name)
    heads = []
    for sentence in read("test"):
        model.tag(sentence, Model.DEFAULT)
        model.parse(sentence, Model.DEFAULT)
        heads.append([word.head - 1 for word in sentence.words][1:])
    sentences = list(read_conllu(file_of(folder, "test")))
    return {"UDPipe": percentage(sentences, heads), "its training, CPU s": seconds}


if __name__ == "__main__":
    main()
