"""Commands may replace folders that hold nothing but what was saved there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from commands import contents, run, sample_part

from spacy_lpcfg.components.cli.shared.pipelines import save_pipeline, saving_folder
from spacy_lpcfg.storage.manifest import MANIFEST, reason_not_replaceable, write_manifest

COMMANDS = {
    "lpcfg": "learn parser {trees} --method pcfg",
    "isbn": "learn parser {trees} --method isbn --set n_states=2 --set n_epochs=1",
    "bracketer": "learn bracketer {trees} --set variant=paper",
    "lm": "learn lm {text} --set n_states=2 --set method=em --set rare=0",
    "calibrate": "calibrate {model} {trees}",
}
QUICK = ("lpcfg", "lm", "calibrate")


@pytest.fixture
def saved(tmp_path):
    """A folder that was saved."""
    folder = tmp_path / "saved"
    (folder / "vocab").mkdir(parents=True)
    (folder / "config.cfg").write_text("[nlp]")
    (folder / "vocab" / "strings.json").write_text("[]")
    write_manifest(folder)
    assert reason_not_replaceable(folder) is None
    return folder


@pytest.fixture(scope="module")
def known(sample_folder, pcfg_model):
    trees = sample_part(sample_folder / "ten.mrg", "dev", 10)
    return {"trees": trees, "text": sample_folder / "text", "model": pcfg_model}


def own_pipeline(folder: Path) -> Path:
    """A pipeline that spaCy saved, and what else one keeps there."""
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler")
    nlp.to_disk(folder)
    (folder / "README.md").write_text("Mine.")
    return folder


def arguments(name: str, known: dict[str, Path]) -> list[str]:
    return [part.format(**known) for part in COMMANDS[name].split()]


@pytest.mark.parametrize("name", ["README.md", ".git", "vocab/vectors", "zz"])
def test_manifest_names_the_first_entry_that_was_not_saved(saved, name):
    (saved / name).mkdir()
    (saved / "zzz").touch()
    assert f"holds {name!r}, which was not saved" in reason_not_replaceable(saved)
    assert reason_not_replaceable(saved, force=True) is None


def test_manifest_knows_what_has_changed_by_what_it_holds(saved):
    """A file that is only newer is the same; one that is missing is no loss; a folder or a link is another."""
    config, strings = saved / "config.cfg", saved / "vocab" / "strings.json"
    os.utime(config, (1, 1))
    assert reason_not_replaceable(saved) is None
    strings.write_text("()")
    assert "holds 'vocab/strings.json', which has changed" in reason_not_replaceable(saved)
    strings.unlink()
    assert reason_not_replaceable(saved) is None
    config.unlink()
    config.mkdir()
    assert "holds 'config.cfg', which has changed" in reason_not_replaceable(saved)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
def test_manifest_follows_no_link_and_opens_no_pipe(saved, tmp_path):
    config = saved / "config.cfg"
    shutil.copytree(saved / "vocab", tmp_path / "vocab")
    shutil.copy(config, tmp_path / "config.cfg")
    config.unlink()
    config.symlink_to(tmp_path / "config.cfg")
    assert "'config.cfg', which has changed" in reason_not_replaceable(saved)
    config.unlink()
    os.mkfifo(config)
    assert "'config.cfg', which has changed" in reason_not_replaceable(saved)
    config.unlink()
    shutil.rmtree(saved / "vocab")
    (saved / "vocab").symlink_to(tmp_path / "vocab")
    assert "'vocab', which has changed" in reason_not_replaceable(saved)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "{}", "null", b"\xff"])
def test_manifest_that_is_none_is_foreign_itself(tmp_path, text):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / MANIFEST).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert f"{MANIFEST!r}, which was not saved" in reason_not_replaceable(folder)


def test_manifest_shows_no_control_characters(saved):
    if os.name == "posix":
        (saved / "\x1b[2J").touch()
        assert "\x1b" not in reason_not_replaceable(saved)


@pytest.mark.parametrize("force", [False, True])
def test_manifest_keeps_the_working_folder_and_those_above(tmp_path, monkeypatch, force):
    """Even empty ones, but none below: what stands in it would go on in a folder that has no name."""
    monkeypatch.chdir(tmp_path)
    for folder in (".", "..", tmp_path, tmp_path.anchor):
        assert "working folder" in reason_not_replaceable(folder, force=force)
    assert reason_not_replaceable("below", force=force) is None
    (tmp_path / "below").mkdir()
    assert reason_not_replaceable("below", force=force) is None


def test_manifest_does_without_a_working_folder(tmp_path):
    (tmp_path / "gone").mkdir()
    code = (
        "import os, sys; from spacy_lpcfg.storage.manifest import reason_not_replaceable; os.rmdir(os.getcwd()); "
        "print(reason_not_replaceable(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=tmp_path / "gone", capture_output=True, text=True)
    if os.name == "posix":
        assert done.stdout == "None\n", done.stderr


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="Linux tells what is mounted")
def test_manifest_keeps_where_disks_are_mounted(saved, tmp_path, new_file, monkeypatch):
    """A folder that is mounted on another of the same disk is known from the system's list alone."""
    assert "mounted" in reason_not_replaceable("/proc", force=True)
    below = tmp_path / "a b"
    (below / "disk").mkdir(parents=True)
    listed = new_file(
        "mountinfo", "".join(f"1 2 0:1 / {p} rw - ext4\n".replace("a b", r"a\040b") for p in (saved, below / "disk"))
    )
    monkeypatch.setattr("spacy_lpcfg.storage.manifest._MOUNTS", str(listed))
    for folder in (saved, below, below / "disk"):
        assert "mounted" in reason_not_replaceable(folder, force=True)
    assert reason_not_replaceable(saved / "vocab", force=True) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_manifest_commands_replace_no_pipeline_of_ones_own(name, known, tmp_path):
    """They say so before they learn, in one line, and leave it as it was."""
    folder = own_pipeline(tmp_path / "mine")
    before = contents(folder)
    said = run(*arguments(name, known), "-o", folder, code=2)
    (line,) = [line for line in said.stderr.splitlines() if line.startswith("Error: ")]
    assert f"'{folder}' holds 'README.md', which was not saved there by this package" in line
    assert "--force" in line
    assert said.stdout == ""
    assert contents(folder) == before


@pytest.mark.parametrize("name", QUICK)
def test_manifest_commands_replace_what_they_saved_or_what_is_forced(name, known, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for _ in range(2):
        run(*arguments(name, known), "-o", folder)
    first = next(path for path in sorted(folder.iterdir()) if path.is_file())
    first.write_bytes(b"mine")
    assert f"'{first.name}', which has changed" in run(*arguments(name, known), "-o", folder, code=2).stderr
    assert first.read_bytes() == b"mine"
    run(*arguments(name, known), "-o", folder, "--force")
    assert first.read_bytes() != b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_manifest_commands_follow_a_link_to_a_folder(known, tmp_path):
    learn = arguments("lpcfg", known)
    own, link, none = own_pipeline(tmp_path / "mine"), tmp_path / "link", tmp_path / "none"
    link.symlink_to(own)
    before = contents(own)
    assert "'README.md'" in run(*learn, "-o", link, code=2).stderr
    assert contents(own) == before
    run(*learn, "-o", link, "--force")
    assert link.is_symlink()
    assert spacy.load(own).pipe_names == ["lpcfg_sentencizer", "lpcfg_parser"]
    none.symlink_to(none)
    assert "is not a folder" in run(*learn, "-o", none, code=2).stderr
    none.unlink()
    none.symlink_to(tmp_path / "new")
    run(*learn, "-o", none)
    assert none.is_symlink()
    assert (tmp_path / "new" / MANIFEST).is_file()


def test_manifest_of_a_pipeline_is_no_matter_for_spacy(known, tmp_path):
    """It is loaded, saved elsewhere and copied; what `nlp.to_disk` saves is nobody's to replace."""
    run(*arguments("lpcfg", known), "-o", tmp_path / "model")
    assert MANIFEST in {path.name for path in (tmp_path / "model").iterdir()}
    assert MANIFEST not in json.loads((tmp_path / "model" / MANIFEST).read_text("utf-8"))
    nlp = spacy.load(tmp_path / "model")
    assert reason_not_replaceable(tmp_path / "model") is None
    shutil.copytree(tmp_path / "model", tmp_path / "copy")
    assert reason_not_replaceable(tmp_path / "copy") is None
    nlp.to_disk(tmp_path / "other")
    assert "'config.cfg', which was not saved" in reason_not_replaceable(tmp_path / "other")
    nlp.add_pipe("merge_entities")
    nlp.to_disk(tmp_path / "copy")
    assert "'config.cfg', which has changed" in reason_not_replaceable(tmp_path / "copy")


def test_manifest_is_asked_again_when_the_new_folder_is_complete(tmp_path):
    """Files put there meanwhile stay, and the new folder is beside them."""
    nlp, output = spacy.blank("en"), tmp_path / "model"
    save_pipeline(nlp, output, force=False)
    (tmp_path / "model-1").mkdir()
    with pytest.raises(ValueError, match=r"'notes', which was not saved.* is in '.*model-2'"):
        _save_while_notes_come(nlp, output)
    assert (output / "notes").read_text() == "Mine."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model-1", "model-2"]
    assert reason_not_replaceable(tmp_path / "model-2") is None
    assert spacy.load(tmp_path / "model-2").pipe_names == []


def _save_while_notes_come(nlp, output: Path) -> None:
    with saving_folder(output, force=False) as folder:
        nlp.to_disk(folder)
        (output / "notes").write_text("Mine.")
