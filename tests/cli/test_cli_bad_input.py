"""Every command on bad files, models and places: one clear line, no traceback, a code, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
from commands import BROKEN, RAW, RUNNER, console_script, contents, sample_part
from killing import as_from_a_terminal
from paths import SAMPLE

from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.storage.reader import LIMIT_NAME

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

# What the commands are given; {bad} is the bad file.
READS_TREES = {
    "learn-parser": "learn parser {bad} --method pcfg -o {out}",
    "learn-parser-dev": "learn parser {trees} --dev {bad} --method pcfg -o {out}",
    "learn-isbn": "learn parser {bad} --method isbn --set n_states=4 --set n_epochs=1 -o {out}",
    "learn-bracketer": "learn bracketer {bad} --set variant=paper -o {out}",
    "evaluate-gold": "evaluate {bad} {trees}",
    "evaluate-test": "evaluate {trees} {bad}",
    "evaluate-both": "evaluate {bad} {bad}",
    "convert": "convert {bad} -o {out}.spacy",
    "parse-trees": "parse {pcfg} {bad} --input trees -o {out}",
    "surprisal-trees": "surprisal {isbn} {bad} --input trees -o {out}",
    "sample-trees": "sample {pcfg} {bad} --input trees -o {out}",
    "calibrate": "calibrate {pcfg} {bad} -o {out}",
    "render": "render {bad} -o {out}",
    "render-trees": "render {bad} --format html -o {out}",
    "render-calibration": "render {pcfg} {bad} -p calibration -o {out}",
}
READS_OTHERS = {
    "learn-lm": "learn lm {bad} --set n_states=2 -o {out}",
    "parse-text": "parse {pcfg} {bad} -o {out}",
    "parse-tokens": "parse {pcfg} {bad} --input tokens -o {out}",
    "parse-tagged": "parse {pcfg} {bad} --input tagged -o {out}",
    "parse-docs": "parse {pcfg} {bad} --input spacy -o {out}",
    "parse-brackets": "parse {bracketer} {bad} -o {out}",
    "surprisal-text": "surprisal {isbn} {bad} -o {out}",
    "sample-text": "sample {pcfg} {bad} -o {out}",
    "render-text": "render {pcfg} {bad} -p chart -o {out}",
    "params": "evaluate {trees} {trees} --params {bad}",
    "tag-map": "learn bracketer {trees} --tag-map {bad} --set variant=paper -o {out}",
}
READS = READS_TREES | READS_OTHERS
TAKES_MODEL = {
    "parse": "parse {bad} {text} -o {out}",
    "surprisal": "surprisal {bad} {text} -o {out}",
    "sample": "sample {bad} -o {out}",
    "inspect": "inspect {bad}",
    "calibrate": "calibrate {bad} {trees} -o {out}",
    "render": "render {bad} {text} -o {out}",
    "serve": "serve {bad} --port 0",
}
WRITES_FILE = {
    "parse": "parse {pcfg} {text} --force -o {bad}",
    "parse-docs": "parse {pcfg} {text} --format spacy -o {bad}",
    "surprisal": "surprisal {isbn} {text} -o {bad}",
    "sample": "sample {pcfg} -o {bad}",
    "render": "render {trees} -o {bad}",
    "convert": "convert {trees} --force -o {bad}",
}
WRITES_FOLDER = {
    "learn-parser": "learn parser {trees} --method pcfg -o {bad}",
    "learn-isbn": "learn parser {trees} --method isbn --set n_states=4 --set n_epochs=1 -o {bad}",
    "learn-bracketer": "learn bracketer {trees} --set variant=paper -o {bad}",
    "learn-lm": "learn lm {text} --set n_states=2 -o {bad}",
}


@pytest.fixture(scope="module")
def known(sample_folder, pcfg_model, isbn_model, bracketer_model, language_model):
    """Good files and models by name."""
    trees = sample_part(sample_folder / "few.mrg", "dev", 5)
    text = sample_folder / "good.txt"
    text.write_text("The ferry left.\n", encoding="utf-8")
    models = {"pcfg": pcfg_model, "isbn": isbn_model, "bracketer": bracketer_model, "lm": language_model}
    return {"trees": trees, "text": text, **models}


def refusal(command: str, folder: Path, **names: object) -> str:
    """Run a command that cannot succeed; its message.

    It is one line, but for the two lines by which wrong usage points to the help; and the folder is as it was.
    """
    before = contents(folder)
    arguments = [part.format(out=folder / "out", **names) for part in command.split()]
    result = RUNNER.invoke(lpcfg_cli, arguments)
    assert result.exit_code in (1, 2), (result.exit_code, result.stdout, result.stderr, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert contents(folder) == before
    return message_of(result.stderr)


def message_of(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line and not line.startswith(("Usage:", "Try ", "Warning:"))]
    errors = [line for line in lines if line.startswith("Error: ")]
    assert len(errors) == 1, stderr
    assert errors[0] == lines[-1], stderr
    assert "Traceback" not in stderr
    assert len(errors[0]) < 900
    return errors[0]


# Files -------------------------------------------------------------------------------------------


EMPTY_IS_FINE = {"params", "tag-map"}  # settings that say nothing


@pytest.mark.parametrize("name", READS)
def test_cli_names_a_file_that_it_cannot_read(name, known, tmp_path):
    """One that is missing, a folder, or no text; one of which nothing can be made; brackets that are unbalanced."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "hollow").write_bytes(b"")
    (tmp_path / "broken.mrg").write_text(RAW + BROKEN, encoding="utf-8")
    for bad in ("absent", "folder", "picture"):
        assert bad in refusal(READS[name], tmp_path, bad=tmp_path / bad, **known)
    if name not in EMPTY_IS_FINE:
        refusal(READS[name], tmp_path, bad=tmp_path / "hollow", **known)
    if name in READS_TREES:
        assert "broken.mrg:6: " in refusal(READS[name], tmp_path, bad=tmp_path / "broken.mrg", **known)


@pytest.mark.parametrize("name", ["parse-docs", "convert", "evaluate-gold", "evaluate-test", "learn-bracketer"])
def test_cli_names_damaged_docs(name, known, tmp_path):
    (tmp_path / "cut.spacy").write_bytes(b"\x78\x9c\x01\x02")
    assert "cut.spacy is no .spacy file" in refusal(READS[name], tmp_path, bad=tmp_path / "cut.spacy", **known)


@pytest.mark.skipif(sys.platform != "linux", reason="has the devices of Linux")
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("file", ["zeros.spacy", "zeros.mrg", "pipe.mrg", "pipe"])
def test_cli_refuses_devices_and_pipes(name, file, known, tmp_path):
    """Zeros without an end, and a pipe that nobody writes to."""
    bad = tmp_path / file
    bad.symlink_to("/dev/zero") if bad.stem == "zeros" else os.mkfifo(bad)
    names = {"bad": bad, **known}
    result = RUNNER.invoke(lpcfg_cli, [part.format(out=tmp_path / "out", **names) for part in READS[name].split()])
    assert "a pipe or a device" in message_of(result.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="has the devices of Linux")
def test_cli_reads_docs_from_stdin_to_their_limit_only(known):
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run(
            [console_script(), "parse", known["pcfg"], "-", "--input", "spacy"],
            stdin=zeros,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, LIMIT_NAME: str(2**24)},
        )
    assert "16,777,216 are allowed" in message_of(done.stderr)


def test_cli_refuses_objects_of_json_that_do_not_end(known, tmp_path, new_file, monkeypatch):
    monkeypatch.setattr(sys.modules["spacy_lpcfg.components.cli.shared.tree_sources"], "LONGEST_JSON", 1000)
    bad = new_file("bad.jsonl", '{"tree": "(NP (NN Rain))"}\n{"tree": "(NP (NN Rain))", "words": [' + "[]," * 400)
    assert "bad.jsonl:2: Expected a JSON object of at most" in refusal(READS["convert"], tmp_path, bad=bad, **known)


def test_cli_says_where_json_lines_are_broken(known, tmp_path):
    for bad in ("rain", '{"words": []}', '["tree"]', '{"tree": "(NP (NN"}', '{"tree": 7}'):
        (tmp_path / "bad.jsonl").write_text('{"tree": "(NP (NN Rain))"}\n\n' + bad, encoding="utf-8")
        assert "bad.jsonl:3: " in refusal(READS["convert"], tmp_path, bad=tmp_path / "bad.jsonl", **known)


# What does not fit -------------------------------------------------------------------------------


def test_cli_refuses_trees_that_are_not_those_of_gold(known, tmp_path):
    other = sample_part(tmp_path / "other.mrg", "train", 5)
    message = refusal("evaluate {trees} {bad}", tmp_path, bad=other, **known)
    assert "no sentence of" in message
    assert "of sentence 1 " in message
    fewer = sample_part(tmp_path / "fewer.mrg", "dev", 4)
    assert "Gold has 5 trees and test has 4" in refusal("evaluate {trees} {bad}", tmp_path, bad=fewer, **known)


def test_cli_refuses_unknown_labels(known, tmp_path):
    assert "no symbol 'NNX': expected one such as NN, NNS, NNP" in refusal(
        "inspect {pcfg} --symbol NNX", tmp_path, **known
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("parse {pcfg} {text} --n-best 2 --format spacy", "--n-best has no place in spacy"),
        ("parse {pcfg} {text} --marginals", "--marginals has no place in brackets"),
        ("parse {pcfg} {text} --n-best 2 --marginals --format tsv", "use --format jsonl"),
        ("parse {pcfg} {text} --n-process 0", "--n-process"),
        ("parse {bracketer} {trees} --n-best 2", "has no n-best"),
        ("sample {isbn}", "has no grammar to draw sentences from"),
        ("learn parser {trees} --method isbn --jobs 0 -o {out}", "--jobs"),
        ("learn parser {trees} --method isbn --jobs 999999 -o {out}", "expected 1 to 1,000, or -1"),
        ("learn parser {trees} --jobs 999999 -o {out}", "expected 1 to 1,000, or -1"),
        ("parse {pcfg} {text} --n-process 999999", "expected 1 to 1,000, or -1"),
        ("learn parser {trees} --method isbn --seed -1 -o {out}", "--seed"),
        ("learn bracketer {trees} --seed 99999999999 -o {out}", "--seed"),
        ("learn parser {trees} --seed 99999999999 -o {out}", "--seed"),
        ("learn lm {text} --seed -1 -o {out}", "--seed"),
        ("sample {pcfg} --seed -1", "--seed"),
        ("convert {trees} -o {out}.conll", "should end in"),
    ],
)
def test_cli_refuses_what_cannot_be_had(command, message, known, tmp_path):
    assert message in refusal(command, tmp_path, **known)


@pytest.mark.parametrize("command", ["sample {bad}", "surprisal {bad} {text}", "parse {bad} {text} --n-best 2"])
def test_cli_says_that_spectral_grammars_are_not_proper(command, known, spectral_model, tmp_path):
    assert "proper grammar" in refusal(command, tmp_path, bad=spectral_model, **known)


# Models ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", TAKES_MODEL.values(), ids=TAKES_MODEL)
def test_cli_refuses_what_is_no_model(command, known, tmp_path):
    (tmp_path / "bare").mkdir()
    spacy.blank("en").to_disk(tmp_path / "blank")
    for name in ("absent", "bare", "blank"):
        refusal(command, tmp_path, bad=tmp_path / name, **known)
    assert "good.txt" in refusal(command, tmp_path, bad=known["text"], **known)


@pytest.mark.parametrize("name", TAKES_MODEL)
def test_cli_refuses_a_damaged_model(name, known, tmp_path):
    """With its end cut off, of another spaCy, with a file that is none, and without a component."""
    kind = {"surprisal": "isbn"}.get(name, "pcfg")
    model = Path(shutil.copytree(known[kind], tmp_path / "copy"))

    def message() -> str:
        return refusal(TAKES_MODEL[name], tmp_path, bad=model, **known)

    (learned,) = model.glob("*/model")
    whole = learned.read_bytes()
    for end in (-1, 100, 0):
        learned.write_bytes(whole[:end])
        assert "copy" in message()
    learned.write_bytes(whole)
    meta = srsly.read_json(model / "meta.json")
    srsly.write_json(model / "meta.json", {**meta, "spacy_version": ">=2.3.0,<2.4.0"})
    assert "was trained with spaCy" in message()
    srsly.write_json(model / "meta.json", meta)
    for file in (model / "config.cfg", model / "meta.json"):
        before = file.read_text("utf-8")
        file.write_text("{", encoding="utf-8")
        assert "copy" in message()
        file.write_text(before, encoding="utf-8")
    shutil.rmtree(learned.parent)
    assert "copy" in message()


# Places ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITES_FILE)
def test_cli_says_where_no_file_can_be_written(name, known, tmp_path):
    (tmp_path / "file").write_text("It", encoding="utf-8")
    (tmp_path / "there").mkdir()
    for bad in (tmp_path / "absent" / "x", tmp_path / "file" / "x"):
        assert bad.parent.name in refusal(WRITES_FILE[name], tmp_path, bad=bad, **known)
    if name != "convert":  # which adds an ending to it
        assert "there" in refusal(WRITES_FILE[name], tmp_path, bad=tmp_path / "there", **known)


@pytest.mark.parametrize("command", WRITES_FOLDER.values(), ids=WRITES_FOLDER)
def test_cli_says_where_no_folder_can_be_written(command, known, tmp_path):
    (tmp_path / "file").write_text("It", encoding="utf-8")
    for bad in (tmp_path / "file", tmp_path / "file" / "x"):
        assert "file" in refusal(command, tmp_path, bad=bad, **known)
    assert "is not a folder" in refusal(command, tmp_path, bad=Path(os.devnull), **known)


def test_cli_writes_to_devices_without_replacing_them(known):
    result = RUNNER.invoke(lpcfg_cli, ["parse", str(known["pcfg"]), str(known["text"]), "-o", os.devnull])
    assert result.exit_code == 0, result.stderr
    assert not Path(os.devnull).is_file()


def test_cli_writes_where_a_link_points_to(known, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "trees")
    result = RUNNER.invoke(lpcfg_cli, ["parse", str(known["pcfg"]), str(known["text"]), "-o", str(tmp_path / "link")])
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "trees").read_text("utf-8").startswith("(S ")


def test_cli_leaves_the_old_output_when_it_fails(known, tmp_path, new_file):
    old = new_file("trees", "old")
    bad = new_file("bad", "The/DT ferry/NN\n" * 100 + "left\n")
    message = refusal("parse {pcfg} {bad} --input tagged --force -o {old}", tmp_path, bad=bad, old=old, **known)
    assert "bad:101: Expected word/TAG" in message
    assert old.read_text("utf-8") == "old"


# In processes of their own -----------------------------------------------------------------------


def interrupted(arguments: list[object], text: str, begun: Callable[[str], bool]) -> str:
    """Run the command, give it some text and no end of it, and Ctrl-C when what it has said tells that it has begun."""
    command = [str(console_script()), *map(str, arguments)]
    settings = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "preexec_fn": as_from_a_terminal}
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stderr=said, **settings) as process:
        process.stdin.write(text.encode())
        process.stdin.flush()
        for _ in range(1200):
            if begun(os.pread(said.fileno(), 10**6, 0).decode()) or process.poll() is not None:
                break
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=120)
        stderr = os.pread(said.fileno(), 10**6, 0).decode()
    assert process.returncode == 130, (process.returncode, stderr)
    return message_of(stderr)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
@pytest.mark.parametrize("more", [(), ("--n-process", 2)])
def test_cli_parse_leaves_nothing_after_ctrl_c(known, tmp_path, new_file, more):
    out = new_file("trees", "old")
    arguments = ["parse", known["pcfg"], "-", "--force", "-o", out, *more]

    def has_temporary(_: str) -> bool:
        return any(".tmp" in path.name for path in tmp_path.iterdir())

    assert "interrupted" in interrupted(arguments, "The ferry left.\n" * 300, has_temporary)
    assert contents(tmp_path) == {str(out): b"old"}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
def test_cli_learn_leaves_nothing_after_ctrl_c(known, tmp_path):
    """In the middle of more iterations than anybody waits for."""
    many = ("--method", "em", "--set", "n_iterations=100000")
    arguments = ["learn", "parser", SAMPLE / "train.mrg", *many, "-o", tmp_path / "model"]
    assert "interrupted" in interrupted(arguments, RAW, lambda said: "iteration 2 of" in said)
    assert contents(tmp_path) == {}


def test_cli_tells_errors_of_processes_as_its_own(known, spectral_model, tmp_path):
    arguments = ["parse", spectral_model, known["text"], "--n-best", 2, "--n-process", 2, "-o", tmp_path / "x"]
    command = [str(console_script()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert "proper grammar" in message_of(done.stderr)
    assert contents(tmp_path) == {}
