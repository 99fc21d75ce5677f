"""The page of `spacy-lpcfg serve`: what it shows, over real requests, and as a browser shows it."""

import re
import socket
import struct
import sys
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from html import unescape
from itertools import islice
from threading import Event, Semaphore
from urllib.parse import quote, unquote

import pytest
import spacy
from commands import run
from pipelines import pipeline_by
from serving import ask, browse, interrupted_after, serving
from stored_models import model

from spacy_lpcfg.components.serve.demo_page import MAX_CHARACTERS, MAX_SENTENCES, DemoModels, DemoPage
from spacy_lpcfg.components.serve.demo_server import DemoServer

FERRY = "The ferry left. It was late."


@pytest.fixture(scope="module")
def demo(sample_grammar):
    return DemoPage(*pipeline_by(sample_grammar), n_best=3)


@pytest.fixture(scope="module")
def server(demo):
    with serving(DemoServer(0, demo)) as server:
        yield server


@pytest.fixture
def quick():
    """A server that answers a text with itself, and notes it in `asked`."""
    asked: list[str] = []
    with serving(DemoServer(0, lambda text: asked.append(text) or text)) as server:
        server.asked = asked
        yield server


def get(server: DemoServer, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    return ask(server, "GET", path, **headers)


def test_demo_page_has_all_of_each_sentence_without_other_libraries(demo, monkeypatch):
    for module in ("nltk", "nltk.tree"):
        monkeypatch.setitem(sys.modules, module, None)
    page = demo(FERRY)
    assert [page.count(f"<h2>{text}</h2>") for text in ("The ferry left.", "It was late.")] == [1, 1]
    for part in ("Alternatives", "Posteriors", "Surprisal"):
        assert page.count(f"<summary>{part}</summary>") == 2
    assert "<code>(S (NP (DT The) (NN ferry)) (VP (VBD left)) (. .))</code>" in page
    for shown in ("posterior probability", "surprisal (bits)"):
        assert page.count(shown) == 2
    assert page.count("<svg ") >= 4
    assert 'class="message"' not in page


def test_demo_page_has_as_many_alternatives_as_it_is_told_and_marks_how_they_differ(demo):
    page = demo("The man saw the dog at the station.")
    assert 2 <= page.count("<code>") <= 3
    assert page.count(": the most probable tree</summary>") == 1
    assert re.search(r"%: (<(ins|del)>\w+\([^<]+\)</\2> ?)+</summary>", page)


def test_demo_page_escapes_all_text(demo):
    evil = "</textarea><script>alert(1)</script> <b>left</b> &amp; \"it' \x1b."
    page = demo(evil)
    assert page.count("<script") == 1
    assert "<b>left" not in page
    assert page.count("\x1b") == 1  # in the field
    assert "\n&lt;/textarea&gt;&lt;script&gt;" in page


@pytest.mark.parametrize("text", ["", " \n"])
def test_demo_page_of_an_empty_box_says_so(demo, text, monkeypatch):
    monkeypatch.setattr(demo.component, "predict", lambda docs: pytest.fail("parsed"))
    page = demo(text)
    assert '<p class="message">The box is empty: type a sentence, or choose an example.</p>' in page
    assert page.count('<a href="?text=') == 4


def test_demo_page_opens_with_an_example_and_three_more_to_click(demo):
    first, *others = demo.examples
    page = demo(None)
    assert page == demo(first)
    assert f"\n{first}</textarea>" in page
    assert f"<h2>{first}</h2>" in page
    links = re.findall(r'<a href="\?text=([^"]+)">([^<]+)</a>', page)
    assert [unescape(shown) for _, shown in links] == others
    assert [unquote(link) for link, _ in links] == others
    assert len(others) == 3


def test_demo_page_opens_where_the_example_cannot_be_parsed(demo, monkeypatch):
    def refuse(docs):
        raise ValueError("no <tags>")

    monkeypatch.setattr(demo.component, "predict", refuse)
    page = demo(None)
    assert '<p class="message">no &lt;tags&gt;</p>' in page
    assert "<section>" not in page
    with pytest.raises(ValueError, match="no <tags>"):
        demo("It works.")


def test_demo_page_has_the_examples_of_a_language(demo):
    german = DemoPage(spacy.blank("de"), demo.component).examples
    assert len(german) == 4
    assert not set(german) & set(demo.examples)
    assert DemoPage(spacy.blank("is"), demo.component).examples == []
    assert "<section>" not in DemoPage(spacy.blank("is"), demo.component)(None)


def test_demo_page_names_labels_and_the_share_of_other_trees_and_has_files_to_download(demo):
    page = demo("The man saw the dog at the station.")
    assert "<title>NP: noun phrase</title>" in page
    assert re.search(r'<ul class="legend"><li><b style="[^"]+">S</b> clause: ', page)
    (share,) = re.findall(r"All trees that are not shown have (?:less than )?([\d.e-]+)% of the probability", page)
    shown = sum(float(p) for p in re.findall(r"<summary>([\d.e-]+)%: ", page))
    assert float(share) + shown == pytest.approx(100, abs=0.6)
    svg, brackets = (b64decode(data).decode() for data in re.findall(r'href="data:[^,]+;base64,([^"]+)"', page))
    assert svg.startswith("<svg ")
    assert f"<code>{brackets.strip()}</code>" in page


def test_demo_page_has_a_choice_of_models(demo):
    fewer = DemoPage(demo.nlp, demo.component, n_best=1)
    pages = DemoModels({"one": demo, "two": fewer})
    page = pages("The ferry left.", "two")
    assert "<option>one</option><option selected>two</option>" in page
    assert page.count("<code>") == 1
    assert re.search(r'<a href="\?text=[^"]+&amp;model=two">|<a href="\?text=[^"]+&model=two">', page)
    assert "<option selected>one</option>" in pages(None)
    assert "<select" not in demo("The ferry left.")
    with pytest.raises(ValueError, match="There is no model 'three' here: choose one or two"):
        pages("The ferry left.", "three")
    with serving(DemoServer(0, pages, models=["one", "two"])) as server:
        assert "<option selected>two</option>" in get(server, "/?text=Go&model=two")[1]
        status, body, _ = get(server, "/?text=Go&model=three")
        assert (status, "<option>two</option>" in body) == (400, True)


@pytest.mark.slow
def test_demo_page_bounds_its_text(demo, monkeypatch):
    page = demo("word " * 70)
    assert "The chart of 70 words is not drawn" in page
    assert "The surprisal of 70 words is not drawn" in page
    assert "<svg" in page
    assert "The model itself has no tree for this sentence" in demo("word " * 170)
    monkeypatch.setattr(demo.component, "predict", lambda docs: pytest.fail("parsed"))
    for text, what in (("a" * (MAX_CHARACTERS + 1), "1,001 characters"), ("\N{GRINNING FACE}" * 1000, "1,000 words")):
        with pytest.raises(ValueError, match=f"{what}, and .*00 is the most"):
            demo(text)


def test_demo_page_draws_the_first_sentences(demo):
    page = demo("Go! " * 60)
    assert page.count("<h2>") == page.count("surprisal (bits)") == MAX_SENTENCES
    assert "These are the first 5 of 60 sentences." in page
    assert "These are the first" not in demo("Go! " * MAX_SENTENCES)


def test_demo_page_tells_what_a_model_cannot_say():
    nlp, parser = pipeline_by(model("factored"))
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        parser.surprisals(nlp(FERRY))
    page = DemoPage(nlp, parser)("The ferry left.")
    assert "posterior probability" in page
    assert page.count('class="message"') >= 1
    assert str(refused.value).split(":")[0].split("'")[0] in page


def test_demo_server_answers(server, demo):
    status, body, headers = get(server, f"/?text={quote(FERRY)}")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<h2>The ferry left.</h2>" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert get(server, "/")[1] == demo(None)
    assert get(server, "/?text=")[1] == demo("")
    (script,) = re.findall(r"<script>(.*?)</script>", body, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert headers["Content-Security-Policy"].endswith(f"; script-src 'sha256-{digest}'")
    assert "http://" not in body.replace("http://www.w3.org/", "").replace("http://purl.org/", "").replace(
        "http://creativecommons.org/", ""
    )


def test_demo_server_is_of_this_machine_alone(quick, monkeypatch):
    assert quick.server_address[0] == "127.0.0.1"
    assert get(quick, "/?text=Go", Host=f"localhost:{quick.server_port}")[:2] == (200, "Go")
    for host in ("example.org", f"example.org:{quick.server_port}", "", "localhost"):
        assert get(quick, "/?text=Stop", Host=host)[0] == 403
    assert quick.asked == ["Go"]
    monkeypatch.setattr(quick, "server_port", 80)  # which browsers leave out
    assert quick.hosts == {"127.0.0.1", "127.0.0.1:80", "localhost", "localhost:80"}


FOREIGN = [
    *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "")),  # the second is another port here
    *({"Origin": origin} for origin in ("https://example.org", "null", "http://127.0.0.1:1")),
    {"Origin": "https://example.org", "Sec-Fetch-Site": "same-origin"},
]


def test_demo_server_answers_its_own_page_and_no_other_site(quick):
    own = {"Origin": quick.url.rstrip("/")}
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
        assert [get(quick, "/?text=Go", **each)[:2] for each in (headers, headers | own)] == [(200, "Go")] * 2
    quick.asked.clear()
    for headers in FOREIGN:
        status, body, _ = get(quick, "/?text=Go", **headers)
        assert (status, quick.asked) == (403, [])
        assert f"This page answers what is typed into it at {quick.url}" in body
        assert "<textarea" in body


def test_demo_server_tells_what_is_wrong_on_the_page(server):
    status, body, _ = get(server, f"/?text={'a' * 1001}")
    assert status == 400
    assert '<p class="message">This is a text of 1,001 characters, and 1,000 is the most.</p>' in body
    assert f">\n{'a' * 1001}</textarea>" in body
    assert get(server, "/other")[0] == 404
    assert get(server, "/?text=%ff%00%ed%a0%80&x=<script>")[0] == 200
    assert get(server, "/?text=" + "a" * 70_000)[0] == 414


@pytest.mark.parametrize("path", ["http://[", "http://example.org/?text=Go", "//example.org/?text=Go", "/;?text=Go"])
def test_demo_server_has_one_page(quick, path):
    with socket.create_connection(quick.server_address[:2]) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{quick.server_port}\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.0 404 ")
    assert quick.asked == []


def test_demo_server_survives_what_should_not_happen(caplog):
    def fail(text: str) -> str:
        raise RuntimeError("<script>")

    with serving(DemoServer(0, fail)) as server:
        status, body, _ = get(server, "/?text=Go")
        assert status == 500
        assert "Something went wrong: RuntimeError(&#x27;&lt;script&gt;&#x27;)" in body
        assert get(server, "/?text=Go")[0] == 500
    assert "no answer to 'GET /?text=Go " in caplog.text


def test_demo_server_answers_many_while_one_is_silent(server):
    with socket.create_connection(server.server_address[:2]), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda word: get(server, f"/?text={word}")[:2], ["Go", "Stop", "Wait", "Run"]))
    for (status, body), word in zip(found, ["Go", "Stop", "Wait", "Run"], strict=True):
        assert status == 200
        assert f"<h2>{word}</h2>" in body


def test_demo_server_lets_few_texts_wait():
    begun, may_end = Semaphore(0), Event()

    def wait(text: str) -> str:
        begun.release()
        assert may_end.wait(60)
        return text

    with serving(DemoServer(0, wait)) as server, ThreadPoolExecutor(8) as pool:
        found = [pool.submit(get, server, f"/?text={i}") for i in range(8)]
        assert begun.acquire(timeout=60)
        refused = [each.result()[:2] for each in islice(as_completed(found, timeout=60), 4)]
        may_end.set()
        answered = [status for status, _, _ in (each.result() for each in found)]
    assert [status for status, _ in refused] == [503] * 4
    assert all("try again when they are done" in body for _, body in refused)
    assert sorted(answered) == [200] * 4 + [503] * 4


@pytest.mark.slow
def test_demo_server_hears_few_silent_connections_at_a_time(quick, monkeypatch):
    heard, begin = Semaphore(0), quick.process_request_thread
    monkeypatch.setattr(quick, "process_request_thread", lambda *request: heard.release() or begin(*request))
    silent = [socket.create_connection(quick.server_address[:2]) for _ in range(20)]
    assert all(heard.acquire(timeout=60) for _ in range(16))
    assert not heard.acquire(timeout=0.5)
    for each in silent:
        each.close()
    assert get(quick, "/?text=Go")[0] == 200


def test_demo_server_cuts_off_who_sends_a_letter_at_a_time(monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.components.serve.local_server._SECONDS", 0.5)
    with serving(DemoServer(0, str)) as server, socket.create_connection(server.server_address[:2]) as connection:
        connection.settimeout(0.1)  # between two letters
        for _ in range(300):
            try:
                connection.send(b"G")
                assert connection.recv(1) == b""
                return
            except TimeoutError:
                continue
            except ConnectionError:  # cut off before the letter was read
                return
    pytest.fail("a request of 30 seconds is still heard")


def test_demo_server_says_nothing_of_who_has_gone(capfd, caplog):
    may_end = Event()
    with serving(DemoServer(0, lambda text: str(may_end.wait(60)) + "a" * 10_000_000)) as server:
        connection = socket.create_connection(server.server_address[:2])
        connection.sendall(f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        may_end.set()
        assert get(server, "/")[0] == 200  # by the next thread
    assert (capfd.readouterr().err, caplog.text) == ("", "")


def test_cli_serve_says_when_a_port_is_taken(server, demo, tmp_path):
    demo.nlp.to_disk(tmp_path / "model")
    result = run("serve", tmp_path / "model", "--port", server.server_port, code=1)
    assert f"port {server.server_port} is not free" in result.stderr
    assert "no pipeline" in run("serve", tmp_path, code=1).stderr


def test_cli_serve_serves_until_it_is_interrupted(demo, tmp_path, monkeypatch):
    demo.nlp.to_disk(tmp_path / "model")
    answers = interrupted_after(monkeypatch, DemoServer, lambda server: get(server, "/?text=Go"))
    result = run("serve", tmp_path / "model", "--port", 0)
    assert "The page is at http://127.0.0.1:" in result.stderr
    assert answers[0][0] == 200


@pytest.mark.slow
def test_demo_page_in_a_browser(server, tmp_path):
    """The more is drawn, the larger is its screenshot as a PNG; an empty page has some KB."""
    sizes = []
    for query in ("absent", f"?text={quote('The ferry left. <script>document.body.remove()</script>')}"):
        browse(f"{server.url}{query}", tmp_path, "--window-size=1000,1600", f"--screenshot={tmp_path / 'shot.png'}")
        png = (tmp_path / "shot.png").read_bytes()
        assert struct.unpack(">II", png[16:24]) == (1000, 1600)
        sizes.append(len(png))
    assert sizes[1] > 3 * sizes[0]


@pytest.mark.slow
def test_serve_starts_warm(monkeypatch):
    """The models that the first text, surprisal and sentence without a tree need are there beforehand."""
    found: list[set[str]] = []

    def end(server: DemoServer) -> None:
        (page,) = server.answer.pages.values()
        parser = page.component.ready_parser().parser
        found.append(set(vars(parser._alone)))  # the grammar of the model, without its evidence
        raise KeyboardInterrupt

    monkeypatch.setattr(DemoServer, "serve_forever", end)
    assert "The page is at http://127.0.0.1:" in run("serve", "--port", 0).stderr
    assert "prefixes" in found[0]
