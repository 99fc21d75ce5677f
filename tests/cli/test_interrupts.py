"""Ctrl-C at any time ends a command with one line at most, and no traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest
import typer

from spacy_lpcfg.components.cli.shared.console import INTERRUPTED, reporting_errors


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


def test_interrupt_while_commands_are_imported_says_nothing(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    code = "from spacy_lpcfg.components.console_script import main; main()"
    done = python(code, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as POSIX has it")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, AttributeError, SystemError])
def test_interrupt_that_a_library_makes_an_error_of_its_own_is_one_line(kind, capsys):
    """As when NumPy is imported; it then cannot be imported again."""

    @reporting_errors
    def command() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)  # the signal comes before that
        except KeyboardInterrupt:
            raise kind("partially initialized") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(typer.Exit) as caught:
            command()
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.exit_code == INTERRUPTED
    assert capsys.readouterr().err == "Error: interrupted\n"


def test_messages_need_no_numpy():
    """Which cannot be imported again where its import was interrupted."""
    code = """
import sys
from spacy_lpcfg.components.cli.shared.console import log
log("Error: interrupted")
print("numpy" in sys.modules)
"""
    assert python(code).stdout == "False\n"


def test_errors_that_nobody_expects_are_not_hidden():
    @reporting_errors
    def command() -> None:
        raise AttributeError("a mistake of ours")

    with pytest.raises(AttributeError):
        command()
