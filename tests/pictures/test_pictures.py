"""Pictures: what they show, and that no text gets out of its place."""

import re
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
    calibration_svg,
    chart_svg,
    displacy_colours,
    learning_svg,
    spans_svg,
    surprisal_svg,
    tree_html,
    tree_svg,
    tree_text,
)
from spacy_lpcfg.pictures.boundaries import boundaries_svg
from spacy_lpcfg.pictures.chart import span_table
from spacy_lpcfg.pictures.drawing import label_colour, label_width, scrolling, svg_element
from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.pictures.plots import Axis
from spacy_lpcfg.pictures.spans import spans_html
from spacy_lpcfg.queries.boundaries import Boundary
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.visible import visible

(FLIES,) = parse_trees("(S (NP (DT The) (NN time)) (VP (VBZ is) (ADVP (RB now))))")
SVG = "{http://www.w3.org/2000/svg}"
EVIL = ["<script>alert(1)</script>", "&lt;\"'>", "\x1b[31m\x00\u202e", "$\\frac{1}$", "日本語", "_x"]


def xml_of(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    """The pieces of text that an SVG shows; fails unless it is well-formed XML."""
    return [element.text or "" for element in xml_of(svg).iter(f"{SVG}text")]


# Trees

(CHAIN,) = parse_trees("(S (VP (VP (NP-SBJ (NN wait)))) (. !))")


def numbers(svg: str) -> list[str]:
    return [element.text or "" for element in xml_of(svg).iter(f"{SVG}tspan")]


def bars(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each label's room."""
    found = [element.attrib for element in xml_of(svg).iter(f"{SVG}rect")]
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
    shades = [float(each.get("fill-opacity")) for each in xml_of(svg).iter(f"{SVG}rect")]
    assert shades[0] > shades[1] > shades[2]
    assert numbers(tree_svg(FLIES)) == []
    with pytest.raises(ValueError, match="Expected scores of 4 brackets, got 1"):
        tree_svg(FLIES, [1.0])
    with pytest.raises(ValueError, match="Expected scores of 4 tags, got 3"):
        tree_svg(FLIES, None, [1.0] * 3)


def test_pictures_of_trees_have_a_colour_for_each_kind_of_label():
    def colour(label):
        (rect,) = xml_of(tree_svg(Tree(label, [Tree("X", word="w")]))).iter(f"{SVG}rect")
        return rect.get("stroke")

    kinds = ["S SBAR SQ SINV", "NP NP-SBJ-1 WHNP QP", "VP CVP", "PP PP-LOC WHPP", "ADJP ADVP WHADVP", "FRAG UCP ROOT"]
    colours = [{colour(label) for label in kind.split()} for kind in kinds]
    assert [len(each) for each in colours] == [1] * 6
    assert len(set.union(*colours)) == 6


@given(random_trees(max_leaves=8), st.booleans())
def test_pictures_of_any_tree_have_no_labels_over_each_other(tree, scored):
    svg = tree_svg(tree, [0.5] * len(tree.spans()) if scored else None)
    assert overlapping(bars(svg)) == []
    width = float(xml_of(svg).get("width"))
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
    with pytest.raises(ValueError, match="Expected a kind of lines, got 'Unicode'"):
        tree_text(FLIES, "Unicode")


@given(random_trees(max_leaves=8))
@example(Tree("\xa0", word="0"))
def test_pictures_of_any_tree_show_all_its_text(tree):
    wanted = [visible(node.label) for node in tree.nodes()] + list(map(visible, tree.words))
    found = texts(tree_svg(tree))
    assert sorted(found) == sorted(wanted)
    drawn = tree_text(tree)
    assert all(text in drawn for text in wanted)


def drawn_evil() -> dict[str, str]:
    """Pictures of the texts of EVIL."""
    tree, posteriors = Tree("<script>", [Tree(f"{text}&", word=text) for text in EVIL]), posteriors_of(EVIL)
    bits, boundaries = range(len(EVIL) + 1), [Boundary(1, 3)] * len(EVIL)
    return {
        "tree": tree_svg(tree), "spans": spans_svg(EVIL, posteriors), "chart": chart_svg(EVIL, posteriors),
        "surprisal": surprisal_svg(EVIL, bits), "boundaries": boundaries_svg(EVIL, boundaries),
        "learning": learning_svg({text: [{"iteration": 1, "f1": 80.0}] for text in EVIL}),
    }  # fmt: skip


def test_pictures_escape_text():
    for name, svg in drawn_evil().items():
        assert "<script" not in svg, name
        assert "\x1b" not in svg, name
        assert "\u202e" not in svg, name
        assert {visible(text) for text in EVIL} <= set(texts(svg)), name
    tree = Tree("S", [Tree("<b>", word=text) for text in EVIL])
    assert not {"\x1b", "\u202e"} & set(tree_text(tree))


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
    assert spans_html(words, posteriors).endswith(f">{svg}</div>")


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
    found = texts(chart_svg(["It", "is", "a", "test"], posteriors_of(["It", "is", "a", "test"])))
    assert {"It", "is", "a", "test", "S 1.00", "<b> .80", "X .15", "VP .62", "<i>"} <= set(found)
    assert not any(text.startswith("Y") for text in found)


def test_pictures_of_charts_refuse_long_sentences():
    with pytest.raises(ValueError, match="at most 400 words, but a sentence has 3,000: choose others"):
        chart_svg(["go"] * 3000, Posteriors({}, [{"VB": 1.0}] * 3000))
    with pytest.raises(ValueError, match="Expected posteriors of 2 words, got those of 4"):
        chart_svg(["It", "is"], posteriors_of(["It", "is", "a", "test"]))


@pytest.mark.filterwarnings("error")
def test_pictures_of_charts_have_names_of_axes_a_key_and_room_for_labels():
    words = ["It", "is", "a", "test"]
    svg = chart_svg(words, posteriors_of(words))
    assert {*words, "S 1.00", "first word", "last word", "posterior probability", "0", "0.5", "1"} <= set(texts(svg))
    assert svg.count("<rect ") == 4 + 5
    assert "S 1.00" not in texts(chart_svg(["a"] * 40, posteriors_of(["a"] * 40)))
    assert "Go" in texts(chart_svg(["Go"], Posteriors({}, [{"VB": 1.0}])))


# Long sentences, and those from right to left


def sizes(svg: str) -> list[float]:
    """The sizes of the texts in a picture, in pixels."""
    texts = [each for kind in ("text", "tspan") for each in xml_of(svg).iter(f"{SVG}{kind}")]
    return sorted(float(text.get("font-size", 15)) for text in texts)


def centres(svg: str, names: list[str]) -> list[float]:
    """The horizontal positions of texts in a picture."""
    places = {
        each.text: float(each.get("x") or re.findall(r"[\d.]+", each.get("transform", ""))[0])
        for each in xml_of(svg).iter(f"{SVG}text")
    }
    return [places[name] for name in names]


@pytest.mark.parametrize("draw", [tree_svg, spans_svg, chart_svg, surprisal_svg])
def test_pictures_of_long_sentences_turn_words_that_stay_large_enough(draw):
    words = [f"unreadable{i}" for i in range(60)]
    tree = Tree("S", [Tree("NN", word=word) for word in words])
    posteriors = Posteriors({(0, 60, "S"): 1.0, (3, 5, "NP"): 0.9}, [{"NN": 1.0}] * 60)
    svg = draw(*{tree_svg: [tree], surprisal_svg: [words, [1.0] * 61]}.get(draw, [words, posteriors]))
    assert sizes(svg)[0] >= 9
    assert len(re.findall(r"rotate\(\d+\)[^>]*>unreadable", svg)) == 60
    assert float(xml_of(svg).get("width")) < 60 * 50


@pytest.mark.parametrize("words", [["\u05d9\u05dc\u05d3", "12", "\u05d0\u05db\u05dc"], ["a", "12", "c"]])
def test_pictures_go_from_right_to_left_as_words_do(words):
    tree = Tree("S", [Tree("NN", word=word) for word in words])
    posteriors = Posteriors({(0, 3, "S"): 1.0, (0, 2, "NP"): 0.9}, [{"NN": 1.0}] * 3)
    boundaries = [Boundary(1, 3), Boundary(), Boundary(4, 9)]
    pictures = tree_svg(tree), spans_svg(words, posteriors), boundaries_svg(words, boundaries)
    for svg in (*pictures, surprisal_svg(words, [1.0] * 4), chart_svg(words, posteriors)):
        assert centres(svg, words) == sorted(centres(svg, words), reverse=not words[0].isascii())
        lefts = [left for left, _, _, _ in bars(svg)]
        assert min(lefts) >= 0
    bar = min(bars(pictures[1]), key=lambda box: box[2] - box[0])  # of the first two words
    assert (bar[0] > 9) == (not words[0].isascii())


def test_pictures_of_surprisal_as_svg_have_a_bar_and_a_number_for_each_word():
    svg = surprisal_svg(["It", "is", "so"], [3.5, np.nan, np.inf, 1.25])
    assert {"3.5", "?", "\N{INFINITY}", "1.2", "surprisal (bits)", "word", "end of the sentence"} <= {*texts(svg)}
    assert [text for text in texts(svg) if text in "0123"] == ["0", "1", "2", "3"]
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" fill="[^"]+" fill-opacity=".8"/', svg)]
    assert heights == [180.0, 0.0, 0.0, pytest.approx(180 * 1.25 / 3.5, abs=0.1)]
    with pytest.raises(ValueError, match="Expected bits of 1 words and of the sentence's end, got 1 numbers"):
        surprisal_svg(["It"], [1.0])


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


# Curves


def curves(svg: str) -> list[tuple[str, int]]:
    """The colour and the number of points of each line."""
    lines = xml_of(svg).iter(f"{SVG}polyline")
    return [(line.get("stroke"), len(line.get("points").split())) for line in lines]


def test_pictures_of_learning_have_a_curve_for_each_fit_and_network():
    em = [Step(1, -50.0, float("nan"), 1.0), Step(2, -40.0, 80.0, 1.0), Step(3, -39.0, 81.0, 1.0)]
    pivot = [{"iteration": 0, "log_likelihood": None, "f1": 83.0, "seconds": 1.0}]
    svg = learning_svg({"em": em, "pivot": pivot})
    assert {"log-likelihood (nats)", "F1 on held-out trees", "iteration", "em", "pivot", "-50", "83"} <= {*texts(svg)}
    (first, n_likelihoods), (second, n_f1), (third, n_pivot) = curves(svg)
    assert (n_likelihoods, n_f1, n_pivot) == (3, 2, 1)
    assert first == second != third
    isbn = [{"network": k, "epoch": e, "log_likelihood": -7.0 / e, "dev": -8.0 / e} for k in (1, 2) for e in (1, 2, 3)]
    svg = learning_svg({"isbn": isbn})
    assert {"held-out nats a word", "isbn, network 1", "isbn, network 2"} <= {*texts(svg)}
    assert [n for _, n in curves(svg)] == [3, 3, 3, 3]


@pytest.mark.parametrize("fits", [{}, {"em": []}, {"em": [{"iteration": 1, "f1": None}]}, {"x": [{"f1": 1.0}]}])
def test_pictures_of_learning_need_steps(fits):
    with pytest.raises(ValueError, match="Nothing to draw"):
        learning_svg(fits)


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e5))
def test_pictures_axes_have_three_to_seven_round_numbers(low, size):
    axis = Axis(low, low + size, 100.0, 0.0)
    assert 3 <= len(axis.ticks) <= 7
    places = [axis.place(value) for value in axis.ticks]
    assert places == sorted(places, reverse=True)
    assert -0.01 <= places[-1] < places[0] <= 100.01


def test_pictures_logarithmic_axes_have_powers_of_ten():
    axis = Axis(0.5, 2000.0, 0.0, 60.0, is_log=True)
    assert axis.ticks == [1, 10, 100, 1000]
    assert np.diff([axis.place(value) for value in axis.ticks]) == pytest.approx(60 / np.log10(4000))


# Calibration


def test_pictures_of_calibration_show_the_curve():
    curve = reliability(np.array([0.2, 0.9, 0.9]), np.array([False, True, False]))
    svg = calibration_svg(curve)
    assert "3 brackets, calibration error 0.333" in texts(svg)
    perfect, observed = (line.get("points").split() for line in xml_of(svg).iter(f"{SVG}polyline"))
    (left, bottom), (right, top) = (map(float, point.split(",")) for point in perfect)
    places = [tuple(map(float, point.split(","))) for point in observed]
    shares = [((x - left) / (right - left), (bottom - y) / (bottom - top)) for x, y in places]
    assert np.array(shares) == pytest.approx(np.array([[0.2, 0.0], [0.9, 0.5]]))
    one, two = (box[3] - box[1] for box in bars(svg)[:2])
    assert 0 < one < two
    with pytest.raises(ValueError, match="there are no brackets"):
        calibration_svg(reliability(np.zeros(0), np.zeros(0, dtype=bool)))


# Pages


def test_pictures_pages_escape_what_is_text():
    page = html_page("<b>title", [("<script>caption", "<svg></svg>")])
    assert "<title>&lt;b&gt;title</title>" in page
    assert "<h2>&lt;script&gt;caption</h2>\n<svg></svg>" in page


def test_pictures_say_that_they_scroll_on_pages_that_are_narrower():
    assert tree_html(FLIES).endswith(f">{tree_svg(FLIES)}</div>")
    assert "hidden" not in tree_html(FLIES)  # it fits any page
    assert '<p class="scrolls-480" hidden>' in scrolling(svg_element(500, 10, "", ""))
    assert "@media (max-width: 480px) { .scrolls-480 { display: block" in html_page("", [])


def test_pictures_tell_what_labels_mean():
    assert "<title>ADVP: adverb phrase</title>" in tree_svg(FLIES)
    assert "<title>" not in tree_svg(Tree("ODD", [Tree("ODDER", word="w")]))
