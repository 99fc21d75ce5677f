"""Treebanks of several files, as learners take them."""

import os
from itertools import islice
from pathlib import Path

import pytest
import spacy
from commands import SAMPLE as FOLDER
from commands import run

from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.queries import TreeIndex
from spacy_lpcfg.trees import TreebankError, TreeFiles, read_trees, write_trees
from spacy_lpcfg.trees.files import files_of
from spacy_lpcfg.trees.heads import head_rules
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.reading import dialect_of

SAMPLE = FOLDER / "train.mrg"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Ten trees in each of three files, one of them compressed and in a folder of its own; another file."""
    trees = read_trees(SAMPLE)
    (tmp_path / "b").mkdir()
    for name in ("a.mrg", "b/a.mrg.gz", "c.mrg"):
        write_trees(tmp_path / name, islice(trees, 10))
    (tmp_path / "README").write_text("no trees", encoding="utf-8")
    return tmp_path


def names(files: TreeFiles, folder: Path) -> list[str]:
    return [Path(path).relative_to(folder).as_posix() for path in files.paths]


def test_files_of_folders_and_patterns_are_sorted(folder):
    assert names(TreeFiles.of(folder), folder) == ["a.mrg", "b/a.mrg.gz", "c.mrg"]
    assert names(TreeFiles.of(str(folder / "*.mrg")), folder) == ["a.mrg", "c.mrg"]
    assert names(TreeFiles.of([folder / "c.mrg", folder / "b"]), folder) == ["c.mrg", "b/a.mrg.gz"]


def test_files_give_their_trees_anew_at_every_iteration(folder):
    files, expected = TreeFiles.of(folder), list(islice(read_trees(SAMPLE), 30))
    assert [list(files), list(files)] == [expected, expected]


@pytest.mark.parametrize("name", ["nowhere", "*.trees", "b/none"])
def test_files_that_are_not_there_are_an_error(folder, name):
    (folder / "b" / "none").mkdir()
    with pytest.raises(FileNotFoundError, match=r"Expected .*, found none"):
        TreeFiles.of(folder / name)


def test_files_of_a_folder_are_those_of_the_suffixes_that_are_asked_for(folder):
    found = files_of([folder, str(folder / "*.mrg")], (".gz", "README"))
    assert [Path(path).name for path in found] == ["README", "a.mrg.gz", "a.mrg", "c.mrg"]


def test_files_that_are_links_to_nothing_are_named(folder):
    try:
        (folder / "b" / "gone.mrg").symlink_to(folder / "nowhere")
    except OSError:
        pytest.skip("this system has no links for us")
    with pytest.raises(FileNotFoundError, match=r"The link .*gone\.mrg.* points to nothing"):
        TreeFiles.of(folder)
    assert names(TreeFiles.of(folder / "*.mrg"), folder) == ["a.mrg", "c.mrg"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("name", ["pipe.mrg", "link.mrg"])
def test_files_that_are_pipes_are_refused(tmp_path, name):
    """Opened as a file, a pipe that nobody writes to waits for ever."""
    pipe = tmp_path / name.replace("link", "pipe")
    os.mkfifo(pipe)
    if name == "link.mrg":
        (tmp_path / name).symlink_to(pipe)
    message = r"Expected a file, got '.*', a pipe or a device: save it to a file first"
    for read in (read_lines, read_trees, TreeFiles.of, dialect_of, head_rules, TreeIndex.read):
        with pytest.raises(ValueError, match=message):
            list(read(str(tmp_path / name)))
    with pytest.raises(ValueError, match=message):
        list(TreeFiles.of(tmp_path, dialect="penn"))


def test_files_of_patterns_and_folders_are_those_of_commands(folder):
    """Patterns that no shell has replaced by their files."""
    saved = []
    for paths in ([folder / "*.mrg", folder / "b"], [folder / "a.mrg", folder / "c.mrg", folder / "b" / "a.mrg.gz"]):
        saved.append(folder / f"model{len(saved)}")
        run("learn", "parser", *paths, "--method", "pcfg", "-o", saved[-1])
    found, expected = (spacy.load(path).get_pipe("lpcfg_parser").learned.to_bytes() for path in saved)
    assert found == expected
    assert "none*" in run("learn", "parser", folder / "none*", "-o", folder / "model", code=2).stderr


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_files_are_learned_from_as_one_stream_is_and_tell_of_broken_trees(folder, n_jobs):
    with open(folder / "a.mrg", "a", encoding="utf-8") as file:
        file.write("(S (NP")
    errors: list[TreebankError] = []
    learner = TreebankPCFG(n_jobs=n_jobs)
    grammar = learner.fit(TreeFiles.of(folder, on_error=errors.append))
    assert [(Path(error.path).name, error.line) for error in errors] == [("a.mrg", 11)]
    assert grammar.to_bytes() == TreebankPCFG().fit(islice(read_trees(SAMPLE), 30)).to_bytes()
    with pytest.raises(TreebankError, match=r"a\.mrg:11: Expected closing brackets"):
        learner.fit(TreeFiles.of(folder))
