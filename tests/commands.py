"""Run commands: in processes of their own, and in this one where only the answer matters."""

import json
import os
import subprocess
import sys
from functools import cache
from inspect import signature
from pathlib import Path

import typer.testing
from paths import SAMPLE
from typer.testing import CliRunner

from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.trees import Tree, parse_trees

RAW = """\
( (S (NP-SBJ-1 (PRP It)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (VBG working)))) (. .)) )

(ROOT (S
  (NP=2 (DT The) (NN ferry))
  (VP (VBD left)))) (ROOT (NP (-NONE- *)))
"""
GOLD = """\
(S (NP (PRP It)) (VP (VBZ seems) (S (VP (VBG working)))) (. .))
(S (NP (DT The) (NN ferry)) (VP (VBD left)))
"""
typer.testing._get_command = cache(typer.testing._get_command)  # else made anew at each call
RUNNER = CliRunner(**({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}))
BROKEN = "(S (NP (PRP It)) (VP (VBZ breaks)\n"


def run(*arguments: object, text: str = "", code: int = 0):
    """Run a command in this process; `result.stdout` and `result.stderr` tell what it printed."""
    result = RUNNER.invoke(lpcfg_cli, list(map(str, arguments)), input=text)
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result


def json_in(text: str) -> list[dict]:
    """Return the objects of lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


def stderr_of(result) -> str:
    """Return the stderr of a command without lines, and the box that they stand in."""
    return " ".join(result.stderr.replace("│", " ").split())


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return the bytes of each file in a folder and below, and None for each folder."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def written(folder: Path) -> dict[str, str]:
    """Return the text of each file in a folder and below, by its name there."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def sets(*settings: str) -> tuple[str, ...]:
    """The options `--set` of settings NAME=VALUE."""
    return tuple(part for setting in settings for part in ("--set", setting))


def process(
    *command: object, text: str = "", code: int = 0, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with further variables of the environment."""
    environment, words = {**os.environ, **(env or {})}, list(map(str, command))
    done = subprocess.run(words, input=text, capture_output=True, encoding="utf-8", cwd=cwd, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def console_script() -> Path:
    return Path(sys.executable).with_name("spacy-lpcfg")


def sample_part(path: Path, name: str, n: int) -> Path:
    """A file with the first n sample trees of a part."""
    lines = (SAMPLE / f"{name}.mrg").read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:n]), encoding="utf-8")
    return path


def trees_in(text: str) -> list[Tree]:
    return list(parse_trees(text))
