"""Clauses that stand alone, of Docs and sentences, and by the command."""

import json

import pytest
import spacy
from commands import run

TEXT = "Matt made eggs and had breakfast. It's late."


@pytest.fixture(scope="module")
def doc():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe("lpcfg_parser")
    return nlp(TEXT)


def test_simple_clauses_of_docs_and_sentences(doc):
    first, second = doc.sents
    made, had, late = doc._.simple_clauses
    assert [clause.text for clause in (made, had, late)] == ["Matt made eggs.", "Matt had breakfast.", "It's late."]
    assert [clause.relation for clause in (made, had, late)] == ["main", "and", "main"]
    assert first._.simple_clauses == (made, had)
    assert (had.sent, late.sent) == (first, second)
    assert [(word.token, word.is_copy) for word in had.words] == [
        (doc[0], True), (doc[4], False), (doc[5], False), (None, False),
    ]  # fmt: skip
    assert 0 < had.probability <= 1


def test_simple_clauses_by_the_command(doc, tmp_path):
    assert run("simplify", "en", TEXT).stdout.splitlines() == [clause.text for clause in doc._.simple_clauses]
    records = [json.loads(line) for line in run("simplify", "en", TEXT, "--format", "jsonl").stdout.splitlines()]
    assert records[1] == {"document": 1, "sentence": 1, **doc._.simple_clauses[1].as_record()}
    assert records[1]["words"][1] == {"text": "had", "i": 4, "start_char": 19, "end_char": 22, "is_copy": False}
    assert records[1]["words"][-1] == {"text": ".", "i": None, "start_char": None, "end_char": None, "is_copy": False}
    rules = tmp_path / "own.tsurgeon"
    rules.write_text("@NP=object > @VP >> (__=top > ROOT)\n\nrelabel object S-object\n", encoding="utf-8")
    assert len(run("simplify", "en", TEXT, "--rules", rules, "--format", "tsv").stdout.splitlines()) == 3
    rules.write_text("NP=x\n", encoding="utf-8")
    assert "own.tsurgeon:1: Expected a blank line" in run("simplify", "en", TEXT, "--rules", rules, code=1).stderr
