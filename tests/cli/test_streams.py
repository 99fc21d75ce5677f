"""Commands whose stdin, stdout or stderr is closed, full or a terminal: a line that says so, a code, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest
import spacy
from commands import console_script, sample_part

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="streams are closed and full as Linux has it"),
]

OUT_FAILS = (">&-", ">/dev/full")
PRINTS = {
    "parse": "parse {model} {text}",
    "parse-docs": "parse {model} {text} --format spacy",
    "parse-processes": "parse {model} {text} --n-process 2",
    "evaluate": "evaluate {trees} {trees}",
    "calibrate": "calibrate {model} {trees}",
    "inspect": "inspect {model}",
    "surprisal": "surprisal {model} {text}",
    "sample": "sample {model}",
    "render": "render {trees}",
    "help": "--help",
    "help-of-a-command": "learn parser --help",
}
SAVES = {
    "learn-parser": "learn parser {trees} --method pcfg -o {out}",
    "learn-workers": "learn parser {trees} --method em --set n_states=2 --set n_iterations=1 --jobs 2 -o {out}",
    "learn-lm": "learn lm {text} --set n_states=2 --set method=em --set rare=0 -o {out}",
    "parse": "parse {model} {text} -o {out}",
    "convert": "convert {trees} -o {out}.jsonl",
}
SAVES_UNDER = [
    ("learn-parser", ">&-"),
    ("learn-workers", "<&- >&- 2>&-"),
    ("learn-lm", "2>&-"),
    ("parse", ">/dev/full"),
    ("parse", "| head -c 0"),
    ("convert", "2>/dev/full"),
    ("convert", "<&- >&- 2>&-"),
]
READS = {"parse": "parse {model} -", "parse-docs": "parse {model} - --input spacy", "render": "render -"}


@pytest.fixture(scope="module")
def known(sample_folder, pcfg_model, language_model):
    text = sample_folder / "line.txt"
    text.write_text("The ferry left .\n", encoding="utf-8")
    trees = sample_part(sample_folder / "some.mrg", "dev", 10)
    return {"trees": trees, "text": text, "model": pcfg_model, "lm": language_model}


def shell(command: str, streams: str, *, buffered: bool = True, script: str = "", **names: object):
    """Run a command as a shell does; `streams` says which of them are closed or lead elsewhere."""
    line = f"{script or console_script()} {command.format(**names)} {streams}"
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    done = subprocess.run(["sh", "-c", line], capture_output=True, encoding="utf-8", env=environment)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize(("name", "streams"), [*zip(PRINTS, cycle(OUT_FAILS), strict=False)])
def test_streams_stdout_that_takes_nothing_is_one_line(name, streams, known):
    done = shell(PRINTS[name], streams, buffered=streams == OUT_FAILS[0], **known)
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: ")
    assert "stdout" in line or name == "parse-docs"  # of bytes, of which no stream tells the name
    assert done.returncode == 1


@pytest.mark.parametrize(("name", "streams"), SAVES_UNDER)
def test_streams_do_not_keep_a_command_from_saving(name, streams, known, tmp_path):
    done = shell(SAVES[name], streams, buffered=False, out=tmp_path / "out", **known)
    assert done.returncode == 0, done.stderr
    (saved,) = tmp_path.iterdir()
    if name == "learn-parser":
        assert spacy.load(saved).pipe_names == ["lpcfg_sentencizer", "lpcfg_parser"]


@pytest.mark.parametrize("name", READS)
def test_streams_stdin_that_is_closed_is_one_line(name, known):
    done = shell(READS[name], "<&-", **known)
    assert done.stderr == "Error: stdin is closed: name a file, or give the command something to read\n"
    assert (done.returncode, done.stdout) == (1, "")


def test_streams_errors_are_not_told_on_stdout(known):
    for command, code in (("parse absent {text}", 1), ("nothing", 2)):
        for streams in ("2>&-", "2>/dev/full"):
            done = shell(command, streams, **known)
            assert (done.returncode, done.stdout) == (code, "")


def test_streams_of_spacys_command(known):
    script = f"{sys.executable} -m spacy lpcfg"
    for command in ("--help", "parse --help", "parse {model} {text}"):
        done = shell(command, ">/dev/full", script=script, **known)
        assert done.returncode == 1
        assert "'stdout'" in done.stderr


def test_streams_a_closed_stdout_is_not_a_file_that_is_written(known, tmp_path):
    """The number of a closed stream goes to the next file that is opened: nothing may be printed into it."""
    shell(SAVES["convert"], "<&- >&-", out=tmp_path / "whole", **known)
    shell(SAVES["convert"], "", out=tmp_path / "other", **known)
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()


# Terminals ---------------------------------------------------------------------------------------

ESCAPES = "\x1b[31m\x9b31m\x07"


def on_terminal(*command: object) -> str:
    """Return all that a command writes to a terminal that is its stdout and stderr."""
    own, its = os.openpty()
    with subprocess.Popen(list(map(str, command)), stdout=its, stderr=its, stdin=subprocess.DEVNULL) as process:
        os.close(its)
        found = b""
        try:
            while part := os.read(own, 10_000):
                found += part
        except OSError:  # it is over
            pass
    os.close(own)
    assert process.returncode in (0, 1)
    return found.decode("utf-8")


@pytest.mark.parametrize(
    "command",
    [
        "parse {model} {words} --input tokens",
        "parse {model} {words} --input tokens --format tsv",
        "sample {model} {words} --input tokens",
        "render {odd}",
        "evaluate {odd} {odd}",
        "parse {model} {broken} --input trees",
    ],
)
def test_streams_a_terminal_gets_no_control_characters(command, known, tmp_path, new_file):
    """Neither in results nor in messages."""
    words, odd = tmp_path / "words", tmp_path / "odd.mrg"
    words.write_text(f"The red{ESCAPES} ferry\n", encoding="utf-8")
    odd.write_text(f"(S (NP{ESCAPES} (DT The) (NN red{ESCAPES})) (VP (VBD left)))\n", encoding="utf-8")
    broken = new_file(f"{ESCAPES}.mrg", "(S (NP")  # errors name it
    names = {**known, "words": words, "odd": odd, "broken": f"'{broken}'"}
    shown = on_terminal("sh", "-c", f"{console_script()} {command.format(**names)}")
    assert not {"\x1b", "\x9b", "\x07"} & set(shown), shown
    assert shown.endswith("\r\n")


def test_streams_a_pipe_gets_words_as_they_are(known, tmp_path):
    (tmp_path / "words").write_text(f"The red{ESCAPES} ferry\n", encoding="utf-8")
    done = shell("parse {model} {words} --input tokens", "", words=tmp_path / "words", **known)
    assert ESCAPES in done.stdout
