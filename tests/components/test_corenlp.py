"""A server for CoreNLP's clients: its answers over real requests, by NLTK's client too, and what it refuses."""

import email.message
import json
import socket
from http.client import HTTPConnection
from threading import Event
from urllib.parse import urlencode

import pytest
import serving
from pipelines import pipeline_by

from spacy_lpcfg.components.serve import corenlp
from spacy_lpcfg.components.serve.corenlp import MAX_CHARACTERS, CoreNLP
from spacy_lpcfg.components.serve.corenlp_server import CoreNLPServer
from spacy_lpcfg.trees import parse_trees

TEXT = "The ferry came.  It was late (again)."
FERRY = "(ROOT\n  (S\n    (NP (DT The) (NN ferry))\n    (VP (VBD came))\n    (. .)))"


@pytest.fixture(scope="module")
def answers(sample_grammar):
    return CoreNLP(*pipeline_by(sample_grammar))


@pytest.fixture(scope="module")
def server(answers):
    with serving.serving(CoreNLPServer(0, answers)) as server:
        yield server


def ask(server, method, path, body=b"", query=None, **headers) -> tuple[int, str]:
    return serving.ask(server, method, f"{path}?{urlencode(query)}" if query else path, body, **headers)[:2]


def post(server, text, path="/", query=None, **properties):
    status, answer = ask(server, "POST", path, text.encode(), {"properties": json.dumps(properties), **(query or {})})
    assert status == 200, answer
    return json.loads(answer)["sentences"]


def words(sentence) -> list[str]:
    return [token["word"] for token in sentence["tokens"]]


def test_a_text_has_sentences_tokens_tags_and_trees(server):
    first, second = post(server, TEXT, annotators="tokenize,ssplit,pos,parse", outputFormat="json")
    assert [first["index"], second["index"]] == [0, 1]
    assert first["parse"] == FERRY
    assert first["tokens"][1] == {
        "index": 2,
        "word": "ferry",
        "originalText": "ferry",
        "characterOffsetBegin": 4,
        "characterOffsetEnd": 9,
        "pos": "NN",
        "before": " ",
        "after": " ",
    }
    assert first["tokens"][-1]["after"] == second["tokens"][0]["before"] == "  "
    tokens = first["tokens"] + second["tokens"]
    assert all(
        TEXT[each["characterOffsetBegin"] : each["characterOffsetEnd"]] == each["originalText"] for each in tokens
    )
    (tree,) = parse_trees(second["parse"])
    assert tree.words == [token["word"] for token in second["tokens"]]
    assert tree.tags == [token["pos"] for token in second["tokens"]]
    assert [token["word"] for token in second["tokens"] if token["originalText"] in "()"] == ["-LRB-", "-RRB-"]


def test_annotators_say_what_is_answered(server):
    (sentence,) = post(server, "The ferry came.", annotators="tokenize,ssplit")
    assert sentence.keys() == {"index", "tokens"}
    assert sentence["tokens"][0].keys().isdisjoint({"pos", "lemma"})
    (sentence,) = post(server, "The ferry came.", annotators="tokenize, ssplit, pos")
    assert [token["pos"] for token in sentence["tokens"]] == ["DT", "NN", "VBD", "."]
    assert "parse" not in sentence


def test_properties_split_by_blanks_and_lines(server):
    blanks = {"tokenize.whitespace": "true", "ssplit.eolonly": "true"}
    first, second = post(server, "The  ferry. came\n\nIt was late", **blanks)
    assert (words(first), words(second)) == (["The", "ferry.", "came"], ["It", "was", "late"])
    assert [first["tokens"][1][f"characterOffset{end}"] for end in ("Begin", "End")] == [5, 11]
    assert second["tokens"][0]["characterOffsetBegin"] == 18
    assert len(post(server, TEXT, **{"ssplit.isOneSentence": True})) == 1
    assert len(post(server, "The ferry came. It was late.\nIt came.", **{"ssplit.eolonly": "true"})) == 2


def test_output_as_text(server):
    status, text = ask(server, "POST", "/", b"The ferry came.", {"properties": '{"outputFormat": "text"}'})
    assert status == 200
    assert text == (
        "Document: (1 sentences, 4 tokens)\n\nSentence #1 (4 tokens):\nThe ferry came.\n\nTokens:\n"
        "[Text=The CharacterOffsetBegin=0 CharacterOffsetEnd=3 PartOfSpeech=DT]\n"
        "[Text=ferry CharacterOffsetBegin=4 CharacterOffsetEnd=9 PartOfSpeech=NN]\n"
        "[Text=came CharacterOffsetBegin=10 CharacterOffsetEnd=14 PartOfSpeech=VBD]\n"
        "[Text=. CharacterOffsetBegin=14 CharacterOffsetEnd=15 PartOfSpeech=.]\n\n"
        f"Constituency parse: \n{FERRY}\n"
    )


def test_tregex_has_matches_by_sentence_with_their_names(server):
    first, second = post(server, TEXT, "/tregex", {"pattern": "NP=phrase < DT=article"})
    assert second == {}
    assert first == {
        "0": {
            "sentIndex": 0,
            "characterOffsetBegin": 0,
            "characterOffsetEnd": 9,
            "match": "(NP (DT The) (NN ferry))\n",
            "spanString": "The ferry",
            "namedNodes": [{"phrase": "(NP (DT The) (NN ferry))\n"}, {"article": "(DT The)\n"}],
        }
    }
    assert post(server, TEXT, "/tregex", {"pattern": "ROOT"})[1]["0"]["spanString"] == "It was late (again)."


@pytest.mark.parametrize("text", ["", " \n\t", "\n\n\n"])
def test_nothing_has_no_sentences(server, text):
    assert post(server, text) == []
    assert post(server, text, **{"ssplit.eolonly": "true"}) == []
    assert post(server, text, "/tregex", {"pattern": "NP"}) == []


def test_signs_of_life(server):
    found = [ask(server, "GET", path) for path in ("/live", "/ready", "/ping")]
    assert found == [(200, "live\n"), (200, "ready\n"), (200, "pong\n")]
    assert ask(server, "GET", "/")[0] == 200


def test_nltk_reads_the_answers(server):
    pytest.importorskip("requests", reason="NLTK's client asks by requests: pip install requests")
    corenlp = pytest.importorskip("nltk.parse.corenlp", reason="NLTK is not here: pip install nltk")
    client = corenlp.CoreNLPParser(url=server.url.rstrip("/"))
    assert " ".join(str(next(client.raw_parse("The ferry came."))).split()) == " ".join(FERRY.split())
    leaves = [["The", "ferry", "came", "."], ["It", "was", "late", "."]]
    assert [next(found).leaves() for found in client.parse_sents(leaves)] == leaves
    assert [tree.leaves() for tree in client.parse_text("The ferry came. It was late.")] == leaves
    assert list(client.tokenize("The ferry came.")) == leaves[0]
    tagger = corenlp.CoreNLPParser(url=server.url.rstrip("/"), tagtype="pos")
    assert tagger.tag(leaves[0]) == [("The", "DT"), ("ferry", "NN"), ("came", "VBD"), (".", ".")]


def test_requests_of_the_documentation(server):
    """By wget, whose type is that of a form; and with properties as a Python dict, as stanza's client sends them."""

    def sentence(body: bytes, query: dict[str, str], content_type: str) -> list[str]:
        status, answer = ask(server, "POST", "/", body, query, **{"Content-Type": content_type})
        assert status == 200
        return words(json.loads(answer)["sentences"][0])

    form, query = "application/x-www-form-urlencoded", {"properties": '{"annotators": "tokenize,ssplit,pos"}'}
    assert len(sentence(b"the quick brown fox jumped over the lazy dog.", query, form)) == 10
    assert sentence(b"The+ferry%20came.", query, form) == ["The", "ferry", "came", "."]
    query = {"properties": str({"annotators": "tokenize,parse", "outputFormat": "json"}), "resetDefault": "false"}
    assert sentence("L’été".encode("latin-1", "replace"), query, "text/plain; charset=latin-1") == ["L?été"]
    status, answer = ask(server, "POST", "/", b"The ferry came.", {"annotators": "tokenize", "outputFormat": "text"})
    assert (status, answer.splitlines()[0]) == (200, "Document: (1 sentences, 4 tokens)")


REFUSED = [
    ("/", b"x", {"properties": '{"annotators": "tokenize,ner,coref"}'}, 400, "pos, lemma, parse; got 'coref', 'ner'"),
    ("/", b"x", {"properties": '{"outputFormat": "serialized"}'}, 400, "json or text, got 'serialized'"),
    *(("/", b"x", {"properties": properties}, 400, "JSON object") for properties in ("{", "[" * 10_000, "3")),
    ("/", b"\xff", {}, 400, "UTF-8"),
    ("/", b"x" * (MAX_CHARACTERS + 1), {}, 400, "100,000 characters"),
    ("/", b"x" * (4 * MAX_CHARACTERS + 1), {}, 413, "400,000 bytes"),
    ("/", b"x", {"properties": '{"pipelineLanguage": "de"}'}, 400, "pipelineLanguage en or english, got 'de'"),
    ("/tregex", b"x", {"pipelineLanguage": "german", "pattern": "NP"}, 400, "en or english, got 'german'"),
    ("/tregex", b"The ferry came.", {"pattern": "NP < ("}, 400, ""),
    ("/tregex", b"The ferry came.", {}, 400, ""),
    ("/semgrex", b"x", {}, 404, "/tregex?pattern"),
]


@pytest.mark.parametrize(("path", "body", "query", "status", "message"), REFUSED)
def test_what_cannot_be_answered(server, path, body, query, status, message):
    found, answer = ask(server, "POST", path, body, query)
    assert found == status
    assert message in answer
    assert answer.endswith("\n")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_are_refused(server, method):
    assert ask(server, method, "/", b"x", Host="example.org")[0] == 403


@pytest.mark.parametrize("language", ["en", "English", "default"])
def test_the_language_of_the_pipeline_may_be_named(server, language):
    assert len(post(server, "The ferry came.", pipelineLanguage=language)) == 1


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "unicode_escape"])
def test_only_character_sets_that_take_linear_time(server, charset):
    status, answer = ask(server, "POST", "/", b"x", **{"Content-Type": f"text/plain; charset={charset}"})
    assert status == 400
    assert f"utf-8, utf8, utf-16, latin-1, iso-8859-1, ascii, us-ascii; got '{charset}'" in answer


def test_content_types_are_read_in_linear_time(server, monkeypatch):
    """Without the parser of `email.message`, which takes quadratic time for semicolons after a quotation mark."""
    monkeypatch.setattr(email.message, "_parseparam", lambda text: pytest.fail("quadratic"))
    for content_type in ('text/plain; a="' + ";" * 60_000, 'text/plain; Charset="UTF-16"'):
        text = "Rain fell.".encode("utf-16" if "16" in content_type else "utf-8")
        status, answer = ask(server, "POST", "/", text, **{"Content-Type": content_type})
        assert status == 200
        assert words(json.loads(answer)["sentences"][0]) == ["Rain", "fell", "."]


def test_a_body_that_is_cut_off_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        host = f"127.0.0.1:{server.server_port}"
        connection.sendall(f"POST / HTTP/1.0\r\nHost: {host}\r\nContent-Length: 50\r\n\r\nabc".encode())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile(encoding="utf-8").read()
    assert answer.startswith("HTTP/1.0 400")
    assert "Expected a body of 50 bytes, as Content-Length says, got 3" in answer


CROSS_PRODUCT = "__=a .. (__=b .. __=c)"


@pytest.mark.parametrize(("name", "value"), [("MAX_STEPS", 500), ("MAX_ANSWER", 2000)])
def test_searches_are_cut(answers, monkeypatch, name, value):
    text = "The ferry came late. " * 20
    n_matches = sum(map(len, answers.tregex(text, CROSS_PRODUCT, {})["sentences"]))
    monkeypatch.setattr(corenlp, name, value)
    answer = answers.tregex(text, CROSS_PRODUCT, {})
    n_cut = sum(map(len, answer["sentences"]))
    assert 0 < n_cut < n_matches
    assert answer["warning"].startswith(f"These are the first {n_cut} matches")
    assert "warning" not in answers.tregex(text, "NP", {})


def test_a_search_ends_when_the_client_leaves(server, monkeypatch):
    has_begun, has_left, steps = Event(), Event(), []

    def on_step(limits, n_nodes):
        has_begun.set()
        has_left.wait(60)
        steps.append(n_nodes)
        usual(limits, n_nodes)

    usual = corenlp._SearchLimits.on_step
    monkeypatch.setattr(corenlp._SearchLimits, "on_step", on_step)
    client = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    client.request("POST", f"/tregex?{urlencode({'pattern': CROSS_PRODUCT})}", TEXT)
    assert has_begun.wait(60)
    client.close()
    has_left.set()
    with server.lock:  # which the search has until it ends
        assert len(steps) == 1
