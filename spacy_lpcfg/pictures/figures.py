"""Create matplotlib figures without a display, and save them as SVG or PNG."""

from __future__ import annotations

from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.drawing import DARK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 150  # resolution of PNG files
_MOST_PIXELS = 10_000  # of a side, beyond which the resolution is lower


def new_figure(width: float, height: float) -> Figure:
    """Create an empty figure that is not shown in a window.

    width, height (float): Size in inches.
    RAISES (ImportError): If matplotlib is missing.
    """
    return extra("matplotlib.figure", "A figure").Figure(figsize=(width, height), layout="constrained")


def figure_svg(figure: Figure) -> str:
    """Return a figure as an SVG element, which can also be saved as a file. The output is deterministic.

    Text is not converted to paths, so that the reader's fonts are used, and it does not matter which glyphs matplotlib
    lacks. There is no background, and black is replaced by the text colour of the surrounding page.
    """
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "spacy-lpcfg"}
    svg = StringIO()
    with extra("matplotlib", "A figure").rc_context(settings), catch_warnings():
        filterwarnings("ignore", message=r"Glyph \d+ .* missing from")
        figure.savefig(svg, format="svg", metadata={"Date": None}, transparent=True)
    text = svg.getvalue()[svg.getvalue().index("<svg") :].replace("#000000", "currentColor")
    return text.replace("<svg ", '<svg fill="currentColor" ', 1).replace("<defs>", f"{DARK}<defs>", 1)


def figure_png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    png, dpi = BytesIO(), min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
    with catch_warnings():
        filterwarnings("ignore", message=r"Glyph \d+ .* missing from")
        figure.savefig(png, format="png", dpi=dpi, metadata={"Software": None})
    return png.getvalue()
