"""Kernels that find no more memory raise MemoryError, and do not end the process."""

import subprocess
import sys

import pytest

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
