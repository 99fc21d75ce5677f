"""HTTP servers that by default answer only requests from this machine."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from select import select
from socket import MSG_PEEK, socket
from socketserver import TCPServer
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any, TypeVar

Answer = TypeVar("Answer")

HOST = "127.0.0.1"
MOST_TEXTS = 4  # one that is parsed, and those that wait for it
_SECONDS = 10  # that a client may take to send its request, and as many to take the answer
_MOST_CONNECTIONS = 16
_OWN_SITE = {"same-origin", "none"}  # the page's own form, and an address that was typed

logger = logging.getLogger(__name__)


class LocalServer(ThreadingHTTPServer):
    """HTTP server with limits on connections and texts, whose handlers refuse cross-origin requests.

    At most 16 connections are open at a time; further ones wait. A client that takes more than ten seconds to send its
    request, or to take the response, is disconnected. At most four texts are being parsed or wait for the parser;
    further requests get status 503.

    port (int): The port to listen at; 0 for any free port.
    handler (type): The class of the request handlers.
    host (str): The address to listen at. With the default, the loopback address, requests with a foreign `Host` header
        are refused, to prevent DNS rebinding.
    RAISES (OSError): If the port is taken, or the address does not belong to this machine.
    """

    daemon_threads = True

    def __init__(self, port: int, handler: type[LocalHandler], host: str = HOST) -> None:
        super().__init__((host, port), handler)
        self.lock = Lock()
        self.texts = BoundedSemaphore(MOST_TEXTS)
        self._connections = BoundedSemaphore(_MOST_CONNECTIONS)

    def server_bind(self) -> None:
        """Bind the socket as HTTPServer does, but without a name server look-up of the host name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    @property
    def url(self) -> str:
        return f"http://{self.server_name}:{self.server_port}/"

    @property
    def is_local(self) -> bool:
        """Whether the server listens at the loopback address, so that only this machine can connect."""
        return self.server_name == HOST

    @property
    def hosts(self) -> set[str]:
        """Accepted values of the header Host if the server is local; browsers omit the port if it is 80."""
        names = {HOST, "localhost"}
        return {f"{name}:{self.server_port}" for name in names} | (names if self.server_port == 80 else set())

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection in a new thread; first wait while `_MOST_CONNECTIONS` are open."""
        self._connections.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._connections.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log the exception of a connection with its traceback, except for OSErrors, as when a client disconnects."""
        if not isinstance(sys.exc_info()[1], OSError):
            logger.exception("no answer to %s", client_address)


class BodyError(ValueError):
    """Raised if the body of a request cannot be read.

    status (HTTPStatus): The status code of the response.
    message (str): The message of the exception.
    """

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _InTime(RawIOBase):
    """Raw input stream of a socket with a deadline for all reads together, after which they raise TimeoutError."""

    def __init__(self, connection: socket, seconds: float) -> None:
        self._connection = connection
        self._end = monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class LocalHandler(BaseHTTPRequestHandler):
    """Base class of request handlers, with deadlines, limited bodies and detection of cross-site requests."""

    server: Any

    @property
    def fixed_headers(self) -> dict[str, str]:
        raise NotImplementedError

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = BufferedReader(_InTime(self.connection, _SECONDS))

    def _is_own(self) -> bool:
        """Return whether a request is same-origin by its headers: neither from another site nor for another host name.

        Browsers send the origin of a request in `Sec-Fetch-Site`; older browsers do so for some requests in `Origin`. A
        request without these two headers, as from a program, counts as same-origin.
        """
        hosts = self.server.hosts if self.server.is_local else {*self.headers.get_all("Host", [])}
        accepted = {
            "Host": hosts,
            "Origin": {f"http://{host}" for host in hosts},
            "Sec-Fetch-Site": _OWN_SITE,
        }
        told = {name: self.headers.get_all(name, []) for name in accepted}
        return bool(told["Host"]) and all(accepted[name].issuperset(values) for name, values in told.items())

    def read_body(self, most: int) -> bytes:
        """Return the body of the request.

        most (int): The maximum length, in bytes.
        RAISES (BodyError): If Content-Length is missing or larger than `most` (status 413), or the body is shorter than
            Content-Length (status 400).
        """
        length = self.headers.get("Content-Length", "")
        n_digits = len(str(most))  # Python refuses to read numbers of thousands of digits
        if not length.isdecimal() or len(length) > n_digits or int(length) > most:
            message = f"Expected a body of at most {most:,} bytes, and its Content-Length."
            raise BodyError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            message = f"Expected a body of {length} bytes, as Content-Length says, got {len(body)}: send it again."
            raise BodyError(HTTPStatus.BAD_REQUEST, message)
        return body

    def has_left(self) -> bool:
        """Return whether the client has closed the connection, or at least its sending side."""
        is_readable = bool(select([self.connection], [], [], 0)[0])
        return is_readable and not self.connection.recv(1, MSG_PEEK)

    def answer_if_free(
        self, answer: Callable[[], Answer], refuse: Callable[[str], Answer]
    ) -> tuple[HTTPStatus, Answer]:
        """Answer as `answer_in_turn` does, but at once with status 503 if `MOST_TEXTS` requests are in progress.

        Arguments and result are as in `answer_in_turn`.
        """
        if not self.server.texts.acquire(blocking=False):
            message = f"There are {MOST_TEXTS} texts to parse already: try again when they are done."
            return HTTPStatus.SERVICE_UNAVAILABLE, refuse(message)
        try:
            return self.answer_in_turn(answer, refuse)
        finally:
            self.server.texts.release()

    def answer_in_turn(
        self, answer: Callable[[], Answer], refuse: Callable[[str], Answer]
    ) -> tuple[HTTPStatus, Answer]:
        """Compute a response, one request at a time, and return its status and content.

        answer (callable): Returns the content of the response. ValueError and OSError become status 400, any other
            exception status 500.
        refuse (callable): Returns the content of an error response, given the error message.
        RETURNS (HTTPStatus, any): The status, and the result of `answer` or `refuse`.
        """
        try:
            with self.server.lock:
                return HTTPStatus.OK, answer()
        except (ValueError, OSError) as error:
            return HTTPStatus.BAD_REQUEST, refuse(str(error))
        except Exception as error:
            logger.exception("no answer to %.1000r", self.requestline)
            return HTTPStatus.INTERNAL_SERVER_ERROR, refuse(f"Something went wrong: {error!r}")

    def _send(self, status: HTTPStatus, text: str, **headers: str) -> None:
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in {**self.fixed_headers, **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.connection.settimeout(_SECONDS)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Suppress the access log of the base class; errors are shown on the page and logged elsewhere."""
