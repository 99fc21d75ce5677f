"""Files and folders that appear when they are complete, whatever ends the writing: an error, or kill -9 at any moment.

How many processes were killed is printed: pytest -rP tests/test_files.py
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from stored_models import model

from spacy_lpcfg import files
from spacy_lpcfg.combination import learned_from_disk
from spacy_lpcfg.files import replacing, replacing_folder, write_atomically
from spacy_lpcfg.grammar import Grammar

N_KILLS = 20
SAVE_MODELS = """
import sys
from spacy_lpcfg.combination import learned_from_disk
one, other, path = map(str, sys.argv[1:])
models = [learned_from_disk(one), learned_from_disk(other)]
print("ready", flush=True)
while True:
    for model in models:
        model.to_disk(path)
"""
SAVE_FOLDERS = """
import sys
from pathlib import Path
from spacy_lpcfg.files import replacing_folder
print("ready", flush=True)
while True:
    for text in ("a" * 100_000, "b" * 100_000):
        with replacing_folder(sys.argv[1]) as folder:
            folder.mkdir()
            for name in ("one", "two", "three"):
                (folder / name).write_text(text)
"""
on_posix = pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX has it")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="folders change places in one step on Linux")


class Killed:
    """A process that runs code, and is killed some milliseconds after it has said that it is ready."""

    def __init__(self, code: str, *arguments: object) -> None:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def after(self, seconds: float) -> None:
        with self.process:
            assert self.process.stdout is not None
            assert self.process.stdout.readline() == "ready\n"
            time.sleep(seconds)
            self.process.send_signal(signal.SIGKILL)
        assert self.process.returncode == -signal.SIGKILL


def beside(path: Path) -> list[str]:
    """What else lies there, of the same name."""
    return sorted(each.name for each in path.parent.iterdir() if each != path and each.name.startswith(path.name))


@on_posix
def test_files_kill_leaves_the_old_model_or_the_new_one(tmp_path):
    """A process saves two models in turn; whenever it is killed, one of them is there, and whole."""
    rng = random.Random(0)
    data = [model(kind).to_bytes() for kind in ("grammar", "factored")]
    sources = [tmp_path / f"source{i}" for i in range(2)]
    for source, each in zip(sources, data):
        source.write_bytes(each)
    path = tmp_path / "model"
    n_left = n_other = 0
    for _ in range(N_KILLS):
        Killed(SAVE_MODELS, *sources, path).after(rng.random() * 0.05)
        if path.exists():
            found = learned_from_disk(path).to_bytes()
            assert found in data
            n_other += found == data[1]
        n_left += len(beside(path))
        assert len(beside(path)) <= 1
    model("grammar").to_disk(path)
    assert beside(path) == []
    print(f"{N_KILLS} processes killed while they saved, {n_other} left the second model, {n_left} an unfinished file")


@on_linux
def test_files_kill_leaves_the_old_folder_or_the_new_one(tmp_path):
    rng = random.Random(0)
    path = tmp_path / "folder"
    for _ in range(N_KILLS):
        Killed(SAVE_FOLDERS, path).after(rng.random() * 0.05)
        if path.exists():
            texts = {each.read_text() for each in path.iterdir()}
            assert len(list(path.iterdir())) == 3
            assert texts in ({"a" * 100_000}, {"b" * 100_000})
        assert len(beside(path)) <= 1
    with replacing_folder(path) as folder:
        folder.mkdir()
    assert beside(path) == []
    assert list(path.iterdir()) == []
    print(f"{N_KILLS} processes killed while they saved folders")


def write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def make_half(path: Path) -> None:
    with replacing_folder(path) as folder:
        folder.mkdir()
        raise KeyboardInterrupt


def test_files_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    for before in (None, b"old"):
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(KeyboardInterrupt):
            write_half(path)
        assert beside(path) == []
        assert (path.read_bytes() if before else path.exists()) == (before or False)


@pytest.mark.parametrize("exchanges", [True, False])
def test_files_error_leaves_the_folder_that_was_there(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(files, "_exchange", lambda *_: False)
    path = tmp_path / "folder"
    with pytest.raises(KeyboardInterrupt):
        make_half(path)
    assert list(tmp_path.iterdir()) == []
    for text in ("old", "new"):
        with replacing_folder(path) as folder:
            folder.mkdir()
            (folder / "a").write_text(text)
            (folder / text).mkdir()
    assert sorted(each.name for each in path.iterdir()) == ["a", "new"]
    with pytest.raises(KeyboardInterrupt):
        make_half(path)
    assert (path / "a").read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_files_brings_back_a_folder_whose_name_was_taken_away(tmp_path, monkeypatch):
    """Where names cannot change places, a process killed between two renames leaves the old one aside."""
    path, dead = tmp_path / "folder", _dead_process()
    aside = tmp_path / f"folder.{files._HOST}-{dead}-0.old"
    aside.mkdir()
    (aside / "a").write_text("old")
    monkeypatch.setattr(files, "_exchange", lambda *_: False)
    with pytest.raises(KeyboardInterrupt):
        make_half(path)
    assert (path / "a").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@on_posix
def test_files_of_killed_processes_are_removed_and_no_others(tmp_path):
    path, dead = tmp_path / "file", _dead_process()
    gone = [f"file.{files._HOST}-{dead}-{n}.tmp" for n in range(3)]
    kept = [
        f"file.{files._HOST}-{os.getpid()}-99.tmp",
        f"file.ffffff-{dead}-0.tmp",
        f"other.{files._HOST}-{dead}-0.tmp",
    ]
    kept += ["file.tmp", f"file.{dead}.tmp"]
    for name in gone + kept:
        (tmp_path / name).write_bytes(b"")
    write_atomically(path, b"new")
    assert {each.name for each in tmp_path.iterdir()} == {"file", *kept}


def _dead_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_files_replace_what_a_link_points_to(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("this system has no links for us")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_files_threads_may_write_one_file(tmp_path):
    """The last one wins; what is read in between is whole."""
    path = tmp_path / "grammar"
    data = model("grammar").to_bytes()
    threads = [Thread(target=write_atomically, args=(path, data)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Grammar.from_disk(path).to_bytes() == data
    assert beside(path) == []


def test_files_in_no_folder_are_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "file", b"")


@on_posix
def test_files_write_to_a_pipe_and_leave_it_one(tmp_path):
    """As to /dev/null, which whoever may do all could replace by a file or a folder."""
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"new")
    reader.join()
    assert read == [b"new"]
    assert pipe.is_fifo()
    assert beside(pipe) == []


@pytest.mark.parametrize("kind", ["file", pytest.param("pipe", marks=on_posix)])
def test_files_put_no_folder_in_place_of_something_else(tmp_path, kind):
    path = tmp_path / kind
    path.touch() if kind == "file" else os.mkfifo(path)
    with pytest.raises(NotADirectoryError, match=kind), replacing_folder(path) as folder:
        folder.mkdir()
    assert not path.is_dir()
    assert list(tmp_path.iterdir()) == [path]
