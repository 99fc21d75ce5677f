"""Pictures of trees, spans, charts, surprisal, learning curves and calibration.

Trees are drawn as SVG, HTML or text; all other pictures are SVG elements, which can be put into HTML pages unchanged.
"""

from spacy_lpcfg.pictures.chart import chart_svg
from spacy_lpcfg.pictures.curves import calibration_svg, learning_svg, surprisal_svg
from spacy_lpcfg.pictures.drawing import displacy_colours
from spacy_lpcfg.pictures.spans import spans_svg
from spacy_lpcfg.pictures.trees import tree_html, tree_svg, tree_text

__all__ = [
    "calibration_svg",
    "chart_svg",
    "displacy_colours",
    "learning_svg",
    "spans_svg",
    "surprisal_svg",
    "tree_html",
    "tree_svg",
    "tree_text",
]
