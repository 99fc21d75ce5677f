"""Local servers, which tests ask over real requests and show in a browser."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from socketserver import BaseServer
from threading import Thread
from typing import TypeVar

import pytest

AnyServer = TypeVar("AnyServer", bound=BaseServer)
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser")
_QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_ALONE = ["--disable-component-update", "--disable-sync"]


@contextmanager
def serving(server: AnyServer) -> Iterator[AnyServer]:
    """Let a server answer in a thread of its own, until the block ends."""
    with server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: BaseServer, method: str, path: str, body: bytes | None = None, **headers: str):
    """Send a request to a server of this machine; return the status, the text and the headers of the response."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = response.status, response.read().decode(), dict(response.getheaders())
    connection.close()
    return answer


def interrupted_after(monkeypatch, server_class: type[BaseServer], request: Callable[[BaseServer], object]) -> list:
    """Interrupt servers of a class, once they begin to serve, after a request; return the answers to come."""
    answers: list[object] = []

    def serve(server: BaseServer) -> None:
        thread = Thread(target=server.handle_request)
        thread.start()
        answers.append(request(server))
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(server_class, "serve_forever", serve)
    return answers


def browse(url: str, folder: Path, *options: str) -> str:
    """Open a page in a browser without a window; return what it prints. Skip the test where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser is here: none of {', '.join(BROWSERS)} is on the PATH")
    command = [browser, *_QUIET, *_ALONE, f"--user-data-dir={folder / 'profile'}", *options, url]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=300).stdout
