"""Pictures: what they show, that no text gets out of its place, and what they say where a library is missing."""

import re
import sys
from math import nan
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.strategies import trees as random_trees
from spacy import displacy
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_lpcfg.evaluation.calibration import reliability
from spacy_lpcfg.learning.base import Step
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.pictures import (
    calibration_figure,
    chart_figure,
    chart_svg,
    displacy_colours,
    learning_figure,
    spans_svg,
    surprisal_figure,
    surprisal_svg,
    tree_figure,
    tree_html,
    tree_svg,
    tree_text,
)
from spacy_lpcfg.pictures.boundaries import boundaries_svg
from spacy_lpcfg.pictures.chart import span_table
from spacy_lpcfg.pictures.drawing import label_colour, label_width
from spacy_lpcfg.pictures.figures import figure_png, figure_svg
from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.pictures.spans import spans_html
from spacy_lpcfg.queries.boundaries import Boundary
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.visible import visible

for library in ("nltk", "matplotlib"):
    pytest.importorskip(library, reason=f"{library} is not here: pip install 'spacy-lpcfg[viz]'")

(FLIES,) = parse_trees("(S (NP (DT The) (NN time)) (VP (VBZ is) (ADVP (RB now))))")
SVG = "{http://www.w3.org/2000/svg}"
EVIL = ["<script>alert(1)</script>", "&lt;\"'>", "\x1b[31m\x00\u202e", "$\\frac{1}$", "日本語", "_x"]


def texts(svg: str) -> list[str]:
    """The pieces of text that an SVG shows; fails unless it is well-formed XML."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def elements(svg: str) -> set[str]:
    return {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}


# Trees

(CHAIN,) = parse_trees("(S (VP (VP (NP-SBJ (NN wait)))) (. !))")


def numbers(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}tspan")]


def bars(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each label's room."""
    found = [element.attrib for element in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    places = [[float(each[name]) for name in ("x", "y", "width", "height")] for each in found]
    return [(x, y, x + width, y + height) for x, y, width, height in places]


def overlapping(rooms: list[tuple[float, float, float, float]]) -> list[tuple[int, int]]:
    return [
        (i, j)
        for j, (left, top, right, bottom) in enumerate(rooms)
        for i, other in enumerate(rooms[:j])
        if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
    ]


def test_pictures_of_trees_show_probabilities_as_shades_and_numbers():
    svg = tree_svg(FLIES, [1.0, 0.62, 0.2, float("nan")], [1.0, 0.7, 0.998, 0.5])
    assert sorted(numbers(svg)) == [".20", ".50", ".62", ".70", "1.00"]
    shades = [float(each.get("fill-opacity")) for each in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert shades[0] > shades[1] > shades[2]
    assert numbers(tree_svg(FLIES)) == []
    with pytest.raises(ValueError, match="Expected scores of 4 brackets, got 1"):
        tree_svg(FLIES, [1.0])
    with pytest.raises(ValueError, match="Expected scores of 4 tags, got 3"):
        tree_svg(FLIES, None, [1.0] * 3)


def test_pictures_of_trees_have_a_colour_for_each_kind_of_label():
    def colour(label):
        (rect,) = ElementTree.fromstring(tree_svg(Tree(label, [Tree("X", word="w")]))).iter(f"{SVG}rect")
        return rect.get("stroke")

    kinds = ["S SBAR SQ SINV", "NP NP-SBJ-1 WHNP QP", "VP CVP", "PP PP-LOC WHPP", "ADJP ADVP WHADVP", "FRAG UCP ROOT"]
    colours = [{colour(label) for label in kind.split()} for kind in kinds]
    assert [len(each) for each in colours] == [1] * 6
    assert len(set.union(*colours)) == 6


@given(random_trees(max_leaves=8), st.booleans())
def test_pictures_of_any_tree_have_no_labels_over_each_other(tree, scored):
    svg = tree_svg(tree, [0.5] * len(tree.spans()) if scored else None)
    assert overlapping(bars(svg)) == []
    width = float(ElementTree.fromstring(svg).get("width"))
    assert all(left >= 0 and right <= width for left, _, right, _ in bars(svg))


def test_pictures_of_unary_chains_stand_in_a_line():
    rooms = bars(tree_svg(CHAIN))[1:]
    assert len({round(left + right) for left, _, right, _ in rooms}) == 1
    assert [top for _, top, _, _ in rooms] == sorted({top for _, top, _, _ in rooms})


def test_pictures_of_trees_in_a_terminal():
    first, *between, last = tree_text(FLIES).splitlines()
    assert (first.strip(), last.split()) == ("S", FLIES.words)
    assert {char for line in between for char in line if not char.isascii()} == set("│┌─┐┴")
    rows = [[text for text in line.split() if text.isalpha()] for line in between]
    assert [row for row in rows if row] == [["VP"], ["NP", "ADVP"], ["DT", "NN", "VBZ", "RB"]]
    assert tree_text(FLIES, "ascii").isascii()
    assert tree_text(FLIES, "ascii").splitlines()[-1] == last


@given(random_trees(max_leaves=8))
@example(Tree("\xa0", word="0"))
def test_pictures_of_any_tree_show_all_its_text(tree):
    wanted = [visible(node.label) for node in tree.nodes()] + list(map(visible, tree.words))
    found = texts(tree_svg(tree))
    assert sorted(found) == sorted(wanted)
    drawn = tree_text(tree)
    assert all(text in drawn for text in wanted)


def test_pictures_of_trees_escape_text():
    tree = Tree("<script>", [Tree(f"{text}&", word=text) for text in EVIL])
    svg = tree_svg(tree)
    assert elements(svg) == {"svg", "style", "g", "path", "rect", "text"}
    assert {EVIL[0], f"{EVIL[0]}&", "<script>"} < set(texts(svg))
    assert svg in tree_html(tree)
    assert "<script" not in tree_html(tree)
    assert "\x1b" not in tree_text(tree) + svg
    assert "\u202e" not in tree_text(tree) + svg


def test_pictures_of_trees_that_are_too_deep_are_refused():
    tree = Tree("NN", word="w")
    for _ in range(3000):
        tree = Tree("VP", [tree])
    for draw in (tree_svg, tree_text):
        with pytest.raises(ValueError, match="A tree of 3001 levels is too deep to be drawn"):
            draw(tree)


@given(st.text())
def test_pictures_text_is_made_visible_once(text):
    assert visible(visible(text)) == visible(text)
    assert len(visible(text)) == len(text)
    ElementTree.fromstring(f"<x>{visible(text).replace('&', '').replace('<', '')}</x>")


# Spans


def test_pictures_of_displacy_have_the_colours_of_trees():
    doc = Doc(Vocab(), words=["The", "time"])
    doc.spans["constituents"] = [Span(doc, 0, 2, "NP"), Span(doc, 0, 2, "SBAR")]
    html = displacy.render(doc, style="span", options=displacy_colours(), jupyter=False)
    assert {label_colour("NP"), label_colour("SBAR")} <= {*re.findall("#[0-9a-f]{6}", html)}
    assert displacy_colours(["CNP"], "brackets") == {"spans_key": "brackets", "colors": {"CNP": label_colour("NP")}}


def test_pictures_of_spans_have_the_likely_ones_without_overlap():
    words = ["a", "b", "c"]
    brackets = {(0, 3, "S"): 1.0, (0, 1, "WHADVP"): 0.8, (0, 1, "ADVP"): 0.9, (1, 2, "WHNP"): 0.7, (1, 3, "VP"): 0.3}
    posteriors = Posteriors(brackets, [{"NN": 1.0}] * 3)
    svg = spans_svg(words, posteriors)
    assert sorted(texts(svg)) == sorted([*words, "S", "WHADVP", "ADVP", "WHNP"])
    assert sorted(numbers(svg)) == [".70", ".80", ".90", "1.00"]
    rooms = bars(svg)
    assert overlapping(rooms) == []
    for (left, _, right, _), label in zip(rooms, ["WHNP", "ADVP", "WHADVP", "S"], strict=True):
        assert right - left >= label_width(label, 0.5) - 0.1  # coordinates are rounded
    assert rooms[1][1] < rooms[2][1] < rooms[3][1]  # the outer ones below
    assert len(bars(spans_svg(words, posteriors, 0.2))) == 5
    assert spans_html(words, posteriors) == f'<div style="overflow-x: auto">{svg}</div>'


def test_pictures_of_spans_escape_text():
    svg = spans_svg(EVIL, posteriors_of(EVIL))
    assert elements(svg) == {"svg", "style", "rect", "text", "tspan"}
    assert {visible(text) for text in EVIL} < set(texts(svg))
    assert bars(spans_svg(["Go"], Posteriors({}, [{"VB": 1.0}]))) == []


def test_pictures_of_boundaries_are_longer_where_the_level_is_higher():
    boundaries = [Boundary(1, 3), Boundary(), Boundary(4, 12)]
    svg = boundaries_svg(["Rain", EVIL[0], "fell"], boundaries)
    assert texts(svg) == ["Rain", "3", visible(EVIL[0]), "fell", "12"]
    heights = [bottom - top for _, top, _, bottom in bars(svg)]
    assert heights == [9, 36]


# Charts


def posteriors_of(words: list[str]) -> Posteriors:
    n = len(words)
    brackets = {(0, n, "S"): 1.0, (0, 2, "<b>"): 0.8, (0, 2, "X"): 0.15, (2, n, "VP"): 0.62, (n - 1, n, "Y"): 0.05}
    return Posteriors(brackets, [{"NN": 0.4, "<i>": 0.6} for _ in words])


def test_pictures_of_charts_have_the_likeliest_bracket_of_each_span():
    table = span_table(4, Posteriors({(0, 4, "S"): 0.9, (0, 4, "X"): 0.3, (1, 2, "NP"): 0.2}, [{}] * 4))
    assert table[0, 3] == 0.9
    assert table[1, 1] == 0.2
    assert np.isnan(table[np.tri(4, k=-1, dtype=bool)]).all()
    assert np.nansum(table) == pytest.approx(1.1)


def test_pictures_of_charts_name_words_tags_and_likely_labels():
    found = texts(figure_svg(chart_figure(["It", "is", "a", "test"], posteriors_of(["It", "is", "a", "test"]))))
    assert {"It", "is", "a", "test", "S 1.00", "<b> .80", "X .15", "VP .62", "<i>"} <= set(found)
    assert not any(text.startswith("Y") for text in found)


def test_pictures_of_charts_are_drawn_in_seconds_or_refused():
    """The heat map is kept as it is, a point a cell, and not as large as it is shown."""
    words = ["go"] * 150
    posteriors = Posteriors({(i, i + 2, "NP"): 0.7 for i in range(149)}, [{"VB": 1.0}] * 150)
    svg = figure_svg(chart_figure(words, posteriors))
    sizes = re.findall(r'<image[^>]* width="(\d+)', svg)
    assert "150" in sizes
    for draw in (chart_figure, chart_svg):
        with pytest.raises(ValueError, match="at most 400 words, but a sentence has 3,000: choose others"):
            draw(words * 20, Posteriors({}, [{"VB": 1.0}] * 3000))
        with pytest.raises(ValueError, match="Expected posteriors of 2 words, got those of 4"):
            draw(["It", "is"], posteriors_of(["It", "is", "a", "test"]))


def test_pictures_of_long_sentences_and_of_one_word():
    words = ["word"] * 31
    assert "S 1.00" not in texts(figure_svg(chart_figure(words, posteriors_of(words))))
    assert "Go" in texts(figure_svg(chart_figure(["Go"], Posteriors({}, [{"VB": 1.0}]))))


@pytest.mark.filterwarnings("error")
def test_pictures_of_charts_as_svg_have_what_figures_have():
    words = ["It", "is", "a", "test"]
    svg = chart_svg(words, posteriors_of(words))
    assert {*words, "S 1.00", "posterior probability"} <= set(texts(svg))
    assert svg.count("<rect ") == 10
    assert "S 1.00" not in texts(chart_svg(["a"] * 40, posteriors_of(["a"] * 40)))


def test_pictures_of_surprisal_as_svg_have_a_bar_and_a_number_for_each_word():
    svg = surprisal_svg(["It", "is", "so"], [3.5, np.nan, np.inf, 1.25])
    assert [text for text in texts(svg) if text not in ("It", "is", "so", "(end)", "surprisal (bits)")] == [
        "3.5",
        "?",
        "\N{INFINITY}",
        "1.2",
    ]
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" fill="', svg)]
    assert heights == [180.0, 0.0, 0.0, pytest.approx(180 * 1.25 / 3.5, abs=0.1)]
    with pytest.raises(ValueError, match="Expected bits of 1 words and of the sentence's end, got 1 numbers"):
        surprisal_svg(["It"], [1.0])


def test_pictures_as_svg_escape_text():
    for svg in (chart_svg(EVIL, posteriors_of(EVIL)), surprisal_svg(EVIL, range(len(EVIL) + 1))):
        assert elements(svg) <= {"svg", "style", "rect", "text", "title"}
        assert EVIL[0] in texts(svg)
        assert "<script" not in svg


def test_pictures_of_trees_in_a_terminal_have_wide_characters_and_long_labels():
    tree, *_ = parse_trees("(S (NP (NN \u65e5\u672c)) (VERYLONGLABEL (X (V a))) (VP (V e\u0301t) (ADVP (RB oui))))")
    assert tree_text(tree).splitlines() == [
        "           S",
        " ┌─────────┼─────────┐",
        " │   VERYLONGLABEL   VP",
        " │         │       ┌─┴─┐",
        " NP        X       │  ADVP",
        " │         │       │   │",
        " NN        V       V   RB",
        " │         │       │   │",
        "日本       a       ét oui",
    ]


def test_pictures_of_figures_escape_text_and_take_no_mathematics():
    figures = [
        chart_figure(EVIL, posteriors_of(EVIL)),
        surprisal_figure(EVIL, range(len(EVIL) + 1)),
        learning_figure({text: [{"iteration": 1, "f1": 80.0}] for text in EVIL}),
    ]
    for figure in figures:
        svg = figure_svg(figure)
        assert "script" not in elements(svg)
        assert {visible(text) for text in EVIL} <= set(texts(svg))


def test_pictures_of_figures_are_the_same_each_time():
    words = ["It", "is", "a", "test"]
    one, two = (figure_svg(chart_figure(words, posteriors_of(words))) for _ in range(2))
    assert one == two


def test_pictures_of_figures_suit_a_dark_background():
    for figure in (surprisal_figure(["It"], [1, 2]), chart_figure(["a"] * 4, posteriors_of(["a"] * 4))):
        svg = figure_svg(figure)
        assert svg.startswith('<svg fill="currentColor"')
        assert "prefers-color-scheme: dark" in svg
        assert "#000000" not in svg
        assert not re.search(r'style="fill: #ffffff(?!; opacity: 0)', svg)


# Curves


def test_pictures_of_surprisal_have_a_bar_for_each_word_and_the_end():
    figure = surprisal_figure(["It", "is"], [3.5, np.nan, 1.25])
    assert [bar.get_height() for bar in figure.axes[0].patches] == [3.5, 0.0, 1.25]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["It", "is", "(end)"]
    assert [bar.get_height() for bar in surprisal_figure([","], [3.5, np.inf]).axes[0].patches] == [3.5, 0.0]
    with pytest.raises(ValueError, match="bits of 2 words and of the sentence's end, got 2 numbers"):
        surprisal_figure(["It", "is"], [3.5, 1.0])


def test_pictures_of_learning_have_a_curve_for_each_fit_and_network():
    em = [Step(1, -50.0, float("nan"), 1.0), Step(2, -40.0, 80.0, 1.0), Step(3, -39.0, 81.0, 1.0)]
    pivot = [{"iteration": 0, "log_likelihood": None, "f1": 83.0, "seconds": 1.0}]
    likelihood, f1 = learning_figure({"em": em, "pivot": pivot}).axes
    assert likelihood.lines[0].get_color() == f1.lines[0].get_color() != f1.lines[1].get_color()
    assert [line.get_xydata().tolist() for line in likelihood.lines] == [[[1, -50], [2, -40], [3, -39]]]
    assert [line.get_xydata().tolist() for line in f1.lines] == [[[2, 80], [3, 81]], [[0, 83]]]
    assert [text.get_text() for text in f1.get_legend().get_texts()] == ["em", "pivot"]
    isbn = [{"network": k, "epoch": e, "log_likelihood": -7.0 / e, "dev": -8.0 / e} for k in (1, 2) for e in (1, 2, 3)]
    _, dev = learning_figure({"isbn": isbn}).axes
    assert [text.get_text() for text in dev.get_legend().get_texts()] == ["isbn, network 1", "isbn, network 2"]
    assert [len(line.get_xdata()) for line in dev.lines] == [3, 3]


@pytest.mark.parametrize("fits", [{}, {"em": []}, {"em": [{"iteration": 1, "f1": None}]}, {"x": [{"f1": 1.0}]}])
def test_pictures_of_learning_need_steps(fits):
    with pytest.raises(ValueError, match="Nothing to draw"):
        learning_figure(fits)


# Calibration


def test_pictures_of_calibration_show_the_curve():
    curve = reliability(np.array([0.2, 0.9, 0.9]), np.array([False, True, False]))
    figure = calibration_figure(curve)
    above, below = figure.axes
    assert above.lines[1].get_xydata() == pytest.approx(np.array([[0.2, 0.0], [0.9, 0.5]]))
    assert [bar.get_height() for bar in below.patches] == [1, 2]
    assert "3 brackets, calibration error 0.333" in texts(figure_svg(figure))
    with pytest.raises(ValueError, match="there are no brackets"):
        calibration_figure(reliability(np.zeros(0), np.zeros(0, dtype=bool)))


# Pages, and what is missing


def test_pictures_pages_escape_what_is_text():
    page = html_page("<b>title", [("<script>caption", "<svg></svg>")])
    assert "<title>&lt;b&gt;title</title>" in page
    assert "<h2>&lt;script&gt;caption</h2>\n<svg></svg>" in page


@pytest.mark.parametrize(("module", "draw"), [("matplotlib.figure", lambda: surprisal_figure(["It"], [1.0, 1.0]))])
def test_pictures_say_what_to_install(monkeypatch, module, draw):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'needs {module.split(".")[0]}, which.* "spacy-lpcfg\[viz\]"'):
        draw()


def test_tree_figure_has_all_nodes_above_the_middle_of_their_children():
    (axes,) = tree_figure(FLIES).axes
    found = sorted(text.get_text() for text in axes.texts)
    assert found == sorted(["S", "NP", "DT", "NN", "VP", "VBZ", "ADVP", "RB", *FLIES.words])
    by_text = {text.get_text(): text.get_position() for text in axes.texts}
    assert by_text["NP"][0] == pytest.approx((by_text["DT"][0] + by_text["NN"][0]) / 2)
    assert by_text["NP"][1] > by_text["S"][1]
    assert len(axes.lines) == sum(1 for _ in FLIES.nodes()) - 1
    assert figure_png(tree_figure(FLIES)).startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize("scores", [(), ([0.9, 0.25, nan, 1.0], [0.5, 1.0, 0.75, 0.999])])
def test_tree_figure_has_the_colours_and_probabilities_of_the_svg(scores):
    from matplotlib.colors import to_hex

    (axes,) = tree_figure(FLIES, *scores).axes
    svg = ElementTree.fromstring(tree_svg(FLIES, *scores))
    wanted = [(rect.get("fill"), float(rect.get("fill-opacity"))) for rect in svg.iter(f"{SVG}rect")]
    filled = [patch for patch in axes.patches if patch.get_alpha() is not None]
    found = [(to_hex(patch.get_facecolor()), round(patch.get_alpha(), 2)) for patch in filled]
    assert sorted(found) == sorted(wanted)
    pieces = [piece for text in svg.iter(f"{SVG}text") for piece in text.itertext()]
    assert sorted(text.get_text() for text in axes.texts) == sorted(pieces)
    with pytest.raises(ValueError, match="Expected scores of 4 brackets, got 1"):
        tree_figure(FLIES, [0.5])
