"""Many files parsed into a folder: the same trees as one by one, whatever is there already, broken or killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import time
from importlib import import_module
from pathlib import Path

import pytest
import spacy
from commands import console_script, run, written
from killing import as_from_a_terminal, first_writer_killed, writers
from spacy.tokens import DocBin

from spacy_lpcfg.components.cli.parse import _Work
from spacy_lpcfg.components.cli.shared.formats import Target
from spacy_lpcfg.components.cli.shared.inputs import Source
from spacy_lpcfg.components.cli.shared.runs import Run
from spacy_lpcfg.components.cli.shared.shards import Shard
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.trees import read_trees

N_FILES = 4


def texts(sample_folder: Path, folder: Path, n: int) -> Path:
    """A folder with files of n sentences, of which one is compressed and one lies in a folder."""
    lines = [f"{' '.join(tree.words)}\n" for tree in read_trees(sample_folder / "train.mrg")]
    (folder / "below").mkdir()
    (folder / "a.txt").write_text("".join(lines[:n]), encoding="utf-8")
    (folder / "b.txt.gz").write_bytes(gzip.compress("".join(lines[n : 2 * n]).encode()))
    (folder / "c.txt").write_text("".join(lines[2 * n : 3 * n]), encoding="utf-8")
    (folder / "below" / "a.txt").write_text("".join(lines[3 * n : 4 * n]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def corpus(sample_folder, tmp_path_factory) -> Path:
    return texts(sample_folder, tmp_path_factory.mktemp("corpus"), 6)


@pytest.fixture(scope="module")
def long_corpus(sample_folder, tmp_path_factory) -> Path:
    """Files that take long enough to stop a command in the middle."""
    return texts(sample_folder, tmp_path_factory.mktemp("corpus"), 50)


@pytest.fixture(scope="module")
def alone(corpus, pcfg_model) -> dict[str, str]:
    return parsed_alone(corpus, pcfg_model)


def parsed_alone(corpus: Path, pcfg_model: Path) -> dict[str, str]:
    """The trees of each file by itself, by the name of the file that they go into."""
    files = {"a.mrg": "a.txt", "b.mrg": "b.txt.gz", "c.mrg": "c.txt", "below/a.mrg": "below/a.txt"}
    return {name: run("parse", pcfg_model, corpus / file).stdout for name, file in files.items()}


@pytest.mark.parametrize("n_process", [1, 2])
def test_parse_many_gives_the_trees_of_one_by_one(n_process, corpus, alone, pcfg_model, tmp_path):
    run("parse", pcfg_model, corpus, "-o", tmp_path / "out", "--n-process", n_process)
    assert written(tmp_path / "out") == alone


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["*.txt"], {"a.mrg", "c.mrg"}),
        (["*.txt*"], {"a.mrg", "b.mrg", "c.mrg"}),
        (["**/*.txt"], {"a.mrg", "c.mrg", "below/a.mrg"}),
        (["*/a.txt"], {"below/a.mrg"}),
        (["a.txt", "b.txt.gz"], {"a.mrg", "b.mrg"}),
        (["c.txt", "below"], {"c.mrg", "a.mrg"}),
    ],
)
def test_parse_many_takes_patterns_files_and_folders(patterns, names, corpus, pcfg_model, tmp_path):
    run("parse", pcfg_model, *(corpus / each for each in patterns), "-o", tmp_path / "out")
    assert written(tmp_path / "out").keys() == names


def test_parse_many_keeps_what_tells_files_apart(corpus, pcfg_model, tmp_path):
    for number in (0, 1):
        (tmp_path / f"part.{number}").write_text("It rained.\n", encoding="utf-8")
    run("parse", pcfg_model, tmp_path / "part.*", "-o", tmp_path / "out")
    assert written(tmp_path / "out").keys() == {"part.0.mrg", "part.1.mrg"}


@pytest.mark.parametrize(
    ("form", "more", "suffix"),
    [("jsonl", ("--n-best", 2), ".jsonl"), ("json", ("--marginals",), ".json"), ("tsv", (), ".tsv")],
)
def test_parse_many_writes_each_format(form, more, suffix, corpus, pcfg_model, tmp_path):
    command = ("parse", pcfg_model, "--format", form, *more)
    run(*command, corpus, "-o", tmp_path / "out")
    for name in ("a", "b", "below/a"):
        file = corpus / (f"{name}.txt.gz" if name == "b" else f"{name}.txt")
        assert (tmp_path / "out" / f"{name}{suffix}").read_text("utf-8") == run(*command, file).stdout


def test_parse_many_reads_and_writes_docs(corpus, pcfg_model, tmp_path):
    run("parse", pcfg_model, corpus, "-o", tmp_path / "docs", "--format", "spacy")
    run("parse", pcfg_model, tmp_path / "docs", "-o", tmp_path / "again", "--format", "spacy")
    run("parse", pcfg_model, corpus / "c.txt", "-o", tmp_path / "c.spacy")
    found, again, one = (
        [str(tree) for doc in DocBin().from_disk(path).get_docs(spacy.blank("en").vocab) for tree in trees(doc)]
        for path in (tmp_path / "docs" / "c.spacy", tmp_path / "again" / "c.spacy", tmp_path / "c.spacy")
    )
    assert found == again == one
    assert len(list((tmp_path / "again").rglob("*.spacy"))) == N_FILES


# Again ---------------------------------------------------------------------------------------------


def test_parse_many_leaves_alone_what_is_there(corpus, alone, pcfg_model, tmp_path):
    (tmp_path / "b.mrg").write_text("(X made before)\n", encoding="utf-8")
    command = ("parse", pcfg_model, corpus, "-o", tmp_path)
    assert f"1 of {N_FILES} files are there already" in run(*command).stderr
    assert written(tmp_path) == {**alone, "b.mrg": "(X made before)\n"}
    assert f"{N_FILES} of {N_FILES} files are there already" in run(*command).stderr
    assert "already" not in run(*command, "--force").stderr
    assert written(tmp_path) == alone


def test_parse_many_tells_of_broken_files_and_parses_the_others(corpus, alone, pcfg_model, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "c.txt"):
        (tmp_path / "in" / name).write_bytes((corpus / name).read_bytes())
    (tmp_path / "in" / "b.txt").write_bytes(b"It rained.\nIt \xff rained.\n")
    (tmp_path / "in" / "d.txt.gz").write_bytes((corpus / "b.txt.gz").read_bytes()[:100])
    command = ("parse", pcfg_model, tmp_path / "in", "-o", tmp_path / "out")
    error = run(*command, code=1).stderr
    assert "b.txt:2: Expected UTF-8" in error
    assert "d.txt.gz" in error
    assert "2 of 4 files could not be parsed" in error
    assert written(tmp_path / "out") == {name: alone[name] for name in ("a.mrg", "c.mrg")}
    (tmp_path / "in" / "b.txt").write_text("It rained.\n", encoding="utf-8")
    (tmp_path / "in" / "d.txt.gz").unlink()
    assert "2 of 3 files are there already" in run(*command).stderr
    assert "b.mrg" in written(tmp_path / "out")


def test_parse_many_tells_of_unforeseen_errors_and_parses_the_others(pcfg_model, corpus, tmp_path, monkeypatch):
    def wrong(parsed, *args):
        raise KeyError("label")

    monkeypatch.setattr(import_module("spacy_lpcfg.components.cli.shared.outputs"), "sentences_of", wrong)
    error = run("parse", pcfg_model, corpus, "-o", tmp_path, code=1).stderr
    assert f"{corpus / 'a.txt'}: KeyError: 'label'" in error
    assert f"{N_FILES} of {N_FILES} files" in error


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_parse_many_goes_on_where_it_was_stopped(sent, long_corpus, pcfg_model, tmp_path):
    command = [console_script(), "parse", pcfg_model, long_corpus, "-o", tmp_path, "--n-process", 2]
    with subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, encoding="utf-8", preexec_fn=as_from_a_terminal
    ) as process:
        while process.poll() is None and not writers(tmp_path):
            time.sleep(0.001)
        process.send_signal(getattr(signal, sent))
        error = process.communicate()[1]
    assert "Traceback" not in error
    if sent == "SIGINT":
        assert process.returncode == 130
        assert not writers(tmp_path)
    alone = parsed_alone(long_corpus, pcfg_model)
    assert all(alone[name] == text for name, text in written(tmp_path).items() if name.endswith(".mrg"))
    run(*command[1:])
    assert {name: text for name, text in written(tmp_path).items() if name.endswith(".mrg")} == alone


# Processes -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_parse_many_parses_again_what_a_killed_process_had(long_corpus, pcfg_model, tmp_path):
    with first_writer_killed(tmp_path) as killed:
        run("parse", pcfg_model, long_corpus, "-o", tmp_path, "--n-process", 2)
    assert killed.is_set()
    assert written(tmp_path) == parsed_alone(long_corpus, pcfg_model)


def test_parse_many_says_what_kills_processes(pcfg_model, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "spacy_lpcfg.parallel.as_completed", lambda work, shards, n_process: ((shard, None) for shard in shards)
    )
    error = run("parse", pcfg_model, corpus, "-o", tmp_path, "--n-process", 2, code=1).stderr
    assert f"{corpus / 'a.txt'}: several workers died at it" in error


@pytest.mark.skipif(not hasattr(spacy.Language, "memory_zone"), reason="spaCy 3.8 has it")
def test_parse_many_forgets_the_words_of_a_file(pcfg_model, new_file):
    nlp = spacy.load(pcfg_model)
    work = _Work(Run(nlp, "lpcfg_parser", Source("", "text")), {}, Target(None, "brackets", force=False))
    sizes = []
    for i in range(3):
        file = new_file(f"{i}.txt", "".join(f"The ferry{i}x{n} left{i}x{n}.\n" for n in range(20)))
        assert work(Shard(str(file), f"{file}.mrg")).status["parsed"] == 20
        sizes.append(len(nlp.vocab.strings))
    assert len(set(sizes)) == 1


# What does not fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{corpus}"], "several files need a folder"),
        (["{corpus}/a.txt", "{corpus}/c.txt", "-o", "{corpus}/a.txt"], "is none"),
        (["{corpus}/a.txt", "{corpus}/below/a.txt", "-o", "{out}"], "would both become"),
        (["{corpus}/a.txt", "-", "-o", "{out}"], "stdin is no file"),
        (["{corpus}/a.txt", "-o", "{out}"], "is a folder: name a file"),
        (["The", "ferry", "left.", "-o", "{out}"], "Or put quotes around a text"),
        (["{out}", "-o", "{out}/there"], "found none"),
        (["{corpus}/a.txt", "{docs}", "-o", "{out}"], "some files hold spacy and others text: say what to take"),
        (["{docs}", "{docs}", "-o", "{folder}", "--format", "spacy"], "it would replace"),
        (["{corpus}", "--input", "tokens", "--tags", "given", "-o", "{out}"], "tokens have no tags"),
        (["{corpus}", "--n-best", 2, "--format", "tsv", "--marginals", "-o", "{out}"], "use --format jsonl"),
        (["The ferry left.", "--scheduler", "tcp://127.0.0.1:9"], "several files need a folder"),
    ],
)
def test_parse_many_refuses_what_cannot_be_had(arguments, message, pcfg_model, corpus, tmp_path):
    docs = tmp_path / "docs" / "d.spacy"
    docs.parent.mkdir()
    DocBin().to_disk(docs)
    places = {"corpus": corpus, "out": tmp_path / "out", "docs": docs, "folder": docs.parent}
    places["out"].mkdir()
    filled = [str(each).format(**places) for each in arguments]
    error = run("parse", pcfg_model, *filled, code=2).stderr
    assert message in " ".join(error.replace("│", " ").split())
    assert not list(places["out"].iterdir())
