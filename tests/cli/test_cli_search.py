"""`spacy-lpcfg search`: what it prints of treebanks, Docs and text."""

from __future__ import annotations

import pytest
from commands import BROKEN, SAMPLE, json_in, run, stderr_of

from spacy_lpcfg.components.cli.shared import tree_sources
from spacy_lpcfg.components.cli.shared.pipelines import load_pipeline
from spacy_lpcfg.queries import TreeIndex, reading
from spacy_lpcfg.trees import read_trees

DEV = SAMPLE / "dev.mrg"
OF = "NP < (PP=pp <<# of) $+ VP"
TREES = "(S (NP (DT The) (NN price)) (VP (VBD fell)))\n(S (NP (PRP It)) (VP (VBD rose)))\n"


@pytest.fixture
def trees(new_file):
    return new_file("some.mrg", TREES)


def test_cli_search_shows_matches_in_context(trees):
    lines = run("search", "VP|DT", trees).stdout.splitlines()
    assert lines == [
        f"{1:>6}  {'':>40} [The] price fell",
        f"{1:>6}  {'The price':>40} [fell]",
        f"{2:>6}  {'It':>40} [rose]",
    ]
    for line in run("search", OF, DEV).stdout.splitlines():
        assert (line.index("["), line[48]) == (49, " ")


def test_cli_search_finds_the_top_below_a_root_that_trees_need_not_have(trees):
    assert len(run("search", "S > ROOT", trees).stdout.splitlines()) == 2
    assert run("search", "VP >> ROOT", trees, "--counts").stdout.splitlines()[1].split("\t")[2:] == ["2", "2", "2"]


def test_cli_search_goes_on_after_a_file_that_cannot_be_read(trees, new_file):
    broken = new_file("broken.mrg", BROKEN)
    done = run("search", "DT", trees, broken, trees, code=1)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.count("broken.mrg:1: ") == 1
    assert "Or use --skip-bad" in done.stderr
    assert done.stderr.endswith("Error: 1 of 3 files could not be read; the others were\n")
    rows = run("search", "DT", trees, broken, trees, "--skip-bad", "--counts").stdout.splitlines()
    assert rows[-1].split("\t") == ["total", "DT", "2", "2", "4"]


def test_cli_search_shortens_long_context(new_file):
    path = new_file("long.mrg", f"(S {'(A aaa) ' * 20}(B b){' (A aaa)' * 20})")
    (line,) = run("search", "B", path).stdout.splitlines()
    before, after = line.split(" [b] ")
    assert before == f"{1:>6}  ...{('aaa ' * 20).strip()[-37:]}"
    assert after == f"{('aaa ' * 20)[:37]}..."


def test_cli_search_has_brackets_tables_and_counts(trees, tmp_path):
    assert run("search", "NP", trees, "--format", "brackets").stdout == (
        "1\t(NP (DT The) (NN price))\n2\t(NP (PRP It))\n"
    )
    assert run("search", "NP ?< DT=d $+ (VP=v < VBD)", trees, "--format", "tsv").stdout == (
        "file\tdocument\tline\tsentence\tsent_id\tpattern\tstart\tend\tlabel\tprobability\tstart_char\tend_char\ttext"
        "\td\tv\n"
        f"{trees}\t1\t1\t1\t\tNP ?< DT=d $+ (VP=v < VBD)\t0\t2\tNP\t\t0\t9\tThe price\tThe\tfell\n"
        f"{trees}\t1\t2\t2\t\tNP ?< DT=d $+ (VP=v < VBD)\t0\t1\tNP\t\t0\t2\tIt\t\trose\n"
    )
    assert run("search", "DT", trees, trees, "--format", "brackets").stdout == f"{trees}:1\t(DT The)\n" * 2
    assert run("search", "DT", tmp_path, "--format", "brackets").stdout == f"{trees}:1\t(DT The)\n"
    assert run("search", "__ < __", trees, "--counts").stdout == (
        f"file\tpattern\tmatches\tmatching\ttrees\n{trees}\t__ < __\t11\t2\t2\n"
    )
    both = run("search", "NP << price", trees, "-", "--input", "trees", "--counts", text=TREES * 2).stdout
    rows = [line.replace("\tNP << price\t", "\t") for line in both.splitlines()[1:]]
    assert rows == [f"{trees}\t1\t1\t2", "<stdin>\t2\t2\t4", "total\t3\t3\t6"]


def test_cli_search_of_docs_is_that_of_their_trees(tmp_path):
    docs = tmp_path / "dev.spacy"
    run("convert", DEV, "-o", docs, "--n-sents", 3)
    of_docs, of_trees = (run("search", OF, path, "--format", "brackets").stdout for path in (docs, DEV))
    assert of_docs == of_trees
    of_docs, of_trees = (run("search", OF, path).stdout.splitlines() for path in (docs, DEV))
    assert [line[48:].partition("]")[0] for line in of_docs] == [line[48:].partition("]")[0] for line in of_trees]
    piped = run("search", "DT", tmp_path, "--counts").stdout.splitlines()[-1].split("\t")
    index = TreeIndex.from_trees(read_trees(DEV))
    assert piped == [str(docs), "DT", str(len(index.nodes("DT"))), piped[3], "100"]


def test_cli_search_parses_text(tmp_path, new_file):
    path = new_file("text.txt", "The ferry sank. It left.\n\nThe old man stayed.\n")
    rows = [line.split("\t") for line in run("search", "VP < VBD=v", path, "--format", "tsv").stdout.splitlines()]
    assert [(row[3], row[12], row[13]) for row in rows[1:]] == [
        ("1", "sank", "sank"),
        ("2", "left", "left"),
        ("3", "stayed", "stayed"),
    ]
    assert all(0.5 < float(row[9]) <= 1 for row in rows[1:])
    assert "[It]" in run("search", "NP <: PRP", "It left.").stdout
    run("search", "_ROOT_ << stayed", path, "--format", "brackets", "--model", "en", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text("utf-8").startswith("3\t(")


def test_cli_search_loads_the_model_once(new_file, monkeypatch):
    loaded = []
    monkeypatch.setattr(tree_sources, "load_pipeline", lambda model: loaded.append(model) or load_pipeline(model))
    path = new_file("text.txt", "It left.")
    found = run("search", "NP <: PRP", path, "It sank.", path, "--format", "tsv").stdout.splitlines()[1:]
    assert [row.split("\t")[0] for row in found] == [str(path), "<text>", str(path)]
    assert loaded == ["en"]


def test_cli_search_uses_head_rules_of_the_language(new_file):
    trees = new_file("nouns.mrg", "(NP (DT The) (NN stone) (NN wall))\n")

    def heads(lang: str) -> list[str]:
        found = run("search", "__ !< __ >># NP", trees, "--format", "tsv", "--lang", lang).stdout
        return [line.split("\t")[12] for line in found.splitlines()[1:]]

    assert [heads(lang) for lang in ("en", "de", "ja")] == [["wall"], ["stone"], ["wall"]]


def test_cli_search_says_where_a_pattern_is_wrong(trees):
    message = run("search", "NP < (PP", trees, code=2).stderr
    assert (
        "Error: Invalid value for PATTERN: Expected a relation such as < or $+, or ) for the ( of column 6" in message
    )
    assert message.endswith("  NP < (PP\n          ^\n")


def test_cli_search_without_a_match_says_so(trees):
    result = run("search", "NP < XX", trees)
    assert (result.stdout, result.stderr) == ("", "No match.\nNo tree has a node XX.\n")
    assert "<<# is the word as well" in run("search", "NP <# price", trees).stderr
    assert "<<#" not in run("search", "NP <<# xx", trees).stderr


def test_cli_search_of_bad_input(tmp_path, trees):
    assert "there is no file" in run("search", "NP", tmp_path / "absent.mrg", code=2).stderr
    assert "use --input trees" in run("search", "NP", "-", text=TREES, code=1).stderr
    (tmp_path / "none.spacy").write_bytes(b"no Docs")
    assert f"Error: {tmp_path / 'none.spacy'}" in run("search", "NP", tmp_path / "none.spacy", code=1).stderr


def test_cli_search_tells_the_lines_on_which_trees_begin(tmp_path, monkeypatch):
    """Read fast and in small parts, or with codes that only the slow reader takes."""
    monkeypatch.setattr(reading, "_BLOCK", 10)
    wrapped = f"\n{TREES.replace('(VP', chr(10) + '  (VP')}\n( (NP\n(NN rain))) (NP (NN snow))\n"
    for name, text in (("fast.mrg", wrapped), ("slow.mrg", wrapped.replace("(NN rain)", "(CODE x) (NN rain)"))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = json_in(run("search", "_ROOT_", tmp_path / name, "--format", "jsonl").stdout)
        assert [each["line"] for each in found] == [2, 4, 7, 8]


PATTERNS = """\
# L2SCA has several patterns of a name
subject of a clause: NP $+ VP
verb: VBD
verb: VBZ

NP < PRP
"""


def test_cli_search_takes_several_patterns(trees, tmp_path):
    (tmp_path / "patterns.txt").write_text(PATTERNS, encoding="utf-8")
    named = json_in(run("search", "--patterns", tmp_path / "patterns.txt", trees, "--format", "jsonl").stdout)
    assert [(each["sentence"], each["pattern"], each["text"]) for each in named] == [
        (1, "subject of a clause", "The price"),
        (1, "verb", "fell"),
        (2, "subject of a clause", "It"),
        (2, "verb", "rose"),
        (2, "NP < PRP", "It"),
    ]
    lines = run("search", "-e", "top: S > ROOT", "-e", "DT", trees, "--format", "brackets").stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["1", "top"], ["1", "DT"], ["2", "top"]]
    counts = run("search", "-e", "verb: VBD", "-e", "verb: VBZ", "-e", "XX", trees, "--counts").stdout.splitlines()
    assert counts[1:] == [f"{trees}\tverb\t2\t2\t2", f"{trees}\tXX\t0\t0\t2"]
    told = run("search", "-e", "XX", "-e", "DT", trees)
    assert told.stderr == "No match of XX.\nNo tree has a node XX.\n"
    assert told.stdout.endswith("price fell\tDT\n")


def test_cli_search_asks_what_is_a_pattern_and_a_file(trees, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "NP").write_text(TREES, encoding="utf-8")
    asked = stderr_of(run("search", "NP", trees, code=2))
    assert "'NP' is a file here: is it what to search for, or what to search?" in asked
    assert len(run("search", "-e", "NP", trees).stdout.splitlines()) == 2
    assert len(run("search", "-e", "DT", "NP", "--input", "trees").stdout.splitlines()) == 1
    assert "name a file, or a text, after the pattern" in stderr_of(run("search", "VP", code=2))
    (tmp_path / "empty").write_text("# nothing\n", encoding="utf-8")
    assert "there is no pattern in 'empty'" in stderr_of(run("search", "--patterns", "empty", trees, code=2))
    (tmp_path / "bad").write_text("NP\nx: NP < (PP\n", encoding="utf-8")
    assert "--patterns bad:2: Expected a relation" in stderr_of(run("search", "--patterns", "bad", trees, code=2))
