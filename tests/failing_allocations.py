"""Run kernels of which one C++ allocation after the other fails, in a process whose `operator new` can be told to.

Run as a script it prints a line for each kernel: its name, how many allocations failed, and how often by MemoryError.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

COMPILER = shutil.which("c++") if sys.platform == "linux" else None
MOST = 40
FAILING_NEW = """
#include <cstdlib>
#include <new>
static long left = -1, n_done = 0;
extern "C" void fail_after(long n) { left = n, n_done = 0; }
extern "C" long n_allocations() { return n_done; }
void *operator new(size_t n) {
    ++n_done;
    void *memory = left-- == 0 ? nullptr : malloc(n ? n : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
"""


def run() -> dict[str, tuple[int, int]]:
    """Return the numbers of failed allocations and of MemoryErrors by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / "failing_new.so")
        command = [str(COMPILER), "-x", "c++", "-shared", "-fPIC", "-o", library, "-"]
        subprocess.run(command, input=FAILING_NEW, text=True, check=True)
        environment = os.environ | {"LD_PRELOAD": library, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=environment)
    if done.returncode or done.stderr:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (int(n), int(n_errors)) for name, n, n_errors in rows}


def kernels() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls that allocate in each kernel, by name."""
    import numpy as np
    from networks import TREES, tiny

    from spacy_lpcfg.bracketing._latent_tree import minimal_by_table
    from spacy_lpcfg.bracketing._spans import SpanScores, best_trees
    from spacy_lpcfg.bracketing.paper.brown import Brown
    from spacy_lpcfg.bracketing.sentences import Chunk
    from spacy_lpcfg.chart import Parser
    from spacy_lpcfg.isbn.learning import ISBNLearner
    from spacy_lpcfg.isbn.parser import IncrementalParser
    from spacy_lpcfg.learning import TreebankPCFG

    grammar = TreebankPCFG().fit(TREES)
    parser, words = Parser(grammar), ["b", "a", "c", "d"]
    yield "chart", lambda: Parser(grammar).parse(words)
    yield "n best", lambda: parser.distribution(words).n_best(3)
    yield "samples", lambda: parser.distribution(words).samples(2)
    yield "surprisal", lambda: parser.surprisal(words)
    for approximation in ("feed-forward", "mean-field-step", "mean-field"):
        beam = IncrementalParser(tiny(approximation))
        yield f"beam, {approximation}", lambda beam=beam: beam.parse(words[:2])
        yield f"prefix, {approximation}", lambda beam=beam: beam.start().push("b").push("a").finish()
        learner = ISBNLearner(n_states=3, n_epochs=1, approximation=approximation)
        yield f"network, {approximation}", lambda learner=learner: learner.fit(TREES)
    lengths, symbols, segments = np.array([4], np.int32), bytes(4), np.zeros(4, np.int32)
    yield "best trees", lambda: best_trees(lengths, np.ones(6), np.zeros(1, np.int32))
    flags = np.zeros(256, np.uint8)
    yield (
        "spans",
        lambda: SpanScores(np.ones(1, np.int64), np.ones(1, np.float32), 0, 0, flags).decode(symbols, segments, 2),
    )
    table = np.ones((1, 1, 3))
    yield "latent tree", lambda: minimal_by_table(segments, segments, table, 1.0, 2)
    chunk = Chunk(words * 4, np.zeros(16, np.int8), np.array([0, 8, 16]))
    yield "Brown clusters", lambda: Brown(n_clusters=2).fit(lambda: [chunk])


def count_errors(call: Callable[[], Any], allocations: Any) -> tuple[int, int]:
    """Let up to `MOST` allocations of a call fail, one in each run; return their number, and that of MemoryErrors."""
    call()
    allocations.fail_after(-1)
    call()
    n, n_errors = allocations.n_allocations(), 0
    places = range(0, n, n // MOST + 1)
    for k in places:
        allocations.fail_after(k)
        try:
            call()
        except MemoryError:
            n_errors += 1
        finally:
            allocations.fail_after(-1)
        call()
    return len(places), n_errors


if __name__ == "__main__":
    library = ctypes.CDLL(None)
    library.n_allocations.restype, library.fail_after.argtypes = ctypes.c_long, [ctypes.c_long]
    for name, call in kernels():
        print(name, *count_errors(call, library), sep="\t", flush=True)
