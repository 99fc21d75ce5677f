"""The project file, run by weasel as a user runs it, in a copy of its own."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import spacy
from commands import process, sample_part
from paths import ROOT

from spacy_lpcfg.trees import read_trees

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project's folder, and beside it a treebank that is called `other`."""
    project = tmp_path_factory.mktemp("clone") / "project"
    project.mkdir()
    shutil.copy(ROOT / "project.yml", project)
    for folder in ("configs", "assets", "scripts", "benchmarks"):
        shutil.copytree(ROOT / folder, project / folder)
    other = project.parent / "other"
    other.mkdir()
    for part, n in (("train", 60), ("dev", 10)):
        sample_part(other / f"{part}.mrg", part, n)
    return project


OTHER = (".", "--vars.treebank", "../other")


def run(project: Path, *arguments: object) -> str:
    """Run `python -m spacy project run ...` in the project; what it printed."""
    return process(sys.executable, "-m", "spacy", "project", "run", *arguments, cwd=project).stdout


def learned_config(project: Path, model: str) -> dict:
    return spacy.util.load_config(project / "training" / model / "model-best" / "config.cfg").interpolate()


def test_project_takes_another_treebank_and_learner_and_skips_what_is_done(project):
    """`all` as it is, on the sample treebank, is the README's first command, which test_docs.py runs."""
    output = run(project, "all", *OTHER, "--vars.learner", "pcfg")
    assert "nothing changed" not in output
    assert "SPAN F" in output
    assert "sentences                     10" in output
    assert learned_config(project, "grammar")["components"]["lpcfg_parser"]["learner"]["name"] == "pcfg"
    assert run(project, "train", *OTHER, "--vars.learner", "pcfg").count("nothing changed") == 2
    assert run(project, "train", *OTHER, "--vars.learner", "spectral").count("nothing changed") == 1
    assert learned_config(project, "grammar")["components"]["lpcfg_parser"]["learner"]["name"] == "spectral"
    run(project, "clean")
    assert not (project / "training").exists()


def use_small_network(project: Path) -> None:
    """Give the config of the network fewer states and steps."""
    config = project / "configs" / "isbn.cfg"
    shutil.copy(ROOT / "configs" / "isbn.cfg", config)
    text = config.read_text("utf-8")
    settings = "[vars.settings]\n"
    assert settings in text
    config.write_text(text.replace(settings, f"{settings}n_states = 4\nn_epochs = 2\n"), encoding="utf-8")


def surprisals(output: str) -> list[dict[str, str]]:
    """The rows of the table that a workflow printed, by their columns."""
    header, *rows = (line.split("\t") for line in output.splitlines() if "\t" in line)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_project_learns_all_components_by_one_command(project):
    use_small_network(project)
    tagged = ("--vars.tagged", "assets/sample/train.mrg", "--vars.gold", "assets/sample/dev.mrg")
    run(project, "train-all", *OTHER, *tagged, "--vars.learner", "pcfg")
    for model, component in (("grammar", "lpcfg_parser"), ("isbn", "isbn_parser"), ("bracketer", "spectral_bracketer")):
        assert component in learned_config(project, model)["components"]


def test_project_learns_a_sigmoid_belief_network(project):
    use_small_network(project)
    network = ("--vars.config", "isbn", "--vars.key", "isbn_constituents")
    output = run(project, "all", *OTHER, *network)
    assert "SPAN F" in output
    assert "sentences                     10" in output
    surprisal = run(project, "surprisal", *OTHER, *network)
    assert surprisal.count("nothing changed") == 2
    assert [row["word"] for row in surprisals(surprisal)][-2:] == [".", "</s>"]


def test_project_learns_a_bracketer_from_tags(project):
    """From a text that has no trees, and compared with trees."""
    trees = list(read_trees(project / "assets" / "sample" / "train.mrg"))
    lines = (" ".join(f"{word}/{tag}" for word, tag in zip(tree.words, tree.tags, strict=True)) for tree in trees)
    (project / "tagged.txt").write_text("\n".join(lines), encoding="utf-8")
    output = run(project, "bracketer", ".", "--vars.tagged", "tagged.txt")
    assert "BRACKETS_F" in output
    rows = {line.split("|")[1].strip(): line for line in output.splitlines() if line.startswith("|")}
    assert {"left-branching", "best binary trees", "model-best"} <= set(rows)
    assert (project / "training" / "bracketer" / "model-best").is_dir()
    again = run(project, "bracketer", ".", "--vars.tagged", "tagged.txt")
    assert again.count("nothing changed") == 1
    assert rows["model-best"] in again


def test_project_learns_a_language_model_from_words(project):
    output = run(project, "language-model", ".", "--vars.tagged", "assets/sample/dev.mrg")
    assert "TOKEN" in output
    assert float(surprisals(output)[-1]["bits"]) > 0
    assert (project / "training" / "language_model" / "model-best").is_dir()


def test_project_document_is_up_to_date(tmp_path):
    page = tmp_path / "PROJECT.md"
    shutil.copy(ROOT / "PROJECT.md", page)
    process(sys.executable, "-m", "spacy", "project", "document", ROOT, "--no-emoji", "--output", page)
    assert page.read_text("utf-8") == (ROOT / "PROJECT.md").read_text("utf-8"), (
        "run `python -m spacy project document . --no-emoji --output PROJECT.md`"
    )


def test_project_packages_a_parser_of_an_open_treebank(project):
    """With trees of the sample in place of the treebank, and a plain PCFG."""
    trees = (ROOT / "assets" / "sample" / "train.mrg").read_text("utf-8").splitlines(keepends=True)
    folder = project / "assets" / "treebanks" / "icon"
    folder.mkdir(parents=True)
    for part, some in (("train", trees[:60]), ("dev", trees[60:80]), ("test", trees[80:100])):
        (folder / f"{part}.mrg").write_text("".join(some), encoding="utf-8")
    run(project, "treebank", ".", "--vars.name", "icon")
    config = project / "corpus" / "icon" / "config.cfg"
    config.write_text(config.read_text("utf-8").replace('"pivot"', '"pcfg"'), encoding="utf-8")
    assert "learned from 60 trees" in run(project, "learn-treebank", ".", "--vars.name", "icon")
    for command in ("fetch-encoder", "make-encoder", "compare-encoder"):  # without --vars.encoder they do nothing
        run(project, command, ".", "--vars.name", "icon")
    run(project, "package-treebank", ".", "--vars.name", "icon")
    package = project / "packages" / "id_icon-0.1.0"
    meta = json.loads((package / "meta.json").read_text("utf-8"))
    assert (meta["lang"], meta["name"], meta["license"]) == ("id", "icon", "CC BY-SA 4.0")
    assert meta["performance"]["n_sentences"] == 20
    readme = (package / "README.md").read_text("utf-8")
    assert "seacorenlp-data" in readme
    assert f"F1 {meta['performance']['evalb_f']:.2f} by EVALB" in readme
