"""Shared elements of the drawings: the SVG element, text, labels, colour keys, and colours by category."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from math import isnan
from typing import Any
from unicodedata import bidirectional, combining, east_asian_width

from spacy_lpcfg.trees.labels import PHRASES, explain
from spacy_lpcfg.visible import visible

LABEL_HEIGHT = 20.0
MAX_WIDTH = 1600.0  # pixels, beyond which words are turned
TURNED_WIDTH = 18.0  # of a turned word
BLUE = "#2d82b7"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
DARK = "<style>@media (prefers-color-scheme: dark) { svg:root { color: #e6e6e6 } }</style>"  # for stand-alone files
_COLOURS = (  # a contrast of about 4 with white and with black
    (r"S(BARQ?|INV|Q|ENT|sub|rel|int)?|CS|IP|CP", "#8a6bb8"),  # clauses
    (r"C?NP|NX|WHNP|NAC|NML|QP|DP", BLUE),
    (r"C?VP|VN|VZ|VPinf|VPpart", "#c05f3c"),
    (r"C?PP|WHPP|PRT", "#2f8f7a"),
    (r"C?AP|(WH)?AD[JV]P|C?AVP|AdP", "#a07a1c"),  # adjectives and adverbs
    (r".*", "#76808a"),
)
COLOURS = tuple(colour for _, colour in _COLOURS)
_STRONG = ("L", "R", "AL")  # classes of characters that have a direction
_PAGE_WIDTHS = (360, 400, 480, 600, 800, 1000, 1200)  # pixels
_PAGE_MARGINS = 32.0
_SCROLLS = "\N{LEFT RIGHT ARROW} The picture is wider than the page: scroll it sideways."
SCROLL_HINTS = "".join(
    f"@media (max-width: {width}px) {{ .scrolls-{width} {{ display: block; font-size: .85rem; opacity: .75 }} }}\n"
    for width in _PAGE_WIDTHS
)
_NARROW = set("iljtfrI.,:;'`!|()[]/ ")
_WIDE = set("mwMW%@\N{EM DASH}")


def svg_element(width: float, height: float, content: str, text: str) -> str:
    """Return an SVG element without a background, which can also be saved as a file.

    Words and lines take the text colour of the surrounding page; in a file they are black, or white in dark mode.

    width, height (float): Size in pixels.
    content (str): SVG inside the element.
    text (str): Description for screen readers.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONT}" font-size="15" text-anchor="middle" '
        f'fill="currentColor" role="img" aria-label="{_plain(text)}">{DARK}{content}</svg>'
    )


def scrolling(svg: str) -> str:
    """Wrap an SVG element from `svg_element` in HTML that scrolls sideways if the page is narrower than the drawing.

    Pages with the CSS `SCROLL_HINTS` then also show a hint that the drawing scrolls.
    """
    width = float(re.search(r'width="(\d+)"', svg)[1])  # type: ignore[index]
    wider = [most for most in _PAGE_WIDTHS if most <= width + _PAGE_MARGINS]
    hint = f'<p class="scrolls-{wider[-1]}" hidden>{_SCROLLS}</p>' if wider else ""
    return f'{hint}<div style="overflow-x: auto" tabindex="0">{svg}</div>'


def is_right_to_left(words: Sequence[str]) -> bool:
    """Return whether most of the words with a direction are written from right to left; False if there are none."""
    directions = [next(filter(_STRONG.__contains__, map(bidirectional, word)), "") for word in words]
    return sum(each in ("R", "AL") for each in directions) > directions.count("L")


def described(label: str, drawn: str) -> str:
    """Add the meaning of a Penn Treebank label as a tooltip to its SVG `drawn`; other labels are left without one."""
    meaning = explain(label)
    return f"<g><title>{_plain(f'{label}: {meaning}')}</title>{drawn}</g>" if meaning else drawn


def label_width(label: str, score: float | None = None) -> float:
    return max(LABEL_HEIGHT, text_width(label, 13.0) + 12.0 + (25.0 if score_text(score) else 0.0))


def draw_label(x: float, y: float, width: float, label: str, score: float | None = None) -> str:
    """Return the SVG of a label on a rectangle in its category's colour; opacity and a number show its probability.

    x, y (float): Centre of the label, in pixels.
    width (float): Width of the rectangle, in pixels.
    label (str): The label.
    score (float or None): The probability of the label; None or nan if unknown.
    """
    colour = label_colour(label)
    return described(
        label,
        f'<rect x="{x - width / 2:.1f}" y="{y - LABEL_HEIGHT / 2:.1f}" width="{width:.1f}" height="{LABEL_HEIGHT:.0f}" '
        f'rx="6" fill="{colour}" fill-opacity="{label_opacity(score):.2f}" stroke="{colour}"/>'
        + draw_text(x, y, label, 'font-size="13" font-weight="600"', score),
    )


def label_opacity(score: float | None) -> float:
    """Return the opacity of a label's colour: 0.05 to 0.5, increasing with the probability, 0.25 if it is unknown."""
    return 0.25 if score is None or isnan(score) else 0.05 + 0.45 * score


def draw_text(x: float, y: float, text: str, attributes: str = "", score: float | None = None) -> str:
    """Return the SVG of a line of text centred at a point, with a small number after it if there is a score.

    x, y (float): The point, in pixels.
    text (str): The text, which is escaped.
    attributes (str): Further attributes of the SVG element, such as another `text-anchor`.
    score (float or None): A probability; None or nan if unknown.
    """
    number = f'<tspan dx="4" font-size="10" font-weight="400">{score_text(score)}</tspan>' if score_text(score) else ""
    return f'<text x="{x:.1f}" y="{y + 4.6:.1f}" {attributes}>{_plain(text)}{number}</text>'


def draw_turned(x: float, y: float, text: str, degrees: int, attributes: str = 'text-anchor="start"') -> str:
    """Return the SVG of a line of text that begins at a point and is rotated clockwise by `degrees`.

    x, y (float): The point, in pixels.
    text (str): The text, which is escaped.
    attributes (str): Further attributes of the SVG element, such as another `text-anchor`.
    """
    side = -4.6 if degrees > 0 else 4.6
    return f'<text transform="translate({x + side:.1f} {y:.1f}) rotate({degrees})" {attributes}>{_plain(text)}</text>'


def draw_key(x: float, y: float, squares: Iterable[tuple[str, str, float]]) -> str:
    """Return the SVG of a colour key: squares side by side, each followed by its name.

    x, y (float): Left edge and vertical centre, in pixels.
    squares (iterable of (str, str, float)): The name, colour and opacity of each square.
    """
    drawn = []
    for name, colour, opacity in squares:
        drawn.append(
            f'<rect x="{x:.1f}" y="{y - 7:.1f}" width="14" height="14" fill="{colour}" fill-opacity="{opacity:.2f}" '
            'stroke="currentColor" stroke-opacity=".4"/>'
            + draw_text(x + 18.0, y, name, 'font-size="11" text-anchor="start"')
        )
        x += 30.0 + text_width(name, 11.0)
    return "".join(drawn)


def text_width(text: str, size: float) -> float:
    """Return an upper estimate of the width of a text in most sans-serif fonts, in pixels, at a font size in pixels."""
    return size * sum(map(_ems, text))


def _ems(char: str) -> float:
    if combining(char):
        return 0.0
    if char in _NARROW:
        return 0.42
    if char in _WIDE or east_asian_width(char) in "WF":
        return 1.03
    return 0.75 if char.isupper() else 0.64


def score_text(score: float | None) -> str:
    """Format a probability as text to stand beside a label, such as ".93"; return "" for None or nan."""
    return "" if score is None or isnan(score) else f"{score:.2f}".removeprefix("0")


def label_colour(label: str) -> str:
    """Return the colour (#rrggbb) of a label by its category: NP-SBJ has the colour of NP."""
    category = re.split(r"[-=^|+\d]", label.lstrip("@"))[0]
    return next(colour for pattern, colour in _COLOURS if re.fullmatch(pattern, category, re.DOTALL))


def displacy_colours(labels: Iterable[str] = tuple(PHRASES), spans_key: str = "constituents") -> dict[str, Any]:
    """Return options with which spaCy's displacy draws constituents in the colours of `tree_svg`.

    Example: `displacy.render(doc, style="span", options=displacy_colours())`.

    labels (iterable of str): The labels that get a colour, such as the `labels` of a component.
    spans_key (str): Key of the trees in `doc.spans`.
    RETURNS (dict): The options "spans_key" and "colors".
    """
    return {"spans_key": spans_key, "colors": {label: label_colour(label) for label in labels}}


def _plain(text: str) -> str:
    return escape(visible(text))
