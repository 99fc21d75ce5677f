"""The server of the page of `spacy-lpcfg serve`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qs

from spacy_lpcfg.components.serve.demo_page import page
from spacy_lpcfg.components.serve.local_server import LocalHandler, LocalServer

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_NOT_OWN = "This page answers what is typed into it at {}, and no request from another page or name."


class DemoServer(LocalServer):
    """A server of a page for a text, on 127.0.0.1.

    port (int): The port; 0 for any that is free.
    answer (callable): Returns the page of a text, or raises ValueError with a message; one thread at a time calls it.
    handler (type or None): The handler of requests; None for `DemoHandler`.
    RAISES (OSError): If the port is taken.
    """

    def __init__(self, port: int, answer: Callable[[str], str], handler: type[DemoHandler] | None = None) -> None:
        super().__init__(port, handler or DemoHandler)
        self.answer = answer


class DemoHandler(LocalHandler):
    """A handler of requests for the page; the text is the field `text` of the query."""

    @property
    def fixed_headers(self) -> dict[str, str]:
        return HEADERS

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if not self._is_own():
            self._send(HTTPStatus.FORBIDDEN, page("", message=_NOT_OWN.format(self.server.url)))
        elif path != "/":
            self._send(HTTPStatus.NOT_FOUND, page("", message="There is only one page here."))
        else:
            text = parse_qs(query, errors="replace").get("text", [""])[0]
            self._send(*self.answer_if_free(partial(self.server.answer, text), lambda error: page(text, message=error)))
