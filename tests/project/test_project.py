"""The project file, run by weasel as a user runs it, in a copy of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly
from paths import ROOT

from spacy_lpcfg.trees import parse_trees, read_trees


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project's folder, and beside it a treebank that is called `other`."""
    project = tmp_path_factory.mktemp("clone") / "project"
    project.mkdir()
    shutil.copy(ROOT / "project.yml", project)
    for folder in ("configs", "assets"):
        shutil.copytree(ROOT / folder, project / folder)
    other = project.parent / "other"
    other.mkdir()
    for part, n in (("train", 60), ("dev", 10)):
        lines = (ROOT / "assets" / "sample" / f"{part}.mrg").read_text("utf-8").splitlines(keepends=True)
        (other / f"{part}.mrg").write_text("".join(lines[:n]), encoding="utf-8")
    return project


def run(project: Path, *arguments: object) -> str:
    """Run `python -m spacy project run ...` in the project; what it printed on stdout."""
    command = [sys.executable, "-m", "spacy", "project", "run", *map(str, arguments)]
    done = subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_project_runs_all_and_skips_what_is_done(project):
    output = run(project, "all")
    assert "bracketing F1" in output
    assert "SPAN F" in output
    (tree,) = parse_trees(output.splitlines()[-1])
    assert tree.words == ["The", "ferry", "that", "my", "sister", "missed", "was", "the", "last", "one", "."]
    assert run(project, "train").count("nothing changed") == 2


def test_project_has_a_command_for_each_learner():
    commands = {command["name"]: command["script"] for command in srsly.read_yaml(ROOT / "project.yml")["commands"]}
    learners = {path.stem for path in (ROOT / "configs").glob("*.cfg")} - {"bracketer"}
    assert {name for name, (script, *_) in commands.items() if f"${{vars.with}} {name} " in f"{script} "} == learners


def test_project_takes_another_treebank_and_learner(project):
    output = run(project, "pcfg", ".", "--vars.treebank", "../other")
    assert "nothing changed" not in output
    assert "sentences                     10" in output
    assert (project / "training" / "pcfg" / "model-best").is_dir()
    assert "nothing changed" not in run(project, "clean")
    assert not (project / "training").exists()


def test_project_learns_a_sigmoid_belief_network(project):
    """With fewer states and steps than the config has."""
    config = project / "configs" / "isbn.cfg"
    text = config.read_text("utf-8")
    assert "\nsteps = 5600\n" in text
    text = text.replace("steps = 5600", "steps = 100").replace("states = 120", "states = 4")
    config.write_text(text, encoding="utf-8")
    output = run(project, "isbn", ".", "--vars.treebank", "../other")
    assert "SPAN F" in output
    assert "sentences                     10" in output
    assert (project / "training" / "isbn" / "model-best").is_dir()
    surprisal = run(project, "measure-surprisal").splitlines()
    assert [line.split("\t")[-2] for line in surprisal if "\t" in line][-2:] == [".", "</s>"]


def test_project_learns_from_raw_text_and_says_when_there_is_none(project):
    """The text that is meant if none is named has to be fetched first; nothing is learned before that is told."""
    command = [sys.executable, "-m", "spacy", "project", "run", "distil", ".", "--vars.treebank", "../other"]
    done = subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8")
    assert done.returncode != 0
    assert "corpus/ewt.txt" in done.stdout + done.stderr
    assert not (project / "training" / "distil").exists()
    trees = list(read_trees(project / "assets" / "sample" / "train.mrg"))[100:140]
    (project / "raw.txt").write_text("\n".join(" ".join(tree.words) for tree in trees), encoding="utf-8")
    output = run(project, "distil", ".", "--vars.treebank", "../other", "--vars.raw", "raw.txt")
    assert "sentences                     10" in output
    assert 'text = "raw.txt"' in (project / "training" / "distil" / "model-best" / "config.cfg").read_text("utf-8")


def test_project_learns_a_bracketer_from_tags(project):
    """From a text that has no trees, and compared with trees."""
    trees = list(read_trees(project / "assets" / "sample" / "train.mrg"))
    lines = (" ".join(f"{word}/{tag}" for word, tag in zip(tree.words, tree.tags)) for tree in trees)
    (project / "tagged.txt").write_text("\n".join(lines), encoding="utf-8")
    output = run(project, "bracketer", ".", "--vars.tagged", "tagged.txt")
    assert "BRACKETS_F" in output
    rows = {line.split()[0]: line for line in output.splitlines() if " / " in line}
    assert {"left_branching", "ccm", "upper_bound", "spectral_bracketer"} <= set(rows)
    assert (project / "training" / "bracketer" / "model-best").is_dir()
    again = run(project, "bracketer", ".", "--vars.tagged", "tagged.txt")
    assert again.count("nothing changed") == 1
    assert rows["spectral_bracketer"] in again


def test_project_document_is_up_to_date(tmp_path):
    page = tmp_path / "PROJECT.md"
    shutil.copy(ROOT / "PROJECT.md", page)
    command = [sys.executable, "-m", "spacy", "project", "document", ROOT, "--no-emoji", "--output", page]
    subprocess.run(command, capture_output=True, check=True)
    assert page.read_text("utf-8") == (ROOT / "PROJECT.md").read_text("utf-8"), (
        "run `python -m spacy project document . --no-emoji --output PROJECT.md`"
    )
