"""The HTTP server of `spacy-lpcfg correct`: it serves the page, and answers the requests of its script."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from spacy_lpcfg.components.serve.correction_page import correction_page
from spacy_lpcfg.components.serve.corrections import Corrections
from spacy_lpcfg.components.serve.decisions import Decisions
from spacy_lpcfg.components.serve.demo_server import HEADERS, DemoHandler, DemoServer
from spacy_lpcfg.components.serve.local_server import BodyError
from spacy_lpcfg.trees.tree import Span

_MAX_BYTES = 100_000  # of a request
_MOST_SHOWN = 80  # characters of a sentence in the list


class CorrectionServer(DemoServer):
    """HTTP server of the correction page, at 127.0.0.1; POST requests need the secret token of the page.

    Closing the server also closes the file of corrected trees.

    port (int): The port to listen at; 0 for any free port.
    corrections (Corrections): The sentences to correct; it parses them, and saves their trees to a file.
    RAISES (OSError): If the port is taken.
    """

    def __init__(self, port: int, corrections: Corrections) -> None:
        self.token, self.nonce = secrets.token_urlsafe(), secrets.token_urlsafe()
        self.actions: dict[str, Callable[..., dict[str, Any]]] = {
            "/open": lambda number, _: corrections.opened(number),
            "/parse": corrections.keep,
            "/save": corrections.save,
        }
        self.corrections = corrections
        super().__init__(port, self._page, _Handler)

    def server_close(self) -> None:
        super().server_close()
        self.corrections.trees.close()

    def _page(self, *_: object) -> str:
        sentences = [
            {"text": sentence.text[:_MOST_SHOWN], "state": self.corrections.state(i)}
            for i, sentence in enumerate(self.corrections.sentences)
        ]
        shown = {"first": self.corrections.first_open, "file": str(self.corrections.trees.path)}
        settings = {"token": self.token, "sentences": sentences, **shown}
        return correction_page(self.corrections.labels, self.corrections.tags, settings, self.nonce)


class _Handler(DemoHandler):
    """Handler of GET requests for the page, and of the JSON requests (POST) that the page's script sends."""

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


def _decisions(body: bytes) -> tuple[int, Decisions]:
    """Parse the JSON body of a request: return the number of the sentence, and the decisions on its tree.

    RAISES (ValueError): If the body is not valid JSON of this form.
    """
    try:
        value = json.loads(body)
        number = value["number"]
        required, forbidden = (
            tuple(_bracket(*bracket) for bracket in value[name]) for name in ("required", "forbidden")
        )
        tags = {int(i): _label(tag) for i, tag in value["assigned"].items()}
        if type(number) is not int:
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            "Expected a number of a sentence, brackets such as [0, 2, 'NP'], and tags such as {'0': 'NN'}."
        ) from error
    return number, Decisions(required, forbidden, tags)


def _bracket(start: Any, end: Any, label: Any) -> Span:
    if type(start) is not int or type(end) is not int:
        raise TypeError
    return start, end, _label(label)


def _label(label: Any) -> str:
    is_label = type(label) is str and label and not any(char.isspace() or char in "()" for char in label)
    if not is_label or not label.isprintable():
        raise TypeError
    return str(label)
