"""Measure how fast a saved pipeline parses raw words on one core, alone and beside another parser.

    python -m benchmarks.speed.parsers MODEL_DIR TREES [--peer "COMMAND with {words} and {output}"] [--json FILE]

MODEL_DIR is a folder that spacy.load opens, with an lpcfg_parser or isbn_parser in it; TREES are the gold trees of the
sentences. Measures sentences and words per CPU second of the native call (the library's `parse`) and through nlp.pipe
(Docs of one sentence, made beforehand of given words), the median of three passes of each, all in processes of their
own that have parsed one sentence before; the most memory that such a process ever held; and F1 (EVALB, COLLINS.prm, all
lengths).

The peer's COMMAND is run without a shell: on a file of all sentences, one a line, words between spaces, and once more
on the first sentence alone. {words} stands for that file, and {output} for the one to which it must write a bracketed
tree a line. Its CPU seconds are counted with start-up, and without: less those of the first sentence. For example:

    --peer "java -jar BerkeleyParser-1.7.jar -gr GRAMMAR -inputFile {words} -outputFile {output}"
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks import measure, peers
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.parsing_pipe import ParsingPipe
from spacy_lpcfg.evaluation.evalb import SentenceTrees, evaluate
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import unescape_token

N_PASSES = 3
Timed = tuple[Sequence[SentenceTrees], float]
"""Trees, and the CPU seconds that they took."""


def native_pass(model: Path, golds: list[Tree]) -> Timed:
    """Parse the words of trees by what the pipeline has learned."""
    parser = component(spacy.load(model)).ready_parser()
    parser.parse(golds[0].words)
    parses, seconds = measure.parse_all(parser, golds, "model")
    return [parse.tree for parse in parses], seconds


def pipe_pass(model: Path, golds: list[Tree]) -> Timed:
    """Parse the words of trees, as they stand in texts, through the pipeline."""
    nlp = spacy.load(model)
    key = component(nlp).spans_key
    docs = [as_doc(nlp, gold) for gold in golds]
    list(nlp.pipe([as_doc(nlp, golds[0])]))
    docs, seconds = measure.timed(lambda: list(nlp.pipe(docs)))
    pairs = [(gold, tree) for gold, doc in zip(golds, docs, strict=True) for tree in trees(doc, key)]
    return [tree and Tree.from_spans(gold.words, tree.tags, tree.spans()) for gold, tree in pairs], seconds


def component(nlp: Language) -> ParsingPipe:
    """The first component of a pipeline that parses, whatever its name."""
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ParsingPipe)]
    if not parsers:
        raise ValueError(f"Expected a pipeline with an lpcfg_parser or isbn_parser, got one of {nlp.pipe_names}.")
    return parsers[0]


def as_doc(nlp: Language, gold: Tree) -> Doc:
    """A Doc of one sentence, with its words as they stand in texts."""
    words = [unescape_token(word) for word in gold.words]
    return Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])


def own_rows(model: Path, golds: list[Tree]) -> Iterator[measure.Row]:
    """Yield a row for each way to parse; they take turns, so that what else the machine does falls on both."""
    ways = {"native": native_pass, "nlp.pipe": pipe_pass}
    by_turn = [[measure.in_child(parse, model, golds) for parse in ways.values()] for _ in range(N_PASSES)]
    for name, passes in zip(ways, zip(*by_turn, strict=True), strict=True):
        trees, _ = passes[0].result
        seconds = statistics.median(one_pass.result[1] for one_pass in passes)
        yield {**row(name, golds, trees, seconds), "peak MB": max(one_pass.peak_mb for one_pass in passes)}


def peer_rows(command: str, golds: list[Tree]) -> list[measure.Row]:
    """Return the rows of another parser, with and without its start-up."""
    trees, seconds = peers.output_of(command, golds, peers.trees_of)
    _, start_up = peers.output_of(command, golds[:1], peers.trees_of)
    without = row("peer, without start-up", golds[1:], trees[1:], seconds - start_up)
    return [row("peer", golds, trees, seconds), without]


def row(name: str, golds: list[Tree], trees: Sequence[SentenceTrees], seconds: float) -> measure.Row:
    """Speed and accuracy of the trees that a parser found."""
    scores = evaluate(golds, trees).scores()
    return {
        "parser": name,
        "CPU s": seconds,
        "sentences / CPU s": len(golds) / seconds,
        "words / CPU s": sum(map(len, golds)) / seconds,
        "F1": scores["evalb_f"],
        "EVALB errors": scores["n_error"],
        "no tree": scores["n_skipped"],
        "peak MB": None,
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", type=Path, metavar="MODEL_DIR")
    arguments.add_argument("trees", type=Path, metavar="TREES")
    arguments.add_argument("--peer", metavar="COMMAND", help="of another parser")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    rows = [*own_rows(args.model, golds), *(peer_rows(args.peer, golds) if args.peer else [])]
    for row_of_way in rows:
        row_of_way["% of native"] = 100 * row_of_way["sentences / CPU s"] / rows[0]["sentences / CPU s"]
        row_of_way["native / this"] = 100 / row_of_way["% of native"]
    measure.report({f"Parsing {len(golds)} sentences of {args.trees}": rows}, args.json)


if __name__ == "__main__":
    main()
