"""Files and folders that appear when they are complete, whatever ends the writing: an error, or kill -9 at any moment.

How many processes were killed is printed: pytest -rP tests/storage/test_files.py
"""

import errno
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

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.models.kinds import model_from_disk
from spacy_lpcfg.storage import files
from spacy_lpcfg.storage.files import replacing, replacing_folder, write_atomically

pytestmark = pytest.mark.slow

N_KILLS = 8
MOMENTS = ["before", "after", *["any"] * (N_KILLS - 2)]  # of what gives a name to what was written
SAVE = """
import os, sys, time
from pathlib import Path
from spacy_lpcfg.storage import files
moment, path = sys.argv[1:3]
def stopping(put):
    def stop(*names):
        if moment == "after":
            put(*names)
        print("ready", flush=True)
        time.sleep(600)
    return put if moment == "any" else stop
"""
SAVE_MODELS = (
    SAVE
    + """
from spacy_lpcfg.models.kinds import model_from_disk
models = [model_from_disk(source) for source in sys.argv[3:]]
os.replace = stopping(os.replace)
if moment == "any":
    print("ready", flush=True)
while True:
    for model in models:
        model.to_disk(path)
"""
)
SAVE_FOLDERS = (
    SAVE
    + """
files._put_in_place = stopping(files._put_in_place)
if moment == "any":
    print("ready", flush=True)
while True:
    for text in ("b" * 100_000, "a" * 100_000):
        with files.replacing_folder(path) as folder:
            for name in ("one", "two", "three"):
                (folder / name).write_text(text)
"""
)
on_posix = pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX has it")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="folders change places in one step on Linux")


def kill_at(moment: str, rng: random.Random, code: str, *arguments: object) -> None:
    """Run code that saves again and again, and kill it as it gives a new name, or at any moment."""
    command = [sys.executable, "-c", code, moment, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.random() * 0.05 if moment == "any" else 0)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def beside(path: Path) -> list[str]:
    """Return the other files of the same name in the folder."""
    return sorted(each.name for each in path.parent.iterdir() if each != path and each.name.startswith(path.name))


@on_posix
def test_files_kill_leaves_the_old_model_or_the_new_one(tmp_path, new_file):
    """A process saves two models in turn; whenever it is killed, one of them is there, and whole."""
    rng = random.Random(0)
    data = [model(kind).to_bytes() for kind in ("grammar", "factored")]
    sources = [tmp_path / f"source{i}" for i in range(2)]
    for source, each in zip(sources, data, strict=True):
        source.write_bytes(each)
    path = new_file("model", data[0])
    found, n_left = [], []
    for moment in MOMENTS:
        kill_at(moment, rng, SAVE_MODELS, path, *reversed(sources))
        found.append(model_from_disk(path).to_bytes())
        n_left.append(len(beside(path)))
    assert set(found) == set(data)
    assert max(n_left) == 1
    assert (found[:2], n_left[:2]) == (data, [1, 0])
    model("grammar").to_disk(path)
    assert beside(path) == []
    n_other = found.count(data[1])
    print(
        f"{N_KILLS} processes killed while they saved: {n_other} left the new model, {sum(n_left)} an unfinished file"
    )


@on_linux
def test_files_kill_leaves_the_old_folder_or_the_new_one(tmp_path):
    rng = random.Random(0)
    path = tmp_path / "folder"
    path.mkdir()
    for name in ("one", "two", "three"):
        (path / name).write_text("a" * 100_000)
    found, n_left = [], []
    for moment in MOMENTS:
        kill_at(moment, rng, SAVE_FOLDERS, path)
        (text,) = {each.read_text() for each in path.iterdir()}
        assert len(list(path.iterdir())) == 3
        found.append(text)
        n_left.append(len(beside(path)))
    assert set(found) == {"a" * 100_000, "b" * 100_000}
    assert max(n_left) == 1
    assert (found[0][0], found[1][0], *n_left[:2]) == ("a", "b", 1, 1)
    with replacing_folder(path):
        pass
    assert beside(path) == []
    assert list(path.iterdir()) == []
    print(f"{N_KILLS} processes killed while they saved folders, {sum(n_left)} left another folder beside the place")


def write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def make_half(path: Path) -> None:
    with replacing_folder(path):
        raise KeyboardInterrupt


def test_files_error_leaves_what_was_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "file", b"")
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
    kept = [f"file.{files._HOST}-{os.getpid()}-99.tmp", f"file.ffffff-{dead}-0.tmp"]
    kept += [f"other.{files._HOST}-{dead}-0.tmp", "file.tmp", f"file.{dead}.tmp"]
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


@pytest.mark.parametrize("place", [replacing, replacing_folder])
def test_files_name_what_a_full_disk_has_no_room_for(tmp_path, place):
    path = tmp_path / "model"
    with pytest.raises(OSError, match=r"model'$") as caught, place(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "model.0-0.tmp/vocab")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    with pytest.raises(OSError, match=r"left$") as caught, place(path):
        raise OSError(errno.EIO, "what is read has left")
    assert list(tmp_path.iterdir()) == []


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
    with pytest.raises(NotADirectoryError, match=kind), replacing_folder(path):
        pass
    assert not path.is_dir()
    assert list(tmp_path.iterdir()) == [path]


@on_posix
def test_files_keep_the_permissions_of_what_they_replace(tmp_path):
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.touch(0o600)
    with replacing(file) as new:
        assert [(tmp_path / name).stat().st_mode & 0o777 for name in beside(file)] == [0o600]
        new.write(b"new")
    assert (file.stat().st_mode & 0o777, file.read_bytes()) == (0o600, b"new")
    folder.mkdir(0o700)
    (folder / "secret").touch(0o640)
    with replacing_folder(folder) as made:
        assert made.stat().st_mode & 0o777 == 0o700
        (made / "secret").write_text("new")
        (made / "other").touch(0o644)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [(folder / name).stat().st_mode & 0o777 for name in ("secret", "other")] == [0o640, 0o644]
