"""A server in several processes, which share its port and the memory of its model."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic, sleep

from spacy_lpcfg.components.serve.local_server import LocalServer, logger

_SECONDS = 1.0  # a worker that ends sooner may end again: another one begins as long after it


def serve_in_processes(server: LocalServer, n_workers: int) -> None:
    """Serve requests in forked worker processes, until this process is interrupted.

    server (LocalServer): The server, with its models loaded: workers share only the memory that exists at the fork.
    n_workers (int): The number of workers; a worker that ends is replaced.
    RAISES (ValueError): If the operating system cannot fork processes.
    """
    if not hasattr(os, "fork"):
        raise ValueError("This system cannot fork processes: use one worker, and start several servers.")
    gc.collect()
    gc.freeze()  # the garbage collector writes to all objects, whose memory would then be copied
    server.socket.setblocking(False)  # several wait for a connection, and one gets it
    started: dict[int, float] = {}
    lifeline = os.pipe()
    try:
        while True:
            while len(started) < n_workers:
                with _signals_later():
                    started[_fork(server, lifeline)] = monotonic()
            pid, status = os.wait()
            begun = started.pop(pid)
            logger.error("a worker ended with status %s, another one takes its place", status)
            if monotonic() - begun < _SECONDS:
                sleep(_SECONDS)
    finally:
        os.close(lifeline[1])  # at which workers end
        for pid in started:
            with suppress(ChildProcessError):  # whose end was told just before this was interrupted
                os.waitpid(pid, 0)
        os.close(lifeline[0])


@contextmanager
def _signals_later() -> Iterator[None]:
    """Delay SIGINT and SIGTERM to the end of the block: Python drops exceptions raised in callbacks of a fork."""
    waiting: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: waiting.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for heard in waiting:
        signal.raise_signal(heard)


def _fork(server: LocalServer, lifeline: tuple[int, int]) -> int:
    """Fork a worker that serves requests, and return its process id.

    lifeline (int, int): The read and the write end of a pipe. Only the parent keeps the write end open, so that workers
        notice at the read end when the parent ends, and end, too.
    """
    pid = os.fork()
    if pid == 0:
        try:
            os.close(lifeline[1])
            Thread(target=_end_with_parent, args=(lifeline[0],), daemon=True).start()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a terminal sends to all processes
            server.serve_forever()
        finally:
            os._exit(1)
    return pid


def _end_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)  # returns when the parent ends, however it does
    os._exit(1)


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block on SIGTERM, the signal with which containers are stopped."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
