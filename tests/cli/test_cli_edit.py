"""`spacy-lpcfg edit`: what it writes and says, and what it refuses."""

from __future__ import annotations

import pytest
from commands import run

from spacy_lpcfg.trees import read_trees

RULES = "SBARQ=n1 < SQ=n2\n\nexcise n1 n1\nrelabel n2 S\n\nX=x\n\nprune x\n"
TREES = (
    "(ROOT (SBARQ (SQ-1 (VBZ Is) (NP-SBJ (PRP it)) (NP (-NONE- *)))))\n"
    "(ROOT (SBARQ (SQ (VBZ Is) (NP-SBJ (PRP it)) (NP (-NONE- *)))))\n(ROOT (X (UH um)))\n"
)
EDITED = (
    "(ROOT (SBARQ (SQ-1 (VBZ Is) (NP-SBJ (PRP it)) (NP (-NONE- *)))))\n"
    "(ROOT (S (VBZ Is) (NP-SBJ (PRP it)) (NP (-NONE- *))))\n"
)


@pytest.fixture
def rules(new_file):
    return new_file("rules.tsurgeon", RULES)


@pytest.fixture
def trees(new_file):
    return new_file("some.mrg", TREES)


def test_cli_edit_writes_trees_as_they_stand_and_tells_firings(trees, rules, tmp_path):
    done = run("edit", trees, rules)
    assert done.stdout == EDITED
    assert done.stderr.splitlines() == [
        "1 tree was deleted as a whole, and left out",
        f"{rules}:1: fired 1 time: SBARQ=n1 < SQ=n2",
        f"{rules}:6: fired 1 time: X=x",
    ]
    assert run("edit", "-", rules, text=TREES).stdout == EDITED
    out = tmp_path / "out.mrg.gz"
    run("edit", trees, trees, rules, "-o", out)
    assert "".join(f"{tree}\n" for tree in read_trees(out)) == EDITED * 2


def test_cli_edit_writes_other_formats_without_empty_elements(trees, rules, tmp_path):
    run("edit", trees, rules, "-o", tmp_path / "out.spacy")
    assert run("search", "S|SBARQ", tmp_path / "out.spacy", "--format", "brackets").stdout == (
        "1\t(SBARQ (SQ (VBZ Is) (NP-SBJ (PRP it))))\n2\t(S (VBZ Is) (NP-SBJ (PRP it)))\n"
    )
    run("edit", trees, rules, "-o", tmp_path / "out.jsonl")
    for name in ("out.spacy", "out.jsonl"):
        again = run("edit", tmp_path / name, rules, "--lang", "en").stdout
        assert again == "(ROOT (S (VBZ Is) (NP-SBJ (PRP it))))\n" * 2


def test_cli_edit_shows_changes_as_a_diff_and_writes_nothing(trees, rules, tmp_path):
    out = tmp_path / "out.mrg"
    assert run("edit", trees, rules, "--dry-run", "-o", out).stdout.splitlines() == [
        f"--- {trees}:2",
        "+++ edited",
        "@@ -1,5 +1,4 @@",
        " (ROOT",
        "-  (SBARQ",
        "-    (SQ (VBZ Is)",
        "-      (NP-SBJ (PRP it))",
        "-      (NP (-NONE- *)))))",
        "+  (S (VBZ Is)",
        "+    (NP-SBJ (PRP it))",
        "+    (NP (-NONE- *))))",
        f"--- {trees}:3",
        "+++ edited",
        "@@ -1,2 +0,0 @@",
        "-(ROOT",
        "-  (X (UH um)))",
        "2 trees would change",
    ]
    assert not out.exists()
    trees.write_text(TREES * 11, encoding="utf-8")
    lines = run("edit", trees, rules, "--dry-run").stdout.splitlines()
    assert sum(line.startswith(f"--- {trees}") for line in lines) == 10
    assert lines[-1] == "22 trees would change"


def test_cli_edit_refuses_what_is_wrong(trees, rules, tmp_path):
    assert "No trees in -" in run("edit", "-", rules, text="", code=1).stderr
    assert "no file" in run("edit", tmp_path / "none.mrg", rules, code=2).stderr
    rules.write_text("X=x\n\nremove x\n", encoding="utf-8")
    assert "rules.tsurgeon:3: Expected an operation" in run("edit", trees, rules, code=1).stderr
    rules.write_text("UH=x\n\ndelete x\n", encoding="utf-8")
    done = run("edit", trees, rules, code=1)
    assert "rules.tsurgeon:1: 'X' is left without words: use prune" in done.stderr
    assert done.stdout == ""


def test_cli_edit_writes_a_named_format_and_refuses_a_file_without_rules(trees, rules, new_file):
    assert run("edit", trees, rules, "--format", "qtree").stdout.startswith("% needs \\usepackage{qtree}")
    assert "there are no rules in" in run("edit", trees, new_file("none.tsurgeon", "\n"), code=2).stderr
