"""Throughput of nlp.pipe with one process and several: a curve of `scaling.py`."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.tokens import Doc

from benchmarks import measure, peers
from benchmarks.accuracy.growth import Plot, Result, Series
from benchmarks.scaling.models import MODELS, Models
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.components.training.tagged_text import tagged_doc
from spacy_lpcfg.trees import Tree

FREE = "Docs / s, free cores"


def pipe_curves(models: Models, golds: Sequence[Tree], n_processes: Sequence[int], peer: str | None) -> Result:
    """Docs a second of each pipeline, and of another parser's command with as many threads."""
    rows: list[measure.Row] = []
    for name in MODELS:
        path = models.path(name)
        for n in n_processes:
            measure.progress(f"nlp.pipe of {name}, n_process = {n}")
            rows.append(row(name, n, len(golds), *measure.in_child(pipe_seconds, path, golds, n).result))
    for n in n_processes if peer else ():
        measure.progress(f"the peer, {n} threads")
        rows.append(row("peer", n, len(golds), *measure.in_child(peer_seconds, peer, golds, n).result))
    curves = {name: [r for r in rows if r["pipeline"] == name] for name in dict.fromkeys(r["pipeline"] for r in rows)}
    for own in curves.values():
        for each in own:
            each |= {"times": each[FREE] / own[0][FREE], "theory": each["processes"] / own[0]["processes"]}
    series = {name: Series([(r["processes"], r[FREE]) for r in own], [], 1) for name, own in curves.items()}
    return Result(
        {f"nlp.pipe on {len(golds)} Docs of a sentence": rows},
        {"pipe": Plot("processes", "Docs a second on free cores", series)},
    )


def row(name: str, n_processes: int, n_docs: int, wall: float, main_process: float, workers: float) -> measure.Row:
    """Return what was measured, and the speed it predicts for a machine with a free core for every process.

    Theory: as many times as fast as there are workers, until the process that hands out and collects is what takes
    longest, or what starting a worker costs counts.
    """
    slowest = max(main_process, workers / n_processes)
    return {
        "pipeline": name,
        "processes": n_processes,
        "wall s": wall,
        "Docs / wall s": n_docs / wall,
        "CPU s of this process": main_process,
        "CPU s of workers": workers,
        FREE: n_docs / slowest,
    }


def pipe_seconds(path: Path, golds: Sequence[Tree], n_process: int) -> tuple[float, float, float]:
    """Wall seconds of nlp.pipe, CPU seconds of this process, and those of its workers with their start."""
    multiprocessing.set_start_method(multiprocessing.get_all_start_methods()[0], force=True)  # the system's own
    nlp = spacy.load(path)
    docs = [_doc(nlp, gold) for gold in golds]
    list(nlp.pipe([_doc(nlp, golds[0])]))
    wall, main_process, workers = time.perf_counter(), time.process_time(), peers.children_seconds()
    for _ in nlp.pipe(docs, n_process=n_process):
        pass
    for process in multiprocessing.active_children():
        process.join()
    return time.perf_counter() - wall, time.process_time() - main_process, peers.children_seconds() - workers


def _doc(nlp: spacy.Language, gold: Tree) -> Doc:
    return tagged_doc(nlp.vocab, TaggedSentence.of(gold))


def peer_seconds(command: str, golds: Sequence[Tree], jobs: int) -> tuple[float, float, float]:
    """The same of a peer's command, start-up included."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words")
        words.write_text("".join(" ".join(gold.words) + "\n" for gold in golds), encoding="utf-8")
        wall = time.perf_counter()
        spent = peers.run(command, words=words, output=Path(folder, "output"), jobs=jobs)
        return time.perf_counter() - wall, 0.0, spent
