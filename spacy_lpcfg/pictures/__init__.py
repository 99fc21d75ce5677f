"""Pictures of trees, spans, charts, surprisal, learning curves and calibration.

Trees as SVG, HTML and text, and spans, charts and surprisal as SVG and HTML, need no further package. PNG, and curves
of learning and calibration, need matplotlib, which the extra `viz` installs.
"""

from spacy_lpcfg.pictures.chart import chart_svg
from spacy_lpcfg.pictures.curves import calibration_figure, learning_figure, surprisal_svg
from spacy_lpcfg.pictures.drawing import displacy_colours
from spacy_lpcfg.pictures.raster import svg_png
from spacy_lpcfg.pictures.spans import spans_svg
from spacy_lpcfg.pictures.trees import tree_html, tree_svg, tree_text

__all__ = [
    "calibration_figure",
    "chart_svg",
    "displacy_colours",
    "learning_figure",
    "spans_svg",
    "surprisal_svg",
    "svg_png",
    "tree_html",
    "tree_svg",
    "tree_text",
]
