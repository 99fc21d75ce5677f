"""The page of `spacy-lpcfg serve`: what it shows, over real requests, and as a browser shows it."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
import spacy
from commands import run
from paths import ROOT

from spacy_lpcfg.components.demo_page import MOST_CHARACTERS, DemoPage
from spacy_lpcfg.components.demo_server import DemoServer
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.trees import read_trees

for library in ("svgling", "matplotlib"):
    pytest.importorskip(library, reason=f"{library} is not here: pip install 'spacy-lpcfg[viz]'")

SAMPLE = ROOT / "assets" / "sample"
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser")
FERRY = "The ferry left. It was late."


def pipeline(learner):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    parser = nlp.add_pipe("lpcfg_parser")
    parser.grammar = learner.fit(read_trees(SAMPLE / "train.mrg"))
    return nlp, parser


@pytest.fixture(scope="module")
def demo():
    return DemoPage(*pipeline(TreebankPCFG()), n_best=3)


@contextmanager
def serving(answer):
    with DemoServer(0, answer) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server(demo):
    with serving(demo) as server:
        yield server


def get(server: DemoServer, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, body, dict(response.getheaders())


# The page


def test_demo_page_has_all_of_each_sentence(demo):
    page = demo(FERRY)
    assert [page.count(f"<h2>{text}</h2>") for text in ("The ferry left.", "It was late.")] == [1, 1]
    for part in ("Alternatives", "Posteriors", "Surprisal"):
        assert page.count(f"<summary>{part}</summary>") == 2
    assert "<code>(S (NP (DT The) (NN ferry)) (VP (VBD left)) (. .))</code>" in page
    for shown in ("posterior probability", "surprisal (bits)", 'class="spans"'):
        assert page.count(shown) == 2
    assert 'class="message"' not in page


def test_demo_page_has_no_more_trees_than_it_is_told(demo):
    assert 2 <= demo("The ferry left my sister at the station on the last day.").count("<code>") <= 3


def test_demo_page_escapes_all_text(demo):
    evil = "</textarea><script>alert(1)</script> <b>left</b> &amp; \"it' \x1b."
    page = demo(evil)
    assert "<script" not in page
    assert "<b>left" not in page
    assert page.count("\x1b") == 1  # in the field
    assert "\n&lt;/textarea&gt;&lt;script&gt;" in page


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_demo_page_of_nothing_is_the_field_alone(demo, text):
    page = demo(text)
    assert "<textarea" in page
    assert "<section>" not in page


def test_demo_page_bounds_its_text(demo):
    with pytest.raises(ValueError, match="1,001 characters, and 1,000 is the most"):
        demo("a" * (MOST_CHARACTERS + 1))
    page = demo("word " * 70)
    assert "The chart of 70 words is not drawn" in page
    assert "The model itself has no tree for this sentence" in demo("word " * 170)
    assert "surprisal (bits)" in page


def test_demo_page_tells_what_a_model_cannot_say():
    nlp, parser = pipeline(Spectral(n_states=2))
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        parser.surprisals(nlp(FERRY))
    page = DemoPage(nlp, parser)("The ferry left.")
    assert "posterior probability" in page
    assert page.count('class="message"') >= 1
    assert str(refused.value).split(":")[0].split("'")[0] in page


# The server


def test_demo_server_answers(server, demo):
    status, body, headers = get(server, f"/?text={quote(FERRY)}")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<h2>The ferry left.</h2>" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert get(server, "/")[1] == demo("")
    assert "http://" not in body.replace("http://www.w3.org/", "").replace("http://purl.org/", "").replace(
        "http://creativecommons.org/", ""
    )


def test_demo_server_is_of_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert get(server, "/?text=Go", Host=f"localhost:{server.server_port}")[0] == 200
    for host in ("example.org", f"example.org:{server.server_port}", ""):
        status, body, _ = get(server, "/?text=Go", Host=host)
        assert status == 403
        assert "<section>" not in body


def test_demo_server_tells_what_is_wrong_on_the_page(server):
    status, body, _ = get(server, f"/?text={'a' * 1001}")
    assert status == 400
    assert '<p class="message">This is a text of 1,001 characters, and 1,000 is the most.</p>' in body
    assert get(server, "/other")[0] == 404
    assert get(server, "/?text=%ff%00%ed%a0%80&x=<script>")[0] == 200
    assert get(server, "/?text=" + "a" * 70_000)[0] == 414


def test_demo_server_survives_what_should_not_happen(caplog):
    def fail(text: str) -> str:
        raise RuntimeError("<script>")

    with serving(fail) as server:
        status, body, _ = get(server, "/?text=Go")
        assert status == 500
        assert "Something went wrong: RuntimeError(&#x27;&lt;script&gt;&#x27;)" in body
        assert get(server, "/?text=Go")[0] == 500
    assert "no page of 'Go'" in caplog.text


def test_demo_server_answers_many_while_one_is_silent(server):
    with socket.create_connection(server.server_address[:2]), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda word: get(server, f"/?text={word}")[:2], ["Go", "Stop", "Wait", "Run"]))
    for (status, body), word in zip(found, ["Go", "Stop", "Wait", "Run"]):
        assert status == 200
        assert f"<h2>{word}</h2>" in body


# The command


def test_cli_serve_says_when_a_port_is_taken(server, demo, tmp_path):
    demo.nlp.to_disk(tmp_path / "model")
    result = run("serve", tmp_path / "model", "--port", server.server_port, code=1)
    assert f"port {server.server_port} cannot be had" in result.stderr


def test_cli_serve_serves_until_it_is_interrupted(demo, tmp_path, monkeypatch):
    demo.nlp.to_disk(tmp_path / "model")
    seen = []

    def interrupted(server: DemoServer) -> None:
        thread = Thread(target=server.handle_request)
        thread.start()
        seen.append(get(server, "/?text=Go"))
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(DemoServer, "serve_forever", interrupted)
    result = run("serve", tmp_path / "model", "--port", 0)
    assert "The page is at http://127.0.0.1:" in result.stderr
    assert seen[0][0] == 200


def test_cli_serve_needs_a_model_and_libraries(tmp_path, monkeypatch):
    assert "no pipeline" in run("serve", tmp_path, code=1).stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'spacy-lpcfg[viz]'" in run("serve", tmp_path, code=1).stderr
    assert "Example:\n" in run("serve", "--help").stdout


# A browser


def pixels(path: Path) -> list[bytes]:
    """The rows of a PNG of 8 bits a channel, still filtered: enough to tell an empty picture from a full one."""
    data, at, found = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, _, _, colour = struct.unpack(">IIBB", data[at + 8 : at + 18])
        elif kind == b"IDAT":
            found += data[at + 8 : at + 8 + length]
        at += 12 + length
    stride = width * {2: 3, 6: 4}[colour] + 1
    rows = zlib.decompress(found)
    return [rows[i : i + stride] for i in range(0, len(rows), stride)]


def test_demo_page_in_a_browser(server, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser is here: none of {', '.join(BROWSERS)} is on the PATH")

    def shot(name: str, query: str) -> list[bytes]:
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1000,1600", f"--screenshot={tmp_path / name}", f"{server.url}{query}",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return pixels(tmp_path / name)

    empty, full = (
        shot("empty.png", ""),
        shot("full.png", f"?text={quote('The ferry left. <script>document.body.remove()</script>')}"),
    )
    assert len(empty) == len(full) == 1600
    drawn = [sum(len(set(row)) > 2 for row in rows) for rows in (empty, full)]
    assert drawn[1] > drawn[0] + 500
