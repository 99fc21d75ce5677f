"""An ending decides the format that commands write, and no file is lost that was there."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from commands import SAMPLE, console_script, contents, run, sample_part, stderr_of, written

from spacy_lpcfg.components.cli.shared.files import replacing
from spacy_lpcfg.components.cli.shared.formats import output_formats
from spacy_lpcfg.trees import read_trees

TEXT = 'The ferry left.\nIt said: no, "never", and stayed.\n'
WRITES = {
    "parse": "parse {model} {text} -o",
    "surprisal": "surprisal {model} {text} -o",
    "sample": "sample {model} -n 1 -o",
    "search": "search NP {trees} -o",
    "search-counts": "search NP {trees} --counts -o",
    "complexity": "complexity {trees} -o",
    "simplify": "simplify {model} {text} -o",
    "render": "render {trees} -o",
    "convert": "convert {trees} -o",
    "edit": "edit {trees} {rules} -o",
}
ENDINGS = {
    "parse": ".mrg, .parsed, .ptb, .fid, .tree, .jsonl, .json, .tsv, .csv or .spacy, or --format",
    "surprisal": ".tsv, .csv, .jsonl or .json, or --format",
    "sample": ".mrg, .parsed, .ptb, .fid, .tree or .txt, or --format",
    "search": ".txt, .mrg, .parsed, .ptb, .fid, .tree, .tsv, .csv, .jsonl or .json, or --format",
    "search-counts": ".tsv or .csv, or --format",
    "complexity": ".tsv or .csv, or --format",
    "simplify": ".txt, .tsv, .csv or .jsonl, or --format",
    "render": ".txt, .svg, .html, .htm or .tex, or --format",
    "edit": ".mrg, .parsed, .ptb, .fid, .tree, .spacy, .jsonl, .json, .conllu or .tex, or --format",
}
ENDINGS["convert"] = ENDINGS["edit"]


@pytest.fixture
def known(tmp_path, new_file, pcfg_model) -> dict[str, Path]:
    trees, text = tmp_path / "trees.mrg", tmp_path / "text.txt"
    sample_part(trees, "dev", 3)
    text.write_text(TEXT, encoding="utf-8")
    rules = new_file("rules.tsurgeon", "SBARQ=x\n\nrelabel x S\n")
    return {"trees": trees, "text": text, "rules": rules, "model": pcfg_model}


def arguments(name: str, known: dict[str, Path]) -> list[str]:
    return [part.format(**known) for part in WRITES[name].split()]


def message_of(*command: object, code: int = 2) -> str:
    return stderr_of(run(*command, code=code))


# Formats


@pytest.mark.parametrize("name", WRITES)
def test_formats_list_endings_where_one_cannot_be_written(name, known, tmp_path):
    before = contents(tmp_path)
    for ending in ("xlsx", "xlsx.gz", *{"conllu", "csv"} - {each[1:] for each in ENDINGS[name].split(", ")}):
        if f".{ending}" not in ENDINGS[name]:
            message = message_of(*arguments(name, known), tmp_path / f"out.{ending}")
            assert f"out.{ending}' should end in {ENDINGS[name]}" in message
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["parse", "surprisal", "search", "search-counts", "complexity", "simplify"])
def test_formats_of_tables_hold_the_same_rows(name, known, tmp_path):
    tables = {}
    for ending, delimiter in (("tsv", "\t"), ("csv", ",")):
        run(*arguments(name, known), tmp_path / f"out.{ending}")
        with open(tmp_path / f"out.{ending}", encoding="utf-8", newline="") as file:
            tables[ending] = [*csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE if ending == "tsv" else 0)]
        assert run(*arguments(name, known)[:-1], "--format", ending).stdout == (tmp_path / f"out.{ending}").read_text()
    assert tables["tsv"] == tables["csv"]
    assert len(tables["csv"]) > 1
    assert len({*map(len, tables["csv"])}) == 1


@pytest.mark.parametrize("name", ["parse", "surprisal", "convert"])
def test_formats_of_json_hold_the_same_objects(name, known, tmp_path):
    for ending in ("json", "jsonl"):
        run(*arguments(name, known), tmp_path / f"out.{ending}")
    objects = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()] == objects
    assert len(objects) == (3 if name == "convert" else 2)


def test_formats_of_json_are_valid_without_objects(known):
    assert json.loads(run("search", "QP < QP", known["trees"], "--format", "json").stdout) == []


def test_formats_are_compressed_where_the_name_says_so(known, tmp_path):
    for command in ("parse", "search", "convert"):
        ends = ("mrg",) if command == "search" else ("mrg", "jsonl")
        for end in ends:
            plain, zipped = tmp_path / f"{command}.{end}", tmp_path / f"{command}.{end}.gz"
            run(*arguments(command, known), plain)
            run(*arguments(command, known), zipped)
            assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()
    run("convert", tmp_path / "convert.jsonl.gz", "-o", tmp_path / "back.mrg")
    assert [*read_trees(tmp_path / "back.mrg")] == [*read_trees(tmp_path / "convert.mrg")]
    assert "should end in" in message_of(*arguments("parse", known), tmp_path / "out.spacy.gz")


def test_formats_said_overrule_endings_of_no_format(known, tmp_path):
    for ending in ("brackets", "trees.v2", "txt"):
        run(*arguments("parse", known), tmp_path / f"out.{ending}", "--format", "brackets")
    (first, *others) = {(tmp_path / f"out.{each}").read_bytes() for each in ("brackets", "trees.v2", "txt")}
    assert not others
    run(*arguments("parse", known), tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == first
    assert "is no name for brackets" in message_of(
        *arguments("parse", known), tmp_path / "out.csv", "--format", "brackets"
    )


def test_formats_have_endings_of_their_own():
    """Two formats with one ending are never both what a command makes of it without --format, but the first is."""
    shared = {(".txt",), (".tex",)}
    others = {"penn", "l2sca"}  # "brackets" by another name, and what is only written if --format says so
    own = [
        form.suffixes for name, form in output_formats().items() if form.suffixes not in shared and name not in others
    ]
    assert len({suffix for suffixes in own for suffix in suffixes}) == sum(map(len, own))


# Files that are there


@pytest.mark.parametrize("name", WRITES)
def test_formats_replace_no_file_without_force(name, known, new_file):
    endings = {"search": "mrg", "complexity": "csv", "surprisal": "csv", "search-counts": "csv"}
    endings |= dict.fromkeys(("render", "simplify"), "txt")
    out = new_file(f"out.{endings.get(name, 'mrg')}", "mine")
    assert f"'{out}' exists: name another file, or use --force" in message_of(*arguments(name, known), out)
    assert out.read_text("utf-8") == "mine"
    run(*arguments(name, known), out, "--force")
    assert out.read_text("utf-8") not in ("", "mine")


@pytest.mark.parametrize("name", WRITES)
def test_formats_never_replace_what_is_read(name, known, tmp_path):
    before = contents(tmp_path)
    read = next(each for each in ("text", "trees", "model") if f"{{{each}}}" in WRITES[name])
    command = [*arguments(name, known)]
    by_name = {"render": "text", "simplify": "text", "convert": "penn"}
    more = [] if name == "edit" else ["--format", by_name.get(name, "brackets")]
    more = ["--format", "tsv"] if name in ("surprisal", "search-counts", "complexity") else more
    path = known[read] / "meta.json" if read == "model" else known[read]
    (tmp_path / "link").symlink_to(path)
    alias = tmp_path / "link"
    for target in (path,) if name == "edit" else (path, alias):
        assert "is read, and would be replaced" in message_of(*command, target, "--force", *more)
    alias.unlink()
    assert contents(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="runs a shell")
def test_formats_never_replace_what_stdin_reads(known):
    command = f"{console_script()} parse {known['model']} - -o {known['text']} --format brackets -f < {known['text']}"
    done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    assert "is read, and would be replaced" in stderr_of(done)
    assert known["text"].read_text("utf-8") == TEXT


def test_formats_leave_a_file_that_has_appeared(tmp_path):
    path = tmp_path / "out.mrg"
    (tmp_path / "out-1.mrg").touch()
    with pytest.raises(ValueError, match=r"has appeared meanwhile, and stays.* is in '.*out-2.mrg'"):
        _write_late(path)
    assert written(tmp_path) == {"out.mrg": "mine", "out-1.mrg": "", "out-2.mrg": "trees"}
    with replacing(path, force=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def _write_late(path: Path) -> None:
    with replacing(path, force=False) as file:
        file.write(b"trees")
        path.write_text("mine")


def test_formats_learn_replaces_no_folder_with_its_treebank(tmp_path):
    (tmp_path / "bank").mkdir()
    trees = sample_part(tmp_path / "bank" / "train.mrg", "dev", 3)
    for source in (trees, tmp_path / "bank"):
        command = ("learn", "parser", source, "--method", "pcfg", "--force", "-o", tmp_path / "bank")
        assert "which is read, and would be replaced" in message_of(*command)
    assert [*read_trees(trees)] == [*read_trees(SAMPLE / "dev.mrg")][:3]
