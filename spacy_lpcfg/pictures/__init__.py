"""Pictures: trees by svgling and NLTK, charts and curves by matplotlib, all of the extra `viz`."""

from spacy_lpcfg.pictures.chart import chart_figure
from spacy_lpcfg.pictures.curves import calibration_figure, learning_figure, surprisal_figure
from spacy_lpcfg.pictures.figures import figure_png, figure_svg
from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.pictures.tree_figure import tree_figure
from spacy_lpcfg.pictures.trees import tree_html, tree_svg, tree_text

__all__ = [
    "calibration_figure",
    "chart_figure",
    "figure_png",
    "figure_svg",
    "html_page",
    "learning_figure",
    "surprisal_figure",
    "tree_figure",
    "tree_html",
    "tree_svg",
    "tree_text",
]
