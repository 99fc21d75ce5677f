"""Calls in processes of this machine, any of which may die: what it had to do is done by another.

Differs from `processes.py`, which keeps the order of small batches: (1) a process has one call at a time, so that it is
known which call a death has ended; (2) Ctrl-C ends all processes at once, within a call too.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from multiprocessing import Pipe, Process, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from spacy_lpcfg.components.cli.shared.processes import interrupts_held_back

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_DEATHS = 3  # at one call, after which it is not tried again


class _Worker:
    """A process that makes one call after the other."""

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self.connection, theirs = Pipe()
        self.process = Process(target=_serve, args=(function, theirs), daemon=True)
        with interrupts_held_back():
            self.process.start()
        theirs.close()

    def begin(self, item: object) -> None:
        with suppress(OSError):  # if it is dead, `end` will find out
            self.connection.send(item)

    def end(self) -> tuple[bool, Any]:
        """Wait for the call to end: return whether the process lived so long, and the result."""
        try:
            return True, self.connection.recv()
        except (EOFError, OSError):
            return False, None

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


def _serve(function: Callable[[Item], Result], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that unfinished files are removed
    main = parent_process()
    assert main is not None
    while main.sentinel not in wait([connection, main.sentinel]):  # which is there when the main process has gone
        connection.send(function(connection.recv()))


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], n_process: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Yield the result of a function for each item, as it is done.

    function (callable): Sent to each process once; it raises nothing.
    n_process (int): The number of processes; 1 is this process.
    YIELDS (tuple): The item, and what it gives; None for one at which `MOST_DEATHS` processes have died.
    """
    if n_process == 1:
        yield from ((item, function(item)) for item in items)
        return
    waiting, idle, deaths = deque(items), list[_Worker](), Counter[Item]()
    working: dict[Any, tuple[_Worker, Item]] = {}
    try:
        while waiting or working:
            while waiting and len(working) < n_process:
                worker = idle.pop() if idle else _Worker(function)
                working[worker.connection] = worker, (item := waiting.popleft())
                worker.begin(item)
            for connection in wait(list(working)):
                worker, item = working.pop(connection)
                is_alive, result = worker.end()
                if is_alive:
                    idle.append(worker)
                    yield item, result
                    continue
                worker.stop()
                deaths[item] += 1
                if deaths[item] < MOST_DEATHS:
                    waiting.append(item)
                else:
                    yield item, None
    finally:
        for worker in [*idle, *(worker for worker, _ in working.values())]:
            worker.stop()
