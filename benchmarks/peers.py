"""Command lines of other parsers, with names in braces that stand for files and numbers. Not a benchmark."""

from __future__ import annotations

import argparse
import resource
import shlex
import subprocess


def parse_args(arguments: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments of a benchmark that takes a peer too, with a command to learn by and one to parse by."""
    arguments.add_argument("--peer-train", metavar="COMMAND")
    arguments.add_argument("--peer-parse", metavar="COMMAND")
    args = arguments.parse_args()
    if bool(args.peer_train) != bool(args.peer_parse):
        arguments.error("a peer needs both --peer-train and --peer-parse")
    return args


def run(command: str, **values: object) -> float:
    """Run a command, without a shell; the CPU seconds of its processes.

    command (str): In which {name} stands for the value of that name.
    RAISES (subprocess.CalledProcessError): If it failed.
    """
    before = children_seconds()
    arguments = [part.format(**values) for part in shlex.split(command)]
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    return children_seconds() - before


def children_seconds() -> float:
    """CPU seconds of all processes that this one has started and seen end."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def children_mb() -> float:
    """Most memory that one of these processes ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1.024e-3
