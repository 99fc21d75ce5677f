"""Servers of commands: they listen at a port, print their address, and end on Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from spacy_lpcfg.components.cli.shared.console import log

if TYPE_CHECKING:
    from spacy_lpcfg.components.serve.local_server import LocalServer

Server = TypeVar("Server", bound="LocalServer")


def listening(port: int, make: Callable[[], Server]) -> Server:
    """Return the server that `make` creates; if its port is taken, raise an error that names the port.

    port (int): The port, for the error only.
    RAISES (ValueError): If `make` raises OSError.
    """
    try:
        return make()
    except OSError as error:
        raise ValueError(f"port {port} is not free ({error}): choose another by --port, or 0 for any") from error


def serve_until_interrupted(server: LocalServer, what: str, n_workers: int = 1) -> None:
    """Log the URL of a server, and serve requests until Ctrl-C or SIGTERM; then close the server.

    what (str): The beginning of the message, such as "The page is"; "at" and the URL follow.
    n_workers (int): The number of worker processes; 1 serves in this process.
    """
    from spacy_lpcfg.components.serve.server_processes import interrupted_by_sigterm, serve_in_processes

    with server, interrupted_by_sigterm():
        log(f"{what} at {server.url} - Ctrl-C ends it")
        try:
            if n_workers > 1:
                serve_in_processes(server, n_workers)
            else:
                server.serve_forever()
        except KeyboardInterrupt:
            log("ended")
