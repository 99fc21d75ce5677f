"""Clauses that stand alone, of Docs and sentences, and by the command."""

import pytest
import spacy
from commands import json_in, run

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
    file, rules = tmp_path / "text.txt", tmp_path / "own.tsurgeon"
    file.write_text(f"\n  {TEXT}", encoding="utf-8")
    records = json_in(run("simplify", "en", file, "--format", "jsonl").stdout)
    assert [(each["line"], each["sentence"], each["relation"], each["clause"]) for each in records] == [
        (2, 1, "main", "Matt made eggs."), (2, 1, "and", "Matt had breakfast."), (2, 2, "main", "It's late."),
    ]  # fmt: skip
    words = records[1]["words"]
    assert words[0] == {"text": "Matt", "position": 0, "start_char": 3, "end_char": 7, "is_copy": True}
    assert words[1] == {"text": "had", "position": 4, "start_char": 22, "end_char": 25, "is_copy": False}
    assert words[-1] == {"text": ".", "position": None, "start_char": None, "end_char": None, "is_copy": False}
    assert records[2]["words"][1] == {"text": "'s", "position": 1, "start_char": 39, "end_char": 41, "is_copy": False}
    rules.write_text("@NP=object > @VP >> (__=top > ROOT)\n\nrelabel object S-object\n", encoding="utf-8")
    (_, *rows) = run("simplify", "en", TEXT, "--rules", rules, "--format", "tsv").stdout.splitlines()
    assert [row.split("\t")[3:6] for row in rows] == [["1", "", "main"], ["2", "", "main"]]
    rules.write_text("NP=x\n", encoding="utf-8")
    assert "own.tsurgeon:1: Expected a blank line" in run("simplify", "en", TEXT, "--rules", rules, code=1).stderr
