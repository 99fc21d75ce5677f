"""Kernels that find no more memory raise MemoryError, and do not end the process."""

import re
import subprocess
import sys
from pathlib import Path

import failing_allocations
import pytest

import spacy_lpcfg

PACKAGE = Path(spacy_lpcfg.__file__).parent
KERNELS = sorted(PACKAGE.rglob("*.pyx"))
EIGHT_MEGABYTES = """
import resource
from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import parse_trees

trees = parse_trees("(S (S (A a)) (S (S (A a)) (S (A a)))) (S (S (S (A a)) (S (A a))) (S (A a)))")
parser = Parser(TreebankPCFG().fit(trees), settings=EXHAUSTIVE)
parser.parse(["a"] * 3)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**23, -1))
try:
    parser.parse(["a"] * 220)  # whose chart takes 42 megabytes
except MemoryError as error:
    print("MemoryError", error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print(parser.parse(["a"] * 3).tree)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux has it")
def test_chart_without_memory_is_an_error():
    """And the parser can be used afterwards."""
    done = subprocess.run([sys.executable, "-c", EIGHT_MEGABYTES], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    error, tree = done.stdout.splitlines()
    assert error == "MemoryError std::bad_alloc"
    assert tree.startswith("(S ")


@pytest.mark.skipif(failing_allocations.COMPILER is None, reason="needs Linux and a C++ compiler")
def test_any_allocation_may_fail():
    """And each kernel can be used afterwards."""
    counts = failing_allocations.run()
    assert len(counts) == 17
    assert counts == {name: (n, n) for name, (n, _) in counts.items()}


@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.stem)
def test_no_error_is_swallowed(source):
    """Cython writes off the error of a `noexcept` function that allocates, or that calls one which may raise."""
    built = [path for path in source.parent.glob(f"{source.stem}.*") if path.suffix in (".so", ".pyd")]
    assert built
    assert all(b"PyErr_WriteUnraisable" not in path.read_bytes() for path in built)


@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.stem)
def test_all_allocations_are_declared_to_raise(source):
    """As `assign` of a number of elements is not: `fill` of `vectors.pxd` takes its place."""
    assert not re.findall(r"\w+\.assign\((?!.*\.begin\(\)|&)", source.read_text("utf-8"))
