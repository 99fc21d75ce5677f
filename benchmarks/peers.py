"""Run the commands of other parsers, in which names in braces stand for files. Not a benchmark."""

from __future__ import annotations

import resource
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from spacy_lpcfg.evaluation.evalb import SentenceTrees, read_evalb
from spacy_lpcfg.trees import Tree, clean

Output = TypeVar("Output")


def run(command: str, **values: object) -> float:
    """Run a command, without a shell; return the CPU seconds of its processes.

    command (str): In which {name} stands for the value of that name.
    RAISES (subprocess.CalledProcessError): If it failed.
    """
    before = _children_seconds()
    arguments = [part.format(**values) for part in shlex.split(command)]
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    return _children_seconds() - before


def output_of(command: str, golds: Sequence[Tree], read: Callable[[Path], Output]) -> tuple[Output, float]:
    """Parse the words of gold trees by a command; return its output, and the CPU seconds of its processes.

    command (str): In which {words} stands for the file of sentences, one a line, words between spaces, and {output} for
        the file that it writes.
    read (callable): From the path of that file to what is returned of it.
    """
    with tempfile.TemporaryDirectory() as folder:
        words, output = Path(folder, "words"), Path(folder, "output")
        words.write_text("".join(" ".join(gold.words) + "\n" for gold in golds), encoding="utf-8")
        seconds = run(command, words=words, output=output)
        return read(output), seconds


def trees_of(path: Path) -> list[SentenceTrees]:
    """Read the trees that a parser has written, a line each; an empty list stands for a sentence without a tree."""
    return [[clean(tree) or tree for tree in line] for line in read_evalb(path)]


def children_mb() -> float:
    """Return the most memory that a process which this one started and saw end ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1.024e-3


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
