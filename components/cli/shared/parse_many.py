"""Parsing of many files into a folder, which can be resumed, and goes on if a file or a worker fails."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.components.cli.shared.console import log, progress
from spacy_lpcfg.components.cli.shared.failures import error_of_file
from spacy_lpcfg.components.cli.shared.shards import Shard
from spacy_lpcfg.storage.files import clear_unfinished

_DIED = "several workers died at it, perhaps for want of memory: cut it into smaller files"


@dataclass(frozen=True)
class Made:
    """The result of parsing one file.

    status (Counter): The number of sentences with each status, such as "parsed".
    error (str or None): The error message if the file could not be parsed; otherwise None.
    """

    status: Counter[str] = field(default_factory=Counter)
    error: str | None = None


Work: TypeAlias = Callable[[Shard], Made]


def parse_many(
    work: Work, shards: Sequence[Shard], *, n_process: int, scheduler: str | None, force: bool
) -> Counter[str]:
    """Parse the files whose output does not exist yet, and count their sentences by status.

    work (callable): A picklable function that parses a shard and writes its output.
    shards (sequence of Shard): The input files with their output files.
    n_process (int): The number of processes on this machine; unused with a scheduler.
    scheduler (str or None): The address of a Dask scheduler; None to parse on this machine.
    force (bool): Whether to parse files whose output exists, too.
    RAISES (ValueError): If files could not be parsed; raised after all other files are parsed.
    """
    left = [shard for shard in shards if force or not os.path.exists(shard.output)]
    if len(left) < len(shards):
        log(f"{len(shards) - len(left)} of {len(shards)} files are there already; --force makes them again")
    status: Counter[str] = Counter()
    errors: dict[str, str] = {}
    with _cleared(left), _working(work, left, n_process, scheduler) as results:
        for folder in {os.path.dirname(shard.output) for shard in left}:
            os.makedirs(folder, exist_ok=True)
        for shard, made in progress(results, "files", total=len(left)):
            made = made or Made(error=_DIED)
            status += made.status
            if made.error:
                errors[shard.file] = made.error
    _tell_errors(errors, len(shards))
    return status


@contextmanager
def _working(
    work: Work, shards: Sequence[Shard], n_process: int, scheduler: str | None
) -> Iterator[Iterable[tuple[Shard, Made | None]]]:
    """Yield an iterable of (shard, result) in order of completion, from this process, a process pool or a cluster.

    The result is None if the worker process died.
    """
    from spacy_lpcfg.parallel import as_completed

    if scheduler is None and n_process == 1:
        yield ((shard, work(shard)) for shard in shards)
        return
    with (
        on_cluster(scheduler, sent=[work]),
        closing(as_completed(work, shards, None if scheduler else n_process)) as results,
    ):
        yield results


@contextmanager
def _cleared(shards: Sequence[Shard]) -> Iterator[None]:
    """Remove the temporary files of killed workers at the end of the block."""
    try:
        yield
    finally:
        for shard in shards:
            clear_unfinished(shard.output)


def _tell_errors(errors: dict[str, str], n_files: int) -> None:
    for file, error in sorted(errors.items()):
        log(error_of_file(file, error))
    if errors:
        raise ValueError(f"{len(errors)} of {counted(n_files, 'file')} could not be parsed; the others are")
