"""The HTTP server of `spacy-lpcfg serve --correct`: the page and the requests of its script."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from spacy_lpcfg.components.serve.correction_page import correction_page
from spacy_lpcfg.components.serve.corrections import Corrections
from spacy_lpcfg.components.serve.demo_server import HEADERS, DemoHandler, DemoServer
from spacy_lpcfg.components.serve.local_server import BodyError
from spacy_lpcfg.trees.transforms import ROOT_LABELS
from spacy_lpcfg.trees.tree import Span

_MAX_BYTES = 100_000  # of a request


class CorrectionServer(DemoServer):
    """A server on 127.0.0.1 that only answers its own page, whose requests carry a secret token.

    port (int): 0 for any that is free.
    corrections (Corrections): The trees that are shown, and written to a file.
    RAISES (OSError): If the port is taken.
    """

    def __init__(self, port: int, corrections: Corrections) -> None:
        self.token, self.nonce = secrets.token_urlsafe(), secrets.token_urlsafe()
        self.actions: dict[str, Callable[..., dict[str, Any]]] = {
            "/open": lambda number, *_: corrections.opened(number),
            "/parse": corrections.parsed,
            "/save": corrections.save,
        }
        self.corrections = corrections
        super().__init__(port, self._page, _Handler)

    def server_close(self) -> None:
        super().server_close()
        self.corrections.close()

    def _page(self, text: str | None) -> str:
        of = self.corrections
        labels = [label for label in of.component.labels if label not in ROOT_LABELS]
        return correction_page(labels, len(of.sentences), of.first_open, self.token, self.nonce)


class _Handler(DemoHandler):
    """A handler of requests for the page, and of JSON requests (POST) of its script."""

    server: CorrectionServer

    @property
    def fixed_headers(self) -> dict[str, str]:
        policy = f"{HEADERS['Content-Security-Policy']}; script-src 'nonce-{self.server.nonce}'; connect-src 'self'"
        return {**HEADERS, "Content-Security-Policy": policy}

    def do_POST(self) -> None:
        token = self.headers.get("X-Token", "")
        action = self.server.actions.get(self.path)
        if not self._is_own() or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._send_json(HTTPStatus.FORBIDDEN, _error("This is for the page of this server alone: load it again."))
        elif action is None:
            self._send_json(HTTPStatus.NOT_FOUND, _error("There is nothing here."))
        else:
            self._answer(action)

    def _answer(self, action: Callable[..., dict[str, Any]]) -> None:
        try:
            body = self.read_body(_MAX_BYTES)
        except BodyError as error:
            self._send_json(error.status, _error(str(error)))
        else:
            self._send_json(*self.answer_in_turn(lambda: action(*_decisions(body)), _error))

    def _send_json(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        self._send(status, json.dumps(value), **{"Content-Type": "application/json"})


def _error(message: str) -> dict[str, Any]:
    return {"error": message}


def _decisions(body: bytes) -> tuple[int, list[Span], list[Span]]:
    """Parse a request into the number of a sentence and its required and forbidden brackets.

    RAISES (ValueError): If the request has another form.
    """
    try:
        value = json.loads(body)
        number = value["number"]
        required, forbidden = ([_bracket(*bracket) for bracket in value[name]] for name in ("required", "forbidden"))
        if type(number) is not int:
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("Expected a number of a sentence, and brackets such as [0, 2, 'NP'].") from error
    return number, required, forbidden


def _bracket(start: Any, end: Any, label: Any) -> Span:
    is_label = type(label) is str and label and not any(char.isspace() or char in "()" for char in label)
    if type(start) is not int or type(end) is not int or not is_label or not label.isprintable():
        raise TypeError
    return start, end, label
