"""Text on the command line, a MODEL that comes with the package, and names of files that are not there."""

from __future__ import annotations

import json
import sys

import pytest
import spacy
from commands import BROKEN, SAMPLE, run, stderr_of

from spacy_lpcfg.components.cli.shared import runs
from spacy_lpcfg.components.cli.shared.files import is_text, looks_like_path
from spacy_lpcfg.models import pretrained_names
from spacy_lpcfg.models.loading import pretrained_model
from spacy_lpcfg.trees import parse_trees, write_trees

FERRY = "The old ferry was sold."


@pytest.fixture(scope="module")
def english():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe("lpcfg_parser")
    return nlp


def test_cli_parses_a_text_by_the_grammar_that_comes_with_the_package(english):
    (node,) = english(FERRY)._.constituency
    result = run("parse", "en", FERRY)
    assert result.stdout == f"{node.bracketed}\n" == run("parse", "en", "-", text=FERRY).stdout
    assert result.stderr == ""
    assert [line.split("\t")[6] for line in run("surprisal", "en", "It rained.").stdout.splitlines()[1:]] == [
        "It", "rained", ".", "</s>",
    ]  # fmt: skip
    assert len(run("sample", "en", FERRY, "-n", 2).stdout.splitlines()) == 3
    assert len(run("sample", "en", "-n", 2).stdout.splitlines()) == 2
    assert "ferry" in run("render", "en", FERRY, "--format", "ascii").stdout


def test_cli_text_is_of_any_kind_but_docs(pcfg_model):
    assert run("parse", pcfg_model, "I/PRP saw/VBD her/PRP", "--input", "tagged").stdout == (
        run("parse", pcfg_model, "(X (PRP I) (VBD saw) (PRP her))", "--input", "trees", "--tags", "given").stdout
    )
    assert len(run("parse", pcfg_model, "It rained.\nIt stopped.").stdout.splitlines()) == 2
    assert "a text holds no Docs" in run("parse", pcfg_model, FERRY, "--input", "spacy", code=2).stderr
    assert "<text>:1: Expected word/TAG" in run("parse", pcfg_model, "I/PRP saw", "--input", "tagged", code=1).stderr
    assert "<text>: there is nothing to parse in it" in run("parse", pcfg_model, " ", code=1).stderr


def test_cli_tells_files_from_texts(tmp_path, monkeypatch, pcfg_model):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "It rained").write_text("Go home.", encoding="utf-8")
    assert "home" in run("parse", pcfg_model, "It rained").stdout  # a file is a file
    for path in ("absent.txt", "absent/text", "C:\\absent", "dev.mrg"):
        assert is_text(path)
        assert looks_like_path(path)
        error = stderr_of(run("parse", pcfg_model, path, code=2))
        assert f"there is no file {path!r}; if it is a text, give it by stdin, as -" in error
    hint = "it is taken for a text"
    for text in ("Hello", "Look at dev.mrg"):
        assert hint in run("parse", pcfg_model, text).stderr
    for text in ("Hello there", "It cost 3.50 or so.", "a" * 300 + " b"):
        assert hint not in run("parse", pcfg_model, text).stderr
    assert "several files need a folder" in stderr_of(run("parse", pcfg_model, str(tmp_path), code=2))
    assert "not UTF-8" in run("parse", pcfg_model, "caf\udce9 au lait", code=2).stderr


@pytest.mark.parametrize("command", ["parse", "surprisal", "sample", "render"])
def test_cli_takes_treebanks_for_trees(command, tmp_path, pcfg_model):
    tree = "(S (NP (DT The) (NN ferry)) (VP (VBD left)))"
    for name in ("dev.mrg", "dev.mrg.gz", "dev.parsed", "dev.ptb"):
        write_trees(tmp_path / name, parse_trees(tree))
    (tmp_path / "dev.txt").write_text(f"\n( {tree})\n", encoding="utf-8")
    wanted = run(command, pcfg_model, tmp_path / "dev.txt", "--input", "trees").stdout
    for name in ("dev.mrg", "dev.mrg.gz", "dev.parsed", "dev.ptb"):
        assert run(command, pcfg_model, tmp_path / name).stdout == wanted.replace("dev.txt\t1\t2", f"{name}\t1\t1")
    for file, name in ((tmp_path / "dev.txt", tmp_path / "dev.txt"), (tree, "<text>"), ("-", "<stdin>")):
        failed = run(command, pcfg_model, file, text=tree, code=1)
        assert f"Error: {name} holds bracketed trees: use --input trees, or --input text to" in failed.stderr
        assert failed.stdout == ""


def test_cli_takes_brackets_in_text_for_words():
    assert "(-LRB- -LRB-)" in run("parse", "en", "(S (UH Yes))", "--input", "text").stdout
    for text in ("(It rained.)", "(It rained all day.) (We left.)", "(Laughs) Go home!", "It (the ferry) left."):
        assert run("parse", "en", text).stdout


@pytest.mark.parametrize("command", ["surprisal", "parse --format tsv", "parse --format tsv --n-best 2"])
def test_cli_prints_no_header_over_nothing(command, pcfg_model):
    for text in ("", " "):
        failed = run(*command.split(), pcfg_model, text, code=1)
        assert failed.stdout == ""
        assert "Error: <text>: there is nothing to parse in it" in failed.stderr


@pytest.mark.parametrize("command", ["parse", "surprisal", "calibrate"])
def test_cli_says_that_a_model_comes_first(command, tmp_path):
    for first in (FERRY, "dev.mrg"):
        message = stderr_of(run(command, first, code=2))
        assert "Missing argument '" in message
        assert f"{first!r} stands where a MODEL is expected, which comes first, such as en." in message
    for first in ("en", tmp_path):
        assert "MODEL is expected" not in run(command, first, code=2).stderr


def test_cli_says_what_is_no_model():
    names = ", ".join(pretrained_names())
    assert f"there is no MODEL {FERRY!r}: expected {names}, a folder" in run("sample", FERRY, code=1).stderr
    assert "did you mean" not in run("parse", "de", "Hallo Welt", code=1).stderr
    for name in ("enn", "en_core_web_xs"):
        assert "an installed package; did you mean en?" in run("parse", name, "Hello!", code=1).stderr
    message = stderr_of(run("render", FERRY, code=2))
    assert "takes a FILE after its MODEL, such as en" in message


def test_cli_evaluates_a_model(tmp_path, pcfg_model):
    dev = SAMPLE / "dev.mrg"
    run("parse", pcfg_model, dev, "--input", "trees", "-o", tmp_path / "dev.parsed")
    run("convert", dev, "-o", tmp_path / "dev.spacy")
    expected = run("evaluate", dev, tmp_path / "dev.parsed").stdout
    assert run("evaluate", pcfg_model, dev).stdout == expected
    assert run("evaluate", pcfg_model, tmp_path / "dev.spacy").stdout == expected
    assert "there is no file or folder 'absent.mrg'" in run("evaluate", "absent.mrg", dev, code=2).stderr
    assert "is no pipeline" in run("evaluate", tmp_path, dev, code=1).stderr


SKIPS = {  # which leave out broken trees if told
    "learn parser": ("learn", "parser", "{broken}", "--method", "pcfg", "-o", "{out}"),
    "learn bracketer": ("learn", "bracketer", "{broken}", "--set", "variant=paper", "-o", "{out}"),
    "convert": ("convert", "{broken}", "-o", "{out}.spacy"),
    "complexity": ("complexity", "{broken}"),
    "search": ("search", "DT", "{broken}", "--format", "brackets"),
    "edit": ("edit", "{broken}", "{rules}"),
}
SKIP_HINT = "Or use --skip-bad, which leaves out broken trees"


@pytest.mark.parametrize("name", SKIPS)
def test_cli_names_broken_trees_or_skips_and_counts_them(name, tmp_path):
    broken, rules, out = tmp_path / "broken.mrg", tmp_path / "rules.tsurgeon", tmp_path / "out"
    broken.write_text(BROKEN + (SAMPLE / "dev.mrg").read_text("utf-8") + BROKEN, encoding="utf-8")
    rules.write_text("SBARQ=x\n\nrelabel x S\n", encoding="utf-8")
    command = [part.format(broken=broken, rules=rules, out=out) for part in SKIPS[name]]
    refused = run(*command, code=1).stderr
    assert f"{broken}:1: Expected" in refused
    assert SKIP_HINT in refused
    assert not out.exists()
    skipped = run(*command, "--skip-bad").stderr
    assert f"2 broken trees were skipped, the first at {broken}:1" in skipped
    assert SKIP_HINT not in skipped


def test_cli_suggests_to_skip_broken_trees_only_where_that_can_be(tmp_path, new_file):
    broken = new_file("broken.mrg", BROKEN)
    for command in (
        ("learn", "parser", broken, "-o", tmp_path / "out"),
        ("convert", broken, "-o", tmp_path / "out.mrg"),
    ):
        assert SKIP_HINT not in run(*command, "--skip-bad", code=1).stderr
    assert SKIP_HINT not in run("evaluate", broken, broken, code=1).stderr
    broken.write_bytes(b"(S (NN caf\xe9))")  # which is no UTF-8, and cannot be skipped
    assert SKIP_HINT not in run("learn", "parser", broken, "-o", tmp_path / "out", code=1).stderr


def test_cli_parse_says_how_much_is_left_of_a_file(tmp_path, new_file, monkeypatch, pcfg_model):
    totals: list[int | None] = []
    command = sys.modules["spacy_lpcfg.components.cli.parse"]
    monkeypatch.setattr(command, "progress", lambda found, *_, total, **__: totals.append(total) or found)
    text = new_file("text", "It rained.\n\nIt stopped.\n")
    run("parse", pcfg_model, text)
    monkeypatch.setattr(runs, "_is_watched", lambda: True)
    run("parse", pcfg_model, text, "-o", tmp_path / "out")
    run("parse", pcfg_model, SAMPLE / "dev.mrg", "--input", "trees", "-o", tmp_path / "out.mrg")
    run("parse", pcfg_model, "-", "-o", tmp_path / "third", text="Go.")
    assert totals == [None, 2, 100, None]


def test_cli_tells_surprisal_by_a_language_model(language_model):
    words = spacy.load(language_model).get_pipe("language_model").learned.vocabulary.words[2:5]
    text = " ".join(words)
    nlp = spacy.load(language_model)
    lines = run("surprisal", language_model, text, "--input", "tokens").stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    bits = nlp.get_pipe("language_model").surprisal(words)
    assert [row[6] for row in rows[1:]] == [*words, "</s>"]
    assert [row[7] for row in rows[1:]] == [f"{each:.4f}" for each in bits]
    unknown = json.loads(run("surprisal", language_model, f"{words[1]} zzz", "--format", "jsonl").stdout)
    assert unknown["bits"][1] is None
    assert "or spectral_bracketer that has learned" in run("parse", language_model, text, code=1).stderr


# Choices that there are not


def test_cli_learn_says_what_comes_before_a_file():
    message = stderr_of(run("learn", "train.mrg", "-o", "model", code=2))
    assert "one of parser, bracketer, unsupervised, " in message
    assert "lm: `spacy-lpcfg learn parser train.mrg` learns a grammar" in message
    assert "learn parser" not in run("learn", "train", code=2).stderr


def test_cli_parse_lists_the_decodings_of_the_model_alone():
    message = stderr_of(run("parse", "en", "It rained.", "--set", "decoding=nonsense", code=2))
    decodings = ", ".join(pretrained_model("en").decodings)
    assert f"--set: Expected decoding to be one of {decodings} for this model, got 'nonsense'" in message
    message = stderr_of(run("parse", "en", "It rained.", "--set", "tags=given", code=2))
    assert "--set: expected --tags in place of tags" in message
