"""A page on this machine alone: the server of `spacy-lpcfg serve`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from spacy_lpcfg.components.demo_page import page

HOST = "127.0.0.1"
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_SECONDS = 10  # that a browser may take to send its request

logger = logging.getLogger(__name__)


class DemoServer(ThreadingHTTPServer):
    """Answers on 127.0.0.1 until `shutdown`.

    port (int): 0 for any that is free; `server_address` tells which
    answer (callable): the page of a text; raises ValueError with what is wrong with it. Called by one thread at a time.

    Raises OSError if the port is taken.
    """

    daemon_threads = True

    def __init__(self, port: int, answer: Callable[[str], str]) -> None:
        super().__init__((HOST, port), _Handler)
        self.answer = answer
        self.lock = Lock()

    def server_bind(self) -> None:
        """As an HTTPServer does it, but without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    """A request for the page; its text is the field `text` of the query."""

    server: DemoServer
    timeout = _SECONDS

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if self.headers.get("Host") not in self._hosts():  # a name that another page made to point here
            self._send(HTTPStatus.FORBIDDEN, page("", message=f"This page is at {self.server.url} alone."))
        elif parts.path != "/":
            self._send(HTTPStatus.NOT_FOUND, page("", message="There is only one page here."))
        else:
            text = parse_qs(parts.query, errors="replace").get("text", [""])[0]
            self._send(*self._answer(text))

    def _hosts(self) -> set[str]:
        return {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}

    def _answer(self, text: str) -> tuple[HTTPStatus, str]:
        try:
            with self.server.lock:
                return HTTPStatus.OK, self.server.answer(text)
        except ValueError as error:
            return HTTPStatus.BAD_REQUEST, page("", message=str(error))
        except Exception as error:
            logger.exception("no page of %r", text)
            return HTTPStatus.INTERNAL_SERVER_ERROR, page(text, message=f"Something went wrong: {error!r}")

    def _send(self, status: HTTPStatus, html: str) -> None:
        body = html.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in (*_HEADERS.items(), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are no news; what goes wrong is on the page and in the log."""
