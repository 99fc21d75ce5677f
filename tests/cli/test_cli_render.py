"""`spacy-lpcfg render`: pictures of treebanks and of what models think, as a user asks for them."""

from __future__ import annotations

import gzip
import re
from xml.etree import ElementTree

import pytest
from commands import run, sample_part, stderr_of

from spacy_lpcfg.pictures import tree_text
from spacy_lpcfg.trees import normalize, parse_trees, read_trees, to_latex

TREES = "(S (NP (DT The) (NN ferry)) (VP (VBD left)))\n( (S (NP (PRP It)) (VP (VBZ <script>))))\n"
TEXT = "The ferry left. It was <script>late</script>."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("render")
    sample_part(folder / "dev.mrg", "dev", 5)
    (folder / "trees.mrg").write_text(TREES, encoding="utf-8")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    train = sample_part(folder / "train.mrg", "train", 200)
    options = ("--method", "em", "--set", "n_states=1", "--dev", folder / "dev.mrg")
    run("learn", "parser", train, *options, "-o", folder / "em")
    return folder / "em"


def texts(svg: str) -> set[str]:
    return {element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}


# Trees of files


def test_cli_render_trees_as_text(folder):
    trees = list(read_trees(folder / "dev.mrg"))
    assert run("render", folder / "dev.mrg").stdout == "\n".join(f"{tree_text(tree)}\n" for tree in trees)
    assert run("render", folder / "dev.mrg", "--sentence", 3).stdout == f"{tree_text(trees[2])}\n"
    (tree,) = parse_trees("(S (NP (PRP It)) (VP (VBZ <script>)))")  # without the bracket that has no label
    assert run("render", folder / "trees.mrg", "--sentence", 2).stdout == f"{tree_text(tree)}\n"
    for name in ("trees.spacy", "trees.jsonl"):
        run("convert", folder / "trees.mrg", "-o", folder / name)
        assert run("render", folder / name, "--sentence", 2).stdout == f"{tree_text(tree)}\n"
    assert "text has no trees" in run("render", folder / "trees.mrg", "--input", "text", code=2).stderr
    drawn = run("render", "-", "--format", "ascii", text=TREES).stdout
    assert drawn.isascii()
    assert "The" in drawn


def test_cli_render_takes_the_format_of_the_output(folder, tmp_path):
    with gzip.open(tmp_path / "trees.mrg.gz", "wt", encoding="utf-8") as file:
        file.write(TREES)
    run("render", tmp_path / "trees.mrg.gz", "--sentence", 2, "-o", tmp_path / "tree.svg")
    assert texts((tmp_path / "tree.svg").read_text("utf-8")) == {"S", "NP", "VP", "PRP", "VBZ", "It", "<script>"}
    run("render", folder / "trees.mrg", "-o", tmp_path / "trees.html")
    page = (tmp_path / "trees.html").read_text("utf-8")
    assert "<h2>The ferry left</h2>" in page
    assert "<h2>It &lt;script&gt;</h2>" in page
    assert "<script" not in page
    assert page.count("</section>") == 2
    run("render", folder / "trees.mrg", "-o", tmp_path / "trees.txt")
    assert (tmp_path / "trees.txt").read_text("utf-8") == run("render", folder / "trees.mrg").stdout


def test_cli_render_latex(folder, tmp_path):
    trees = list(read_trees(folder / "dev.mrg"))
    run("render", folder / "dev.mrg", "-o", tmp_path / "trees.tex")
    expected = "\n\n".join(to_latex(tree) for tree in trees) + "\n"
    assert (tmp_path / "trees.tex").read_text("utf-8") == expected
    run("render", folder / "dev.mrg", "--sentence", 2, "--format", "qtree", "-o", tmp_path / "tree.tex")
    assert (tmp_path / "tree.tex").read_text("utf-8") == f"{to_latex(trees[1], 'qtree')}\n"
    run("render", folder / "dev.mrg", "--format", "forest", "-o", tmp_path / "tree.svg", code=2)


def test_cli_render_puts_one_picture_into_an_svg(folder, tmp_path):
    result = run("render", folder / "trees.mrg", "-o", tmp_path / "trees.svg", code=1)
    assert "choose it by --sentence" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert (
        "there are 2 sentences, and no sentence 3"
        in run("render", folder / "trees.mrg", "--sentence", 3, code=1).stderr
    )


def test_cli_render_names_the_place_of_a_broken_tree(tmp_path):
    (tmp_path / "broken.mrg").write_text(TREES + "(S (NP", encoding="utf-8")
    result = run("render", tmp_path / "broken.mrg", "-o", tmp_path / "trees.html", code=1)
    assert "broken.mrg:3" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["broken.mrg"]
    (tmp_path / "empty.mrg").write_text("", encoding="utf-8")
    assert "expected bracketed trees" in run("render", tmp_path / "empty.mrg", code=1).stderr


# Pipelines


def test_cli_render_trees_of_text(model, folder, tmp_path):
    parsed = map(normalize, parse_trees(run("parse", model, folder / "text.txt").stdout))
    assert run("render", model, folder / "text.txt").stdout == "\n".join(f"{tree_text(tree)}\n" for tree in parsed)
    run("render", model, "-", "-o", tmp_path / "trees.html", text=TEXT)
    page = (tmp_path / "trees.html").read_text("utf-8")
    assert "<h2>The ferry left.</h2>" in page
    assert "<h2>It was &lt;script&gt;late&lt;/script&gt;.</h2>" in page
    assert "<script" not in page


def test_cli_render_what_a_model_thinks_of_a_sentence(model, folder):
    first = ("--sentence", 1)
    chart = texts(run("render", model, folder / "text.txt", "-p", "chart", *first).stdout)
    assert {"The", "ferry", "left", ".", "NN", "posterior probability"} <= chart
    assert any(re.fullmatch(r"NP (\.\d\d|1\.00)", text) for text in chart)
    bits = texts(run("render", model, folder / "text.txt", "-p", "surprisal", *first).stdout)
    assert {"The", "ferry", "left", ".", "(end)", "surprisal (bits)"} <= bits
    spans = run("render", model, folder / "text.txt", "-p", "spans", *first).stdout
    assert re.search(r">NP<tspan [^>]*>(1\.00|\.\d\d)</tspan>", spans)
    assert "<script" not in spans


def test_cli_render_takes_any_input_and_any_model(model, folder, bracketer_model):
    first = ("--sentence", 1)
    (tree,) = parse_trees(run("parse", model, folder / "dev.mrg", "--input", "trees").stdout.splitlines()[0])
    assert (
        run("render", model, folder / "dev.mrg", "--input", "trees", *first).stdout == f"{tree_text(normalize(tree))}\n"
    )
    tagged = ("render", bracketer_model, "-")
    assert run(*tagged, text="The/DT ferry/NN left/VBD").stdout.split()[-3:] == ["The", "ferry", "left"]
    result = run(*tagged, "-p", "chart", text="The/DT ferry/NN left/VBD", code=1)
    assert "'spectral_bracketer' has no posteriors" in result.stderr


def test_cli_render_calibration_on_a_treebank(model, folder):
    shown = texts(run("render", model, folder / "dev.mrg", "-p", "calibration").stdout)
    assert any(re.fullmatch(r"[\d,]+ brackets, calibration error 0\.\d{3}", text) for text in shown)
    (folder / "none.mrg").write_text("\n", encoding="utf-8")
    assert "No trees" in run("render", model, folder / "none.mrg", "-p", "calibration", code=1).stderr


def test_cli_render_how_a_model_was_learned(model, folder):
    shown = texts(run("render", model, "-p", "learning").stdout)
    assert {"em", "log-likelihood (nats)", "F1 on held-out trees", "iteration"} <= shown
    run("learn", "parser", folder / "train.mrg", "--method", "pcfg", "-o", folder / "pcfg")
    assert "Nothing to draw" in run("render", folder / "pcfg", "-p", "learning", code=1).stderr


# What goes wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("trees.mrg", "-p", "chart"), "for chart name a pipeline first"),
        (("trees.mrg", "text.txt"), "name a pipeline first"),
        (
            ("em", "text.txt", "-p", "surprisal", "--format", "text"),
            "Expected a format, got 'text'",
        ),
        (("em",), "a picture of tree by a pipeline takes a FILE"),
        (("em", "text.txt", "-p", "learning"), "takes no FILE"),
        (("em", "absent.txt"), "there is no file"),
        (("absent.mrg",), "'absent.mrg' is no file, and a picture of tree by a pipeline takes a FILE"),
        (("trees.mrg", "-o", "absent/tree.html"), "there is no folder"),
    ],
)
def test_cli_render_wrong_usage_is_code_2(model, folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    assert message in stderr_of(run("render", *arguments, code=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "x.jpg"), "should end in .txt, .svg, .html, .htm or .tex, or --format say what it is"),
        (("-o", "x.html", "--format", "svg"), "is no name for svg"),
        (("-o", "x.svg", "--format", "ascii"), "is no name for ascii"),
        (("-o", "x.txt", "-p", "spans"), "should end in .svg, .html or .htm"),
    ],
)
def test_cli_render_refuses_endings_of_other_formats(model, folder, monkeypatch, options, message):
    monkeypatch.chdir(folder)
    assert message in stderr_of(run("render", model, "It rained.", *options, code=2))
    assert not list(folder.glob("x.*"))
    run("render", "trees.mrg", "-o", "x.jpg", "--format", "text")
    run("render", "trees.mrg", "-o", "x.txt", "--format", "ascii")
    for path in folder.glob("x.*"):
        path.unlink()
