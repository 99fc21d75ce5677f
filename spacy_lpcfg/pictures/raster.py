"""Raster images of the SVG pictures of this package, drawn by matplotlib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from spacy_lpcfg.extras import extra
from spacy_lpcfg.pictures.figures import figure_png, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

_INCH = 96.0  # pixels
_POINT = 0.75  # points in a pixel
_NUMBER = 25.0  # pixels that the number of a score takes
_DRAWN = ("rect", "path", "text")
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}

Attributes = Mapping[str, str]


def svg_png(svg: str) -> bytes:
    """Return a picture as the bytes of a PNG file.

    svg (str): An SVG element that a function of `spacy_lpcfg.pictures` returned. Words from right to left need
        matplotlib 3.11.
    RAISES (ImportError): If matplotlib is missing.
    """
    return figure_png(svg_figure(svg))


def svg_figure(svg: str) -> Figure:
    """Return the picture of `svg_png` as a figure of matplotlib."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = new_figure(width / _INCH, height / _INCH)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    elements = list(_elements(root, {}))
    _draw_shapes(axes, [shape for kind, shape, _ in elements if kind != "text"])
    for kind, attributes, element in elements:
        if kind == "text":
            _draw_text(axes, attributes, element)
    return figure


def _elements(parent: ElementTree.Element, inherited: Attributes) -> Iterator[tuple[str, Attributes, Any]]:
    """Yield the kind of each element that is drawn, its attributes with those that it inherits, and the element."""
    attributes = {**inherited, **parent.attrib}
    kind = parent.tag.rpartition("}")[2]
    if kind in _DRAWN:
        yield kind, attributes, parent
    else:
        for child in parent:
            yield from _elements(child, attributes)


def _draw_shapes(axes: Axes, shapes: list[Attributes]) -> None:
    collections = extra("matplotlib.collections", "A PNG")
    axes.add_collection(
        collections.PathCollection(
            [_path(shape) for shape in shapes],
            facecolors=[_colour(shape, "fill") for shape in shapes],
            edgecolors=[_colour(shape, "stroke") for shape in shapes],
            linewidths=_POINT,
            transform=axes.transData,
        )
    )


def _colour(attributes: Attributes, what: str) -> tuple[float, ...]:
    """Return the colour of the "fill" or the "stroke" with its opacity."""
    name = attributes.get(what, "none")
    colours = extra("matplotlib.colors", "A PNG")
    opacity = float(attributes.get(f"{what}-opacity", 1))
    rgba: tuple[float, ...] = colours.to_rgba("black" if name == "currentColor" else name)
    return (*rgba[:3], 0.0 if name == "none" else opacity)


def _path(shape: Attributes) -> Path:
    """Return the outline of a rectangle, or the line of a path of the commands M, V, H and q."""
    if "d" not in shape:
        return _rectangle(*(float(shape.get(name, 0)) for name in ("x", "y", "width", "height", "rx")))
    paths = extra("matplotlib.path", "A PNG")
    vertices, codes = [(0.0, 0.0)], [paths.Path.MOVETO]
    for command, text in re.findall(r"([MVHq])([^MVHq]*)", shape["d"]):
        numbers = [float(number) for number in text.split()]
        x, y = vertices[-1]
        if command == "q":
            vertices += [(x + numbers[0], y + numbers[1]), (x + numbers[2], y + numbers[3])]
            codes += [paths.Path.CURVE3] * 2
        else:
            vertices.append({"M": (numbers[0], numbers[-1]), "V": (x, numbers[0]), "H": (numbers[0], y)}[command])
            codes.append(paths.Path.MOVETO if command == "M" else paths.Path.LINETO)
    return paths.Path(vertices, codes)


def _rectangle(x: float, y: float, width: float, height: float, radius: float) -> Path:
    paths, patches = extra("matplotlib.path", "A PNG"), extra("matplotlib.patches", "A PNG")
    if not radius:
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
        return paths.Path(corners, closed=True)
    radius = min(radius, width / 2, height / 2)
    style = patches.BoxStyle("round", pad=0, rounding_size=radius)
    outline: Path = style(x, y, width, height, 1.0)
    return outline


def _draw_text(axes: Axes, attributes: Attributes, element: ElementTree.Element) -> None:
    """Draw a line of text, followed by a small number if there is a score."""
    x, y, turn = _place(attributes)
    number = next((child.text for child in element if child.text), None)
    drawn = axes.text(
        x - (_NUMBER / 2 if number else 0.0),
        y,
        element.text or "",
        alpha=float(attributes.get("fill-opacity", 1)),
        fontsize=float(attributes["font-size"]) * _POINT,
        fontweight="bold" if attributes.get("font-weight") == "600" else "normal",
        ha=_ANCHORS[attributes["text-anchor"]],
        va="baseline",
        rotation=-turn,
        rotation_mode="anchor",
        parse_math=False,
    )
    if number:
        axes.annotate(
            number, (1, 0), (3, 0), xycoords=drawn, textcoords="offset points", va="bottom", fontsize=10 * _POINT
        )


def _place(attributes: Attributes) -> tuple[float, float, float]:
    """Return where a text begins, and by how many degrees it is turned clockwise."""
    if "transform" not in attributes:
        return float(attributes["x"]), float(attributes["y"]), 0.0
    x, y, turn = map(float, re.findall(r"-?[\d.]+", attributes["transform"]))
    return x, y, turn
