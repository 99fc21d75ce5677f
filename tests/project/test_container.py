"""The Dockerfile: its first stage is run in an empty folder, and what it makes is served, asked and measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from paths import ROOT

TEXT = (ROOT / "Dockerfile").read_text("utf-8")
MOST = 325_000_000  # bytes, so that with an image of 125 MB they are less than 450
INSTRUCTION = re.compile(r"^([A-Z]+) ((?:.*\\\n)*.*)$", re.MULTILINE)


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage, from its FROM on."""
    found: list[list[tuple[str, str]]] = []
    for name, rest in INSTRUCTION.findall(TEXT):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def test_container_is_slim_and_has_no_root():
    _, last = stages()
    names = [name for name, _ in last]
    assert last[0] == ("FROM", "python:${PYTHON}-slim")
    assert ("COPY", "--from=build /service /service") in last
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("COPY", "RUN"))
    assert {"HEALTHCHECK", "CMD"} < set(names)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a container has Linux")
def test_container_serves(tmp_path):
    download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", tmp_path, "wheel"]
    if subprocess.run(download, capture_output=True).returncode:
        pytest.skip("the package index cannot be reached")
    service = build(tmp_path)
    assert sum(path.lstat().st_size for path in service.rglob("*")) < MOST
    last = dict(stages()[-1])
    program, *arguments = json.loads(last["CMD"])
    command = [service / "bin" / program, *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, encoding="utf-8") as process:
        line = next(line for line in iter(process.stderr.readline, "") if "answered at" in line)
        (port,) = re.findall(r":(\d+)/", line)
        check = [part.replace("9000", port) for part in json.loads(last["HEALTHCHECK"].partition("CMD ")[2])]
        subprocess.run([service / "bin" / check[0], *check[1:]], check=True)
        with urlopen(f"http://localhost:{port}/", b"The old ferry was sold.", timeout=60) as answer:
            assert "(NP (DT The) (JJ old) (NN ferry))" in json.load(answer)["sentences"][0]["parse"]
        process.terminate()
        assert process.wait(60) == 0


def build(folder: Path) -> Path:
    """Run the first stage with all its folders in this one; where the service is."""
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*ignored()))
    (folder / "bin").mkdir()
    for name, option in (("python", ""), ("pip", "-m pip")):
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {option} "$@"\n', encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for name, command in stages()[0]:
        if name == "RUN":
            here = re.sub(r"(?<![\w/.])/(source|wheels|service)\b", rf"{folder}/\1", command)
            subprocess.run(here, shell=True, check=True, cwd=folder, env=environment)
    return folder / "service"


def ignored() -> list[str]:
    """The patterns of .dockerignore, for names at any depth, but for kernels: to compile them again takes minutes."""
    patterns = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text("utf-8").split()]
    return [pattern for pattern in patterns if pattern != "*.so"]
