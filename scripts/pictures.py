"""Draw the pictures of README.md and of the pages: a tree with probabilities, phrase breaks, and F1 against speed.

    python scripts/pictures.py

Writes tree.svg, boundaries.svg and accuracy.svg to docs/pictures/. Tree and breaks are by the English model that comes
with the package, the chart is that of the first table in docs/performance.md.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import spacy

from spacy_lpcfg.components.doc.boundaries import doc_boundaries
from spacy_lpcfg.pictures.boundaries import boundaries_svg
from spacy_lpcfg.pictures.drawing import draw_text, svg_element
from spacy_lpcfg.pictures.plots import Axis, draw_points, draw_x_axis, draw_y_axis
from spacy_lpcfg.storage.files import write_atomically

if TYPE_CHECKING:
    from spacy.tokens import Doc

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = "She bought the painting in the hall."
PEER = "Berkeley Parser 1.7"
SPOKEN = "He told me last night he was coming to London for several days."
SHOWN = ("--method pivot", PEER)


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
    panels = [draw_panel(60.0 + 340.0 * i, *panel) for i, panel in enumerate(figures().items())]
    svg = svg_element(700.0, 270.0, "".join(panels), "F1 against speed")
    return svg.replace(">", f"><desc>{figures()}</desc>", 1) + "\n"


def draw_panel(left: float, treebank: str, points: dict[str, tuple[float, float]]) -> str:
    """Return F1 against speed on a treebank as SVG, with a name at each point."""
    top, bottom, right = 30.0, 220.0, left + 270.0
    x = Axis(2.5, 1600.0, left, right, is_log=True)
    y = Axis(min(f1 for _, f1 in points.values()) - 2.0, max(f1 for _, f1 in points.values()) + 2.0, bottom, top)
    drawn = [
        draw_text((left + right) / 2, top / 2, treebank),
        draw_x_axis(x, top, bottom, "sentences per CPU second"),
        draw_y_axis(y, left, right, "F1"),
    ]
    for name, (speed, f1) in points.items():
        label, colour = ("Berkeley Parser", "#b5482f") if name == PEER else (name.split()[-1], "#2f6db5")
        above = 12.0 if label == "pivot" else -12.0
        drawn += [
            draw_points(x, y, [(speed, f1)], colour),
            draw_text(x.place(speed), y.place(f1) + above, label, f'font-size="12" style="fill: {colour}"'),
        ]
    return "".join(drawn)


if __name__ == "__main__":
    main()
