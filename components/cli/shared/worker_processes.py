"""Calls of a function in worker processes: if a process dies, its call is made again in another one.

`processes.py` is for small batches in order. Here (1) a process has one call at a time, so that it is known which call
the process died in; (2) Ctrl-C ends all processes at once, also in the middle of a call.
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

MOST_DEATHS = 3  # of processes in the same call, which is then given up


class _Worker:
    """A process that calls a function for one item at a time.

    connection (Connection): It is ready to read when a call has ended or the process has died.
    """

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self.connection, connection_of_process = Pipe()
        self.process = Process(target=_serve, args=(function, connection_of_process), daemon=True)
        with interrupts_held_back():
            self.process.start()
        connection_of_process.close()

    def begin(self, item: object) -> None:
        with suppress(OSError):  # if the process is dead, `end` will find out
            self.connection.send(item)

    def end(self) -> tuple[bool, Any]:
        """Wait until the call has ended; return whether the process is alive, and the result."""
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
    while main.sentinel not in wait([connection, main.sentinel]):  # the sentinel is ready once the main process is gone
        connection.send(function(connection.recv()))


def in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], n_process: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Yield each item with the result of a function for it, as soon as the result is there.

    function (callable): Sent to each process once; it must not raise.
    n_process (int): The number of processes; 1 for this process.
    YIELDS (tuple): The item and its result; None for an item in whose calls `MOST_DEATHS` processes have died.
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
