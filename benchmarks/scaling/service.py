"""What a service costs: sentences in a CPU second through HTTP, and the memory of its processes.

    python -m benchmarks.scaling.service MODEL TEXT --workers 2

Starts `spacy-lpcfg serve --corenlp`, sends it the lines of TEXT, some in each request, one request for each worker at a
time, and reads from /proc (Linux) what its processes took: CPU time, and memory, of which shared pages count in part
for each process that has them (PSS). The CPU time of this client is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

PROPERTIES = quote(json.dumps({"annotators": "parse", "ssplit.eolonly": "true"}))
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lines", type=int, default=10, help="of text in a request")
    parser.add_argument("--sentences", type=int, default=1000, help="of TEXT")
    arguments = parser.parse_args()
    lines = list(islice(filter(str.strip, arguments.text.open(encoding="utf-8")), arguments.sentences))
    requests = ["".join(lines[i : i + arguments.lines]) for i in range(0, len(lines), arguments.lines)]
    command = [sys.executable, "-m", "spacy", "lpcfg", "serve", arguments.model, "--corenlp", "--port", "0"]
    command += ["--workers", str(arguments.workers)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        lines_told = iter(process.stderr.readline, "")
        url = next(match[0] for line in lines_told if (match := re.search(r"http://\S+/", line)))
        with ThreadPoolExecutor(arguments.workers) as pool:
            before = sum(map(cpu_seconds, family(process.pid)))
            n_sentences = sum(pool.map(lambda text: ask(url, text), requests))
        processes = family(process.pid)
        seconds = sum(map(cpu_seconds, processes)) - before
        memory = ", ".join(f"{megabytes(pid):.0f}" for pid in processes)
        process.terminate()
    print(f"{n_sentences} sentences, {seconds:.1f} CPU s: {n_sentences / seconds:.0f} a CPU second; {memory} MB")


def ask(url: str, text: str) -> int:
    """Return the number of sentences of an answer."""
    with urlopen(Request(f"{url}?properties={PROPERTIES}", text.encode())) as answer:
        return len(json.load(answer)["sentences"])


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
    return [pid, *map(int, children.split())]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(pid: int) -> float:
    """The memory of a process, shared pages in part."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    return int(re.search(r"^Pss: +(\d+)", rollup, re.MULTILINE)[1]) / 1000


if __name__ == "__main__":
    main()
