"""The server of the page of `spacy-lpcfg serve`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import parse_qs

from spacy_lpcfg.components.serve.demo_page import SCRIPT, Form, page
from spacy_lpcfg.components.serve.local_server import LocalHandler, LocalServer

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_SCRIPT_HASH = b64encode(sha256(SCRIPT.encode()).digest()).decode()
_NOT_OWN = "This page answers what is typed into it at {}, and no request from another page or name."


class DemoServer(LocalServer):
    """HTTP server, at 127.0.0.1, of a page on which users parse texts.

    port (int): The port to listen at; 0 for any free port.
    answer (callable): Returns the HTML page. Its arguments are the text (None if the request has no text), and the name
        of the model, only if the request names one. A ValueError is shown on the page. Only one thread at a time calls
        it.
    handler (type or None): The class of the request handlers; None for `DemoHandler`.
    models (sequence of str): The names of the models in the menu.
    RAISES (OSError): If the port is taken.
    """

    def __init__(
        self,
        port: int,
        answer: Callable[..., str],
        handler: type[DemoHandler] | None = None,
        models: Sequence[str] = (),
    ) -> None:
        super().__init__(port, handler or DemoHandler)
        self.answer, self.models = answer, models


class DemoHandler(LocalHandler):
    """Handler of GET requests for the page, with the optional fields `text` and `model` in the query string."""

    @property
    def fixed_headers(self) -> dict[str, str]:
        policy = f"{HEADERS['Content-Security-Policy']}; script-src 'sha256-{_SCRIPT_HASH}'"
        return {**HEADERS, "Content-Security-Policy": policy}

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if not self._is_own():
            self._send(HTTPStatus.FORBIDDEN, page(Form(""), message=_NOT_OWN.format(self.server.url)))
        elif path != "/":
            self._send(HTTPStatus.NOT_FOUND, page(Form(""), message="There is only one page here."))
        else:
            fields = parse_qs(query, keep_blank_values=True, errors="replace")
            text, model = (fields.get(name, [None])[0] for name in ("text", "model"))
            form = Form(text or "", models=self.server.models, model=model or "")
            answer = partial(self.server.answer, text, *([model] if model else []))
            self._send(*self.answer_if_free(answer, lambda error: page(form, message=error)))
