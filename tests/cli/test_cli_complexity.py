"""`spacy-lpcfg complexity`: its table of treebanks, Docs and text."""

from __future__ import annotations

import csv

import pytest
import spacy
from commands import SAMPLE, run
from spacy.tokens import DocBin

from spacy_lpcfg.queries import complexity
from spacy_lpcfg.queries.complexity import COLUMNS
from spacy_lpcfg.trees import read_trees

DEV = SAMPLE / "dev.mrg"


def table(*arguments: object) -> list[dict[str, str]]:
    return [*csv.DictReader(run("complexity", *arguments).stdout.splitlines(), delimiter="\t")]


def numbers(row: dict[str, str]) -> list[float | None]:
    return [float(row[name]) if row[name] else None for name in COLUMNS]


def rounded(record) -> list[float | None]:
    return [None if value is None else pytest.approx(value, rel=1e-5) for value in record.values()]


@pytest.fixture
def docs(tmp_path):
    run("convert", DEV, "-o", tmp_path / "dev.spacy", "--n-sents", 60)
    return tmp_path / "dev.spacy"


def test_cli_complexity_has_a_row_for_each_document(docs):
    """A treebank is one, and so is each Doc."""
    trees = [*read_trees(DEV)]
    rows = table(DEV, docs)
    assert [(row["file"], row["document"]) for row in rows] == [(str(DEV), "1"), (str(docs), "1"), (str(docs), "2")]
    expected = [complexity(some).document for some in (trees, trees[:60], trees[60:])]
    assert [numbers(row) for row in rows] == [rounded(record) for record in expected]


def test_cli_complexity_has_a_row_for_each_sentence(docs, tmp_path):
    run("complexity", DEV, "--unit", "sentence", "--output", tmp_path / "out.tsv")
    with open(tmp_path / "out.tsv", encoding="utf-8") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    assert [*rows[0]] == ["file", "document", "sentence", *COLUMNS]
    assert [row["sentence"] for row in rows] == [str(i) for i in range(1, 101)]
    assert [numbers(row) for row in rows] == [rounded(each) for each in complexity(read_trees(DEV)).sentences]
    assert [row["sentence"] for row in table(docs, "--unit", "sentence")][58:62] == ["59", "60", "1", "2"]


def test_cli_complexity_writes_what_l2sca_writes(tmp_path):
    out = tmp_path / "out.csv"
    run("complexity", DEV, "--format", "l2sca", "-o", out)
    header, row = out.read_text().splitlines()
    assert header == "Filename,W,S,VP,C,T,DC,CT,CP,CN,MLS,MLT,MLC,C/S,VP/T,C/T,DC/C,DC/T,T/S,CT/T,CP/T,CP/C,CN/T,CN/C"
    record = complexity(read_trees(DEV)).document
    name, *cells = row.split(",")
    assert name == "dev.mrg"
    assert cells[:9] == [str(record[column]) for column in header.split(",")[1:10]]
    assert cells[9:] == [f"{record[column]:.4f}" for column in header.split(",")[10:]]
    assert "documents only" in run("complexity", DEV, "--format", "l2sca", "--unit", "sentence", code=2).stderr


@pytest.mark.slow
def test_cli_complexity_of_text_is_that_of_a_document_with_surprisal(new_file):
    path = new_file("text.txt", "The ferry left. It rained.\nWe left because it rained.\n")
    (row,) = table(path)
    assert (row["W"], row["S"], row["DC"], row["C/S"]) == ("10", "3", "1", "1.33333")
    bits = [line.split("\t") for line in run("surprisal", "en", path).stdout.splitlines()[1:]]
    of_words = [float(each) for *_, word, each, _, _ in bits if word != "</s>"]
    assert float(row["surprisal"]) == pytest.approx(sum(of_words) / len(of_words), abs=1e-3)
    (without,) = table(path, "--no-surprisal")
    assert without == {**row, "surprisal": ""}
    assert [each["document"] for each in table(path, path)] == ["1", "1"]


def test_cli_complexity_of_an_empty_essay_is_a_row_of_zeros(pcfg_model, tmp_path):
    essays = [tmp_path / name for name in ("first.txt", "empty.txt", "last.txt")]
    for essay, text in zip(essays, ("It rained.", "", "We stayed."), strict=True):
        essay.write_text(text, encoding="utf-8")
    options = ("--model", pcfg_model, "--no-surprisal", "-o", tmp_path / "table.csv")
    told = run("complexity", *essays, *options).stderr
    assert told == f"{essays[1]}, document 1: there are no sentences in it, so that all its counts are 0\n"
    assert "it has no row" in run("complexity", essays[1], "--unit", "sentence", "--model", pcfg_model).stderr
    with open(tmp_path / "table.csv", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    assert [row["file"] for row in rows] == [str(essay) for essay in essays]
    assert [rows[1][name] for name in COLUMNS[:-1]] == ["0"] * (len(COLUMNS) - 1)
    options = ("--model", "nonsense", "-o", tmp_path / "none.csv")
    assert "could not be read" not in run("complexity", *essays, *options, code=1).stderr


L2SCA = """\
S: ROOT
VP: VP > S|SINV|SQ
VP: MD|VBZ|VBP|VBD > (SQ !< VP)
C: {clause}
C: FRAG > ROOT !<< ({clause})
T: S|SBARQ|SINV|SQ > ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]
T: FRAG > ROOT !<< (S|SBARQ|SINV|SQ > ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP])
DC: SBAR < ({clause})
CT: S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]] << (SBAR < ({clause}))
CP: ADJP|ADVP|NP|VP < CC
CN: NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]
CN: SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]
CN: S < (VP <# VBG|TO) $+ VP
"""
CLAUSE = (
    "S|SINV|SQ [> ROOT <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP [<# MD|VBP|VBZ|VBD | < CC < (VP <# MD|VBP|VBZ|VBD)])]"
)


def test_cli_complexity_has_the_counts_of_l2scas_own_patterns(docs, tmp_path):
    """As the program has them; Docs of parsed text have no ROOT either."""
    (tmp_path / "l2sca.txt").write_text(L2SCA.format(clause=CLAUSE), encoding="utf-8")
    rows = run("search", "--patterns", tmp_path / "l2sca.txt", docs, "--counts").stdout.splitlines()[1:]
    counts = {row.split("\t")[1]: int(row.split("\t")[2]) for row in rows}
    record = complexity(read_trees(DEV)).document
    assert counts == {name: record[name] for name in counts}
    assert list(counts) == ["S", "VP", "C", "T", "DC", "CT", "CP", "CN"]


def test_cli_complexity_says_what_is_wrong(tmp_path):
    assert "'paragraph' is not one of 'document', 'sentence'" in run(
        "complexity", DEV, "--unit", "paragraph", code=2
    ).stderr.replace("\n", " ").replace("│", "")
    run("complexity", tmp_path / "none.mrg", code=2)
    DocBin(docs=[spacy.blank("en")("Rain fell.")]).to_disk(tmp_path / "bare.spacy")
    error = run("complexity", tmp_path / "bare.spacy", code=1).stderr
    assert "bare.spacy: This Doc has no constituents" in error
