"""What drawings of trees and spans have in common: colours by the kind of a label, labels with a shade, and SVG."""

from __future__ import annotations

import re
from html import escape
from math import isnan
from unicodedata import combining, east_asian_width

from spacy_lpcfg.pictures.visible import visible

LABEL_HEIGHT = 20.0
BLUE = "#2d82b7"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
DARK = "<style>@media (prefers-color-scheme: dark) { svg:root { color: #e6e6e6 } }</style>"  # of a file of its own
_COLOURS = (  # a contrast of about 4 with white and with black
    (r"S(BARQ?|INV|Q|ENT|sub|rel|int)?|CS|IP|CP", "#8a6bb8"),  # clauses
    (r"C?NP|NX|WHNP|NAC|NML|QP|DP", BLUE),
    (r"C?VP|VN|VZ|VPinf|VPpart", "#c05f3c"),
    (r"C?PP|WHPP|PRT", "#2f8f7a"),
    (r"C?AP|(WH)?AD[JV]P|C?AVP|AdP", "#a07a1c"),  # adjectives and adverbs
    (r".*", "#76808a"),
)
_NARROW = set("iljtfrI.,:;'`!|()[]/ ")
_WIDE = set("mwMW%@\N{EM DASH}")


def svg_element(width: float, height: float, content: str, text: str) -> str:
    """An SVG element without a background, which is a file of its own as well.

    Words and lines have the colour of the text around the element; in a file, black, or white where dark is preferred.

    text (str): what a screen reader says
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONT}" font-size="15" text-anchor="middle" '
        f'fill="currentColor" role="img" aria-label="{_plain(text)}">{DARK}{content}</svg>'
    )


def scrolling(svg: str) -> str:
    """HTML that scrolls where the page is narrower than the drawing."""
    return f'<div style="overflow-x: auto">{svg}</div>'


def label_width(label: str, score: float | None = None) -> float:
    return max(LABEL_HEIGHT, text_width(label, 13.0) + 12.0 + (25.0 if score_text(score) else 0.0))


def draw_label(x: float, y: float, width: float, label: str, score: float | None = None) -> str:
    """A label on its colour, which is as dense as its score is high; the score stands beside it.

    x, y (float): its middle
    score (float or None): a probability; None or nan if there is none
    """
    colour = label_colour(label)
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - LABEL_HEIGHT / 2:.1f}" width="{width:.1f}" height="{LABEL_HEIGHT:.0f}" '
        f'rx="6" fill="{colour}" fill-opacity="{label_opacity(score):.2f}" stroke="{colour}"/>'
        + draw_text(x, y, label, 'font-size="13" font-weight="600"', score)
    )


def label_opacity(score: float | None) -> float:
    """How dense the colour of a label is."""
    return 0.25 if score is None or isnan(score) else 0.05 + 0.45 * score


def draw_text(x: float, y: float, text: str, attributes: str = "", score: float | None = None) -> str:
    """A line of text around a point, and a small number after it if there is a score."""
    number = f'<tspan dx="4" font-size="10" font-weight="400">{score_text(score)}</tspan>' if score_text(score) else ""
    return f'<text x="{x:.1f}" y="{y + 4.6:.1f}" {attributes}>{_plain(text)}{number}</text>'


def draw_turned(x: float, y: float, text: str, degrees: int) -> str:
    """A line of text that begins at a point and goes downwards, as far as it is turned."""
    turned = f"translate({x - 4.6:.1f} {y:.1f}) rotate({degrees})"
    return f'<text transform="{turned}" text-anchor="start">{_plain(text)}</text>'


def text_width(text: str, size: float) -> float:
    """At least what most sans-serif faces take for a text of a size in pixels."""
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
    """The small number that stands beside a label; "" if there is none."""
    return "" if score is None or isnan(score) else f"{score:.2f}".removeprefix("0")


def label_colour(label: str) -> str:
    """By the category alone: NP-SBJ is an NP."""
    category = re.split(r"[-=^|+\d]", label.lstrip("@"))[0]
    return next(colour for pattern, colour in _COLOURS if re.fullmatch(pattern, category, re.DOTALL))


def _plain(text: str) -> str:
    return escape(visible(text))
