"""`spacy-lpcfg corenlp --workers`: the real command, asked over real requests."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from select import select
from urllib.request import Request, urlopen

import pytest
from pipelines import pipeline_of

from spacy_lpcfg.components.serve.local_server import LocalHandler, LocalServer
from spacy_lpcfg.components.serve.server_processes import interrupted_by_sigterm, serve_in_processes

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]


@pytest.fixture
def server(tmp_path):
    """A command that serves in two processes, and its address."""
    pipeline_of("lpcfg_parser").to_disk(tmp_path / "model")
    command = [sys.executable, "-m", "spacy", "lpcfg", "corenlp", str(tmp_path / "model")]
    options = ["--workers", "2", "--port", "0", "--host", "127.0.0.2"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, encoding="utf-8") as process:
        lines = iter(process.stderr.readline, "")
        url = next(found[0] for line in lines if (found := re.search(r"http://\S+/", line)))
        yield process, url
        process.kill()


def ask(url: str, **headers: str) -> bytes:
    with urlopen(Request(f"{url}?properties=%7B%7D", b"Rain fell.", headers), timeout=120) as answer:
        return answer.read()


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, encoding="utf-8")
    return [int(line) for line in listed.stdout.split()]


def test_server_processes_answer_together_and_are_replaced(server):
    process, url = server
    with ThreadPoolExecutor(4) as pool:
        answers = {*pool.map(ask, [url] * 12)}
    assert len(answers) == 1
    assert b'"parse"' in answers.pop()
    assert b'"parse"' in ask(url, Host="parser.example:9000")  # others may ask, by any name
    workers = children(process.pid)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    line = next(line for line in iter(process.stderr.readline, "") if "ended with status" in line)
    assert "another one takes its place" in line
    assert b'"parse"' in ask(url)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert [pid for pid in workers if os.path.exists(f"/proc/{pid}")] == []


def test_server_processes_that_end_at_once_begin_again_in_a_second(monkeypatch):
    waited = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("spacy_lpcfg.components.serve.server_processes.sleep", wait)
    with LocalServer(0, LocalHandler) as server:
        monkeypatch.setattr(server, "serve_forever", lambda: os._exit(3))
        with pytest.raises(KeyboardInterrupt):
            serve_in_processes(server, 2)
    assert waited == [1.0] * 3


def test_server_processes_hear_a_signal_within_a_fork(monkeypatch):
    """What is raised in functions that a fork calls is dropped."""
    signals = iter([signal.SIGTERM])
    os.register_at_fork(after_in_parent=lambda: [*map(signal.raise_signal, signals)])
    monkeypatch.setattr("spacy_lpcfg.components.serve.server_processes.sleep", lambda seconds: pytest.fail("not heard"))
    monkeypatch.setattr(LocalServer, "serve_forever", lambda server: os._exit(3))
    with LocalServer(0, LocalHandler) as server, interrupted_by_sigterm(), pytest.raises(KeyboardInterrupt):
        serve_in_processes(server, 2)


def test_server_processes_end_with_their_parent():
    """The parent is killed, so that it can end no worker: the pipe closes when nobody is left who can write to it."""
    reader, writer = os.pipe()
    with LocalServer(0, LocalHandler) as server:
        parent = os.fork()
        if parent == 0:
            try:
                os.setsid()
                os.close(reader)
                server.serve_forever = lambda: (os.write(writer, b"."), signal.pause())
                serve_in_processes(server, 2)
            finally:
                os._exit(1)
        os.close(writer)
        begun = os.read(reader, 1) + os.read(reader, 1)
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        is_closed = bool(select([reader], [], [], 60)[0]) and os.read(reader, 1) == b""
        os.close(reader)
        with suppress(ProcessLookupError):
            os.killpg(parent, signal.SIGKILL)  # workers that did not end
    assert begun == b".."
    assert is_closed
