"""The HTTP server of `spacy-lpcfg corenlp`, for clients of CoreNLP."""

from __future__ import annotations

import ast
import json
from email.message import Message
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.serve.corenlp import MAX_CHARACTERS, CoreNLP
from spacy_lpcfg.components.serve.local_server import HOST, BodyError, LocalHandler, LocalServer

_MAX_BYTES = 4 * MAX_CHARACTERS  # of a text in UTF-8
_FORM = "application/x-www-form-urlencoded"
_CHARSETS = ("utf-8", "utf8", "utf-16", "latin-1", "iso-8859-1", "ascii", "us-ascii")  # others may take long to decode
_SIGNS = {"/live": "live\n", "/ready": "ready\n", "/ping": "pong\n"}
_WELCOME = (
    "This is spacy-lpcfg, which answers some requests as CoreNLP does: POST a text to / for sentences, tokens, tags "
    "and trees, or to /tregex?pattern=... for matches.\n"
)
_PLAIN, _JSON = "text/plain; charset=utf-8", "application/json; charset=utf-8"


class CoreNLPServer(LocalServer):
    """HTTP server that speaks CoreNLP's protocol, with the limits of `LocalServer`.

    port (int): The port to listen at; 0 for any free port.
    answers (CoreNLP): The adapter of the pipeline, which computes the answers.
    host (str): The address to listen at; the default is the loopback address.
    RAISES (OSError): If the port is taken, or the address does not belong to this machine.
    """

    def __init__(self, port: int, answers: CoreNLP, host: str = HOST) -> None:
        self.answers = answers
        super().__init__(port, _Handler, host)


class _Handler(LocalHandler):
    """Handler of CoreNLP requests: the text is in the body, properties and pattern are in the query string."""

    server: CoreNLPServer

    @property
    def fixed_headers(self) -> dict[str, str]:
        return {"Content-Type": _PLAIN, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if not self._is_own():
            self._refuse()
        elif path == "/":
            self._send(HTTPStatus.OK, _WELCOME)
        elif path in _SIGNS:
            self._send(HTTPStatus.OK, _SIGNS[path])
        else:
            self._send(HTTPStatus.NOT_FOUND, f"There is no {path:.100} here. {_WELCOME}")

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        if not self._is_own():
            self._refuse()
        elif path not in ("/", "/tregex"):
            self._send(HTTPStatus.NOT_FOUND, f"There is no {path:.100} here. {_WELCOME}")
        else:
            self._post(path, dict(parse_qsl(query, errors="replace")))

    def _post(self, path: str, query: dict[str, str]) -> None:
        try:
            body = self.read_body(_MAX_BYTES)
        except BodyError as error:
            self._send(error.status, f"{error}\n")
            return
        status, content = self.answer_if_free(partial(self._answer, path, query, body), "{}\n".format)
        is_json = isinstance(content, dict)
        text = json.dumps(content, ensure_ascii=False, indent=2) if is_json else str(content)
        self._send(status, text, **{"Content-Type": _JSON if is_json else _PLAIN})

    def _refuse(self) -> None:
        self._send(HTTPStatus.FORBIDDEN, f"This server answers programs of this machine, at {self.server.url}.\n")

    def _answer(self, path: str, query: dict[str, str], body: bytes) -> str | dict[str, Any]:
        text, properties = _text(body, self.headers), _properties(query)
        if path == "/":
            return self.server.answers.annotate(text, properties)
        return self.server.answers.tregex(text, query.get("pattern", ""), properties, self.has_left)


def _text(body: bytes, headers: Message) -> str:
    """Decode the body of a request with the character set of its Content-Type, by default UTF-8.

    Percent-encoding is decoded if the media type is a form and the body has no white space: some clients declare a
    form, but send plain text.

    RAISES (ValueError): If the character set is not in `_CHARSETS`, or the body is not valid in it.
    """
    media_type, charset = _content_type(headers.get("Content-Type", ""))
    if charset not in _CHARSETS:
        raise ValueError(f"Expected a text in the character set {', '.join(_CHARSETS)}; got {shown(charset)}.")
    try:
        text = body.decode(charset)
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected a text in the character set of its Content-Type, or in UTF-8: {error}.") from error
    is_encoded = media_type == _FORM and not any(map(str.isspace, text))
    return unquote_plus(text, errors="replace") if is_encoded else text


def _content_type(header: str) -> tuple[str, str]:
    """Return the media type and the character set of a Content-Type; in linear time, unlike `email.message`."""
    media_type, *parameters = (part.strip() for part in header.lower().split(";"))
    values = {name: value.strip('"') for name, _, value in (parameter.partition("=") for parameter in parameters)}
    return media_type, values.get("charset", "utf-8")


def _properties(query: dict[str, str]) -> dict[str, Any]:
    """Return CoreNLP's properties: the fields of the query, overridden by the JSON object in its field `properties`.

    RAISES (ValueError): If `properties` is neither a JSON object nor the repr of a Python dict, which one client sends.
    """
    text = query.get("properties", "{}")
    try:
        properties = json.loads(text)
    except (ValueError, RecursionError):
        try:
            properties = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            properties = None
    if not isinstance(properties, dict):
        raise ValueError('Expected properties as a JSON object, such as {"annotators": "tokenize,ssplit,pos,parse"}.')
    return {**{name: value for name, value in query.items() if name != "properties"}, **properties}
