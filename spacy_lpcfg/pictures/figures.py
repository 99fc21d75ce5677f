"""What figures have in common: made without a screen, and saved as SVG that a page can hold, or as PNG."""

from __future__ import annotations

from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import DARK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 150  # of a PNG, an inch


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, which no window shows.

    RAISES (ImportError): Without matplotlib.
    """
    return extra("matplotlib.figure", "A figure").Figure(figsize=(width, height), layout="constrained")


def figure_svg(figure: Figure) -> str:
    """A figure as an SVG element, which is a file of its own as well. The same figure makes the same text.

    Text stays text, in the fonts of who looks at it: that ours lack some of its characters does not matter. There is no
    background, and what is black has the colour of the text around the element.
    """
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "spacy-lpcfg"}
    svg = StringIO()
    with extra("matplotlib", "A figure").rc_context(settings), catch_warnings():
        filterwarnings("ignore", message=r"Glyph \d+ .* missing from")
        figure.savefig(svg, format="svg", metadata={"Date": None}, transparent=True)
    found = svg.getvalue()[svg.getvalue().index("<svg") :].replace("#000000", "currentColor")
    return found.replace("<svg ", '<svg fill="currentColor" ', 1).replace("<defs>", f"{DARK}<defs>", 1)


def figure_png(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG file."""
    png = BytesIO()
    with catch_warnings():
        filterwarnings("ignore", message=r"Glyph \d+ .* missing from")
        figure.savefig(png, format="png", dpi=_POINTS, metadata={"Software": None})
    return png.getvalue()
