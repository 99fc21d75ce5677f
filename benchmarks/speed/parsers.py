"""Measure how fast a saved pipeline parses raw words on one core, alone and beside another parser.

    python -m benchmarks.speed.parsers MODEL_DIR TREES [--peer "COMMAND with {words} and {output}"]
        [--repeats N] [--json FILE]

MODEL_DIR is a folder that spacy.load opens, with an lpcfg_parser or isbn_parser in it; TREES are the gold trees of the
sentences. Measures sentences and words per CPU second of the native call (the library's `parse`) and through nlp.pipe
(Docs of one sentence, made beforehand of given words), the median of N passes of each, all in processes of their own
that have parsed one sentence before; the most memory that such a process ever held; and F1 (EVALB, COLLINS.prm, all
lengths). Of grammars it tells what share of the native call each pass takes, and how many multiplications and additions
the fine pass does a second, beside those of numpy's product of two square matrices of float32 on the same core.

The peer's COMMAND is run without a shell: on a file of all sentences, one a line, words between spaces, and once more
on the first sentence alone. {words} stands for that file, and {output} for the one to which it must write a bracketed
tree a line. Its CPU seconds are counted with start-up, and without: less those of the first sentence. For example:

    --peer "java -jar BerkeleyParser-1.7.jar -gr GRAMMAR -inputFile {words} -outputFile {output}"
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks import measure, peers
from spacy_lpcfg.arrays import LANES
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.components.doc.constituents import trees
from spacy_lpcfg.components.parsing_pipe import ParsingPipe
from spacy_lpcfg.evaluation.evalb import Sentence, evaluate, read_evalb
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.layout import layout
from spacy_lpcfg.grammar.tensors import FACTORED, SPARSE, Tensors
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, clean
from spacy_lpcfg.trees.transforms import unescape_token

Timed = tuple[Sequence[Sentence], float]
"""Trees, and the CPU seconds that they took."""


def native_pass(model: Path, golds: list[Tree]) -> Timed:
    """Parse the words of trees by what the pipeline has learned."""
    parser = component(spacy.load(model)).ready_parser().parser
    parser.parse(golds[0].words)
    parses, seconds = measure.parse_all(parser, golds, "model")
    return [parse.tree for parse in parses], seconds


def pipe_pass(model: Path, golds: list[Tree]) -> Timed:
    """Parse the words of trees, as they stand in texts, through the pipeline."""
    nlp = spacy.load(model)
    key = component(nlp).spans_key
    docs = [as_doc(nlp, gold) for gold in golds]
    list(nlp.pipe([as_doc(nlp, golds[0])]))
    start = time.process_time()
    docs = list(nlp.pipe(docs))
    seconds = time.process_time() - start
    return [
        in_spelling_of(gold, tree) for gold, doc in zip(golds, docs, strict=True) for tree in trees(doc, key)
    ], seconds


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


def in_spelling_of(gold: Tree, tree: Tree | None) -> Tree | None:
    """A tree with the words of the treebank."""
    return tree and Tree.from_spans(gold.words, tree.tags, tree.spans())


def own_rows(model: Path, golds: list[Tree], repeats: int) -> list[measure.Row]:
    """Both ways to parse, by turns, so that what else the machine does falls on both."""
    ways = {"native": native_pass, "nlp.pipe": pipe_pass}
    passes = [{name: measure.in_child(method, model, golds) for name, method in ways.items()} for _ in range(repeats)]
    return [own_row(name, golds, [by_name[name] for by_name in passes]) for name in ways]


def own_row(name: str, golds: list[Tree], passes: list[measure.Measured]) -> measure.Row:
    """The median of the passes of one way to parse."""
    trees, _ = passes[0].result
    seconds = statistics.median(one_pass.result[1] for one_pass in passes)
    return {**row(name, golds, trees, seconds), "peak MB": max(one_pass.peak_mb for one_pass in passes)}


def pass_rows(model: Path, golds: list[Tree]) -> list[measure.Row]:
    """Measure the time of each pass of a chart, and the speed of the fine pass."""
    grammar = component(spacy.load(model)).learned
    if not isinstance(grammar, Grammar):
        return []
    parser = make_parser(grammar)
    parser.parse(golds[0].words)
    seconds, n_multiply_adds = np.zeros(4), 0
    per_group, per_edge = multiply_adds(parser.grammar.tensors)
    for gold in golds:
        forest, times = timed_passes(parser, gold.words)
        seconds += times
        target, _, _, rule = forest.edge_table().T
        is_new = (np.diff(target, prepend=-1) != 0) | (np.diff(rule, prepend=-1) != 0)
        n_multiply_adds += int(per_group[rule[is_new]].sum() + per_edge[rule].sum())
    context, with_coarse, fine, whole = seconds
    parts = {"context": context, "coarse": with_coarse - context, "fine": fine, "decoding": whole - with_coarse - fine}
    rates = {"fine": n_multiply_adds / fine, "(numpy: product of matrices)": blas_peak()}
    return [
        {
            "pass": name,
            "ms / sentence": 1e3 * parts[name] / len(golds) if name in parts else None,
            "%": 100 * parts[name] / whole if name in parts else None,
            "10^9 multiply-adds / s": 1e-9 * rates[name] if name in rates else None,
            "% of numpy's": 100 * rates[name] / max(rates.values()) if name in rates else None,
        }
        for name in {**parts, **rates}
    ]


def timed_passes(parser: Parser, words: Sequence[str]) -> tuple[Any, np.ndarray]:
    """The forest of a sentence; CPU seconds of its context, of context and forest, of marginals, of the whole parse."""
    forest = parser.forest(words)
    calls = [
        lambda: parser._inputs(words, None, 0.0, parser.settings),
        lambda: parser.forest(words),
        lambda: parser.marginals(forest),
        lambda: parser.parse(words),
    ]
    return forest, np.array([cpu_seconds(call) for call in calls])


def cpu_seconds(call: Callable[[], Any]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def multiply_adds(tensors: Tensors) -> tuple[np.ndarray, np.ndarray]:
    """Return the multiply-adds of the fine pass for each rule, by group of edges and by edge, int64 (n_rules,).

    Inside and outside each apply a tensor once a group. For every edge there is an outer product on the way up, and two
    products with its matrix on the way down; factored tensors have projections besides.
    """
    shapes, ranks = tensors.shapes.astype(np.int64), tensors.ranks.astype(np.int64)
    sizes = np.where(tensors.forms[:, None] == FACTORED, ranks, shapes)
    m_a, m_b, m_c = shapes.T
    sums = m_b * m_c + m_a
    in_blocks = LANES * np.diff(layout(tensors).first_block)
    core = np.where(tensors.forms == SPARSE, in_blocks + sums, sizes.prod(axis=1))
    projected = shapes * ranks
    return 2 * (core + projected[:, 0]), 3 * (sizes[:, 1] * sizes[:, 2] + projected[:, 1:].sum(axis=1))


def blas_peak(n: int = 1024, repeats: int = 10) -> float:
    """Multiply-adds a second of the product of two square matrices of float32, at best."""
    one = np.random.default_rng(0).random((n, n), dtype=np.float32)
    return n**3 / min(cpu_seconds(lambda: one @ one) for _ in range(repeats))


def peer_rows(command: str, golds: list[Tree]) -> list[measure.Row]:
    """Another parser, with and without its start-up."""
    trees, seconds = run_peer(command, golds)
    _, start_up = run_peer(command, golds[:1])
    with_start_up = row("peer", golds, trees, seconds)
    without = row("peer, without start-up", golds[1:], trees[1:], seconds - start_up)
    return [with_start_up, without]


def run_peer(command: str, golds: list[Tree]) -> Timed:
    """Trees that a command writes for the words of gold trees, and the CPU seconds of its processes."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"words": str(Path(folder, "words")), "output": str(Path(folder, "output"))}
        Path(files["words"]).write_text("".join(" ".join(gold.words) + "\n" for gold in golds), encoding="utf-8")
        seconds = peers.run(command, **files)
        trees = [[clean(tree) or tree for tree in line] for line in read_evalb(files["output"])]
        return trees, seconds


def row(name: str, golds: list[Tree], trees: Sequence[Sentence], seconds: float) -> measure.Row:
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
    arguments.add_argument("--repeats", type=int, default=3, metavar="N")
    args = arguments.parse_args()
    golds = measure.read_gold(args.trees)
    rows = own_rows(args.model, golds, args.repeats) + (peer_rows(args.peer, golds) if args.peer else [])
    for row_of_way in rows:
        row_of_way["% of native"] = 100 * row_of_way["sentences / CPU s"] / rows[0]["sentences / CPU s"]
        row_of_way["native / this"] = 100 / row_of_way["% of native"]
    passes = measure.in_child(pass_rows, args.model, golds).result
    title = f"Parsing {len(golds)} sentences of {args.trees}"
    measure.report({title: rows, **({"Passes of the native call": passes} if passes else {})}, args.json)


if __name__ == "__main__":
    main()
