"""Draw the pictures of README.md and of the pages: a tree with probabilities, phrase breaks, and F1 against speed.

    python scripts/pictures.py

Writes tree.svg, boundaries.svg and accuracy.svg to docs/pictures/. Tree and breaks are by the English model that comes
with the package, the chart is that of the first table in docs/performance.md. Needs the extra `viz`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import spacy

from spacy_lpcfg.components.doc.boundaries import doc_boundaries
from spacy_lpcfg.pictures.boundaries import boundaries_svg
from spacy_lpcfg.pictures.figures import figure_svg, new_figure
from spacy_lpcfg.storage.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from spacy.tokens import Doc

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = "She bought the painting in the hall."
PEER = "Berkeley Parser 1.7"
SPOKEN = "He told me last night he was coming to London for several days."
SHOWN = ("--method pivot", PEER)
SANS_SERIF = "Helvetica, Arial, sans-serif"
NAMESPACE = "http://www.w3.org/2000/svg"
MARGIN = 12


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--output", type=Path, default=ROOT / "docs" / "pictures", metavar="FOLDER")
    folder = arguments.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in (("tree", draw_tree()), ("boundaries", draw_boundaries()), ("accuracy", draw_accuracy())):
        write_atomically(folder / f"{name}.svg", svg.encode())


def draw_tree() -> str:
    """Return the tree of the sentence as SVG, each constituent with its probability."""
    return f"{parsed(SENTENCE)._.constituency[0].svg()}\n"


def draw_boundaries() -> str:
    """Return the boundary after each word of a sentence as SVG."""
    doc = parsed(SPOKEN)
    return f"{boundaries_svg([token.text for token in doc], doc_boundaries(doc))}\n"


def parsed(text: str) -> Doc:
    """Return a text with its trees by the English model."""
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser")
    return nlp(text)


def figures() -> dict[str, dict[str, tuple[float, float]]]:
    """Return F1 and sentences per CPU second of each model on each treebank, as in docs/performance.md."""
    text = (ROOT / "docs" / "performance.md").read_text("utf-8")
    number = r"([\d.]+)(?: \([\d.]+\))?"
    row = re.compile(rf"^\| `?(.*?)`? \| {number} \| {number} \| [^|]* \| (\d+) and (\d+) \|", re.MULTILINE)
    rows = {name: [float(number) for number in numbers] for name, *numbers in row.findall(text)}
    return {
        treebank: {name: (rows[name][i + 2], rows[name][i]) for name in SHOWN}
        for i, treebank in enumerate(("WSJ sample", "GUM"))
    }


def draw_accuracy() -> str:
    """Return F1 against speed as SVG, a panel for each treebank; its figures stand in its description."""
    figure = new_figure(7.5, 3)
    for axes, (treebank, points) in zip(figure.subplots(1, 2), figures().items(), strict=True):
        draw_points(axes, points)
        axes.set_title(treebank)
    figure.axes[0].set_ylabel("F1")
    return figure_svg(figure).replace(">", f"><desc>{figures()}</desc>", 1) + "\n"


def draw_points(axes: Axes, points: dict[str, tuple[float, float]]) -> None:
    """Put F1 against speed on axes, with a name at each point."""
    for name, (speed, f1) in points.items():
        label, colour = ("Berkeley Parser", "#b5482f") if name == PEER else (name.split()[-1], "#2f6db5")
        offset = (0, -14 if label == "pivot" else 6)
        axes.plot(speed, f1, "o", color=colour)
        axes.annotate(label, (speed, f1), offset, textcoords="offset points", ha="center", color=colour)
    axes.set_xscale("log")
    axes.set_xticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.minorticks_off()
    axes.set_xlim(2.5, 1600)
    axes.margins(y=0.18)
    axes.set_xlabel("sentences per CPU second")
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
