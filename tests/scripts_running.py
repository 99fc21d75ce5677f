"""Runs the scripts of the folder scripts/."""

from __future__ import annotations

import io
import runpy
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout

import pytest
from paths import ROOT

SCRIPTS = ROOT / "scripts"


def run(script: str, *arguments: object, code: int = 0) -> str:
    """Run a script in this process, as `python` runs it; what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", [script, *map(str, arguments)])
        patch.syspath_prepend(SCRIPTS)
        found: object = 0
        try:
            runpy.run_path(str(SCRIPTS / script), run_name="__main__")
        except SystemExit as end:
            found = end.code or 0
        except Exception:
            traceback.print_exc()
            found = 1
        if isinstance(found, str):
            print(found, file=err)
            found = 1
    assert found == code, out.getvalue() + err.getvalue()
    return out.getvalue() + err.getvalue()
