"""Target: lists of arguments for the commands, which run in this process and in a folder of their own.

Nothing may be written elsewhere, no address be listened at, and no program started: whatever tries ends the run.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command
from typer.testing import CliRunner

from fuzz.choices import Choices, bytes_of
from fuzz.contract import Target, expect
from fuzz.readers import PARAMS, TAGGED, TREES
from spacy_lpcfg.components.cli import lpcfg_cli

_RUNNER = CliRunner(**({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}))
_SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample"
_TEXT = "The ferry was late. We waited.\n\nXyzzy?\n"
_FILES = {
    "trees.mrg": "".join((_SAMPLE / "dev.mrg").read_text("utf-8").splitlines(keepends=True)[:4]),
    "odd.mrg": TREES,
    "broken.mrg": "(S (NP (PRP It)) (VP (VBZ breaks)\n",
    "tagged.txt": TAGGED,
    "text.txt": _TEXT,
    "params.prm": PARAMS,
    "tags.map": "NN NOUN\n",
    "empty": "",
    "binary.spacy": "\udcff\x00",
    "binary.jsonl": "\udcff\x00",
}
_MADE = (
    "convert trees.mrg -o trees.jsonl",
    "convert trees.mrg -o trees.spacy",
    "learn parser trees.mrg --method pcfg -o pcfg",
    "learn parser trees.mrg --method em --set n_states=2 -o em",
    "learn parser trees.mrg --method isbn --set n_states=2 --set n_epochs=1 -o isbn",
    "learn lm text.txt --set n_states=2 --set rare=0 -o lm",
)
_SPELLED = ["missing", "pcfg", "em", "isbn", "lm", "trees.jsonl", "trees.spacy", "result.json", ".", "-", *_FILES]
_OUTPUTS = [
    "out",
    "out.mrg",
    "out.spacy",
    "out.jsonl",
    "out.html",
    "out.svg",
    "out.json",
    "out.tsv",
    "trees.mrg",
    "pcfg",
]
_CHANGED = ["trees.mrg", "text.txt", "tagged.txt", "params.prm", "tags.map", "trees.jsonl", "result.json"]
_CONTENTS = [
    "",
    "[" * 100_000,
    "(A " * 10_000,
    '{"tree": "(A a)"}',
    '{"tree": ',
    "(A a)\n",
    "\x1f\udc8b",
    "CUTOFF_LEN " + "9" * 5000,
]
_JUNK = [
    "",
    "-",
    "--",
    "x",
    "0",
    "-1",
    "nan",
    "inf",
    "1e400",
    "0.5",
    "9" * 400,
    "\udcff",
    "\n",
    "a" * 300,
    "NP",
    "=",
    "{}",
]
_NUMBERS = ["1", "0", "2", "3", "-1", "0.5", "1.5", "nan", "1000000000000", "x", ""]
_USUAL = {
    "model": ["pcfg", "em", "isbn", "lm", "en", *_SPELLED],
    "trees": ["trees.mrg", "odd.mrg", "trees.spacy", "trees.jsonl", *_SPELLED],
    "output": _OUTPUTS,
    "results": ["result.json", "x=result.json"],
    "jobs": ["1", "0", "x"],
    "n_process": ["1", "0", "x"],
    "grammars": ["2", "1", "3", "x"],
    "networks": ["1", "2", "0", "x"],
    "epochs": ["1", "0", "x"],
    "states": ["1", "2", "3", "0", "x"],
    "text": ["text.txt", *_SPELLED],
    "lang": ["en", "de", "xx", "zz", ""],
    "symbol": ["NP", "S", "no such label"],
}
"""What arguments and options take by their names; of those in several processes or large ones, few."""
_SERVERS = {"serve", "corenlp", "correct"}

# Arguments ---------------------------------------------------------------------------------------


@cache
def _commands() -> list[tuple[tuple[str, ...], Any]]:
    """Return all commands but those that serve, with their names."""

    def walk(command: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        if not hasattr(command, "commands"):
            yield names, command
        for name, below in getattr(command, "commands", {}).items():
            yield from walk(below, (*names, name))

    return [(names, command) for names, command in walk(get_command(lpcfg_cli), ()) if names[0] not in _SERVERS]


@cache
def _choices() -> list[str]:
    """Return the values that options with a choice take."""
    return sorted({word for _, command in _commands() for word in _values_of(command)})


def _values_of(command: Any) -> Iterator[str]:
    for parameter in signature(command.callback).parameters.values():
        for part in (parameter.annotation, *getattr(parameter.annotation, "__args__", ())):
            yield from (
                value for literal in (part, *get_args(part)) for value in get_args(literal) if type(value) is str
            )


def case(choices: Choices) -> dict[str, Any]:
    """Make arguments of a command, most of them such as it takes; its stdin; and a file with something else."""
    names, command = choices.one_of(_commands())
    arguments = list(names)
    for parameter in command.params:
        is_option = parameter.opts[0].startswith("-")
        if choices.number(0, 3) != 3 and is_option and not parameter.required:
            continue
        times = choices.number(1, 2) if parameter.nargs == -1 or getattr(parameter, "multiple", False) else 1
        for _ in range(times):
            if is_option:
                arguments.append(choices.one_of([*parameter.opts, *parameter.secondary_opts]))
            if not getattr(parameter, "is_flag", False):
                arguments.append(_value(parameter.name, choices))
    if choices.number(0, 15) == 15:
        arguments.insert(choices.number(0, len(arguments)), choices.one_of(_JUNK))
    stdin = choices.one_of([_TEXT, TREES, TAGGED, "", "\udcff"])
    named = [argument for argument in arguments if argument in _CHANGED]
    files = {choices.one_of(named): choices.one_of(_CONTENTS) + choices.text(100)} if named else {}
    return {"arguments": arguments, "stdin": stdin, "files": files if choices.number(0, 3) == 3 else {}}


def _value(name: str, choices: Choices) -> str:
    kind = choices.number(0, 15)
    if kind == 15:
        return choices.one_of(_JUNK)
    if name in _USUAL:
        return choices.one_of(_USUAL[name])
    return choices.one_of([*_SPELLED, *_NUMBERS, *_choices()])


# Runs --------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    """Make a folder with the files and models that arguments name."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    for name, text in _FILES.items():
        (folder / name).write_bytes(bytes_of(text))
    with _inside(folder):
        for command in _MADE:
            result = _RUNNER.invoke(lpcfg_cli, command.split())
            expect(result.exit_code == 0, f"{command}: {result.output} {result.exception!r}")
        scores = _RUNNER.invoke(lpcfg_cli, ["evaluate", "trees.mrg", "trees.mrg", "--json"]).stdout
    (folder / "result.json").write_text(scores, "utf-8")
    return folder


def check(case: dict[str, Any]) -> None:
    """Expect a result and code 0, or a message and code 1 or 2; no traceback, and nothing left over."""
    names = [argument for argument in case["arguments"] if "/" in argument or "~" in argument or ".." in argument]
    expect(not names and not _SERVERS & {*case["arguments"]}, f"these arguments are not to be tried: {names}")
    folder = _folder()
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = Path(shutil.copytree(folder, Path(temporary, "here")))
        for name, text in case["files"].items():
            (copy / name).write_bytes(bytes_of(text))
        with _inside(copy), _only_within(temporary):
            result = _RUNNER.invoke(lpcfg_cli, case["arguments"], input=bytes_of(case["stdin"]))
        left = [path.name for path in copy.rglob("*") if path.suffix in (".tmp", ".old")]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    expect(result.exit_code in (0, 1, 2), f"code {result.exit_code}")
    expect("Traceback" not in result.output, result.output)
    expect(result.exit_code == 0 or bool(result.stderr), "no message")
    expect(not left, f"left over: {left}")


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Run a block in another folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Forbidden(BaseException):
    """An act that a command must not try; no handler of errors may take it for its own."""


_within: tuple[str, ...] = ()
_CHANGES = {
    "os.remove": 1,
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.truncate": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
}
"""Events that change what is there, and how many paths they come with."""
_NEVER = ("socket.bind", "socket.connect", "subprocess.Popen", "os.system", "os.fork", "os.posix_spawn")


@contextmanager
def _only_within(folder: str) -> Iterator[None]:
    """Run a block that may write to a folder, to devices and nowhere else."""
    global _within
    _watch()
    before = sys.dont_write_bytecode
    _within, sys.dont_write_bytecode = (os.path.realpath(folder), "/dev"), True
    try:
        yield
    finally:
        _within, sys.dont_write_bytecode = (), before


@cache
def _watch() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _within:
        return
    written = arguments[: _CHANGES.get(event, 0)]
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        written = arguments[:1]
    for path in written:
        if not isinstance(path, int) and not os.path.realpath(os.fsdecode(path)).startswith(_within):
            raise Forbidden(f"{event} {path!r}")
    if event in _NEVER:
        raise Forbidden(f"{event} {arguments}")


def seeds() -> list[bytes]:
    """Return each command with the first of all that it takes, and with later ones."""
    return [bytes([number, *([more] * 20)]) for number in range(len(_commands())) for more in (0, 1)]


TARGETS = {"commands": Target(case, check, seeds, seconds=60.0)}
