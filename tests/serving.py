"""Local servers, which tests ask over real requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from threading import Thread
from typing import TypeVar

AnyServer = TypeVar("AnyServer", bound=BaseServer)


@contextmanager
def serving(server: AnyServer) -> Iterator[AnyServer]:
    """Let a server answer in a thread of its own, until the block ends."""
    with server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
