"""No network: what the package does, it does with all others out of reach.

An audit hook sees each use of a socket, by Python's code and by compiled code. It stands in a `sitecustomize.py`, so
that worker processes have it too; it writes down what was tried, and refuses it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import sample_part

pytestmark = pytest.mark.slow

HOOK = """
import sys

def refuse(event, arguments):
    if not event.startswith("socket.") or event == "socket.__new__":
        return
    if event == "socket.bind" and arguments[1][0] in ("127.0.0.1", "::1"):  # who listens there hears this machine alone
        return
    with open({record!r}, "a", encoding="utf-8") as record:
        print(event, *arguments[1:], file=record)
    raise OSError(f"there is no network: {{event}}")

sys.addaudithook(refuse)
"""
IN_PYTHON = """
import importlib, pkgutil, sys
import spacy, spacy_lpcfg
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.training.corpus import Treebank

for module in pkgutil.walk_packages(spacy_lpcfg.__path__, "spacy_lpcfg."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name in ("onnx", "torch"), error  # of the extra `encoder`

if __name__ == "__main__":
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe("lpcfg_parser")
    texts = ["We stayed.", "The ferry left."]
    assert [trees(doc) for doc in nlp.pipe(texts, n_process=2)] == [trees(nlp(text)) for text in texts]
    nlp.initialize(lambda: Treebank("train.mrg")(nlp))
    nlp.to_disk("learned")
    assert trees(spacy.load("learned")(texts[1])) == trees(nlp(texts[1]))
"""
COMMANDS = """
from spacy_lpcfg.components.cli import lpcfg_cli

for command in '''
learn parser train.mrg --method pivot --set n_states=2 --jobs 2 --output model
learn bracketer train.mrg --set variant=paper --output brackets
learn parser train.mrg --method isbn --set n_states=4 --set n_epochs=1 --output isbn
parse model dev.mrg --input trees --output parsed
parse brackets dev.mrg --output bracketed
evaluate dev.mrg parsed
convert dev.mrg --output dev.spacy
surprisal isbn dev.mrg
render model dev.mrg --output trees.html
'''.strip().splitlines():
    assert not lpcfg_cli(command.split(), standalone_mode=False), command
"""


def alone(folder: Path, code: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run code without a network; the finished process, and the uses of sockets that it and its workers tried."""
    record = folder / "record"
    record.touch()
    (folder / "sitecustomize.py").write_text(HOOK.format(record=str(record)), encoding="utf-8")
    (folder / "script.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    return done, record.read_text("utf-8").splitlines()


@pytest.fixture
def folder(tmp_path) -> Path:
    sample_part(tmp_path / "train.mrg", "train", 200)
    sample_part(tmp_path / "dev.mrg", "dev", 3)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("socket.create_connection(('127.0.0.1', 9))", "socket.getaddrinfo"),
        ("socket.socket().bind(('0.0.0.0', 0))", "socket.bind"),
        ("subprocess.run([sys.executable, '-c', 'import _socket; _socket.gethostbyname(\"\")'])", "socket.gethost"),
    ],
)
def test_offline_hook_refuses(tmp_path, code, event):
    done, tried = alone(tmp_path, f"import socket, subprocess, sys\n{code}")
    assert "there is no network" in done.stderr
    assert len(tried) == 1
    assert tried[0].startswith(event)


def test_offline_in_python(folder):
    done, tried = alone(folder, IN_PYTHON)
    assert (done.returncode, tried) == (0, []), done.stderr


def test_offline_commands(folder):
    done, tried = alone(folder, COMMANDS)
    assert (done.returncode, tried) == (0, []), done.stderr


def test_offline_demo_listens_to_this_machine_alone(tmp_path):
    code = "from spacy_lpcfg.components.serve.demo_server import DemoServer\nDemoServer(0, str).server_close()"
    done, tried = alone(tmp_path, code)
    assert (done.returncode, tried) == (0, []), done.stderr
