"""An extension of griffe that turns docstrings into Markdown: lines `name (type, shape): text` become lists."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, GriffeLoader, Module, Object

_ITEM = re.compile(r"^(?:RETURNS|RAISES|YIELDS|[\w.]+(?:, [\w.]+)* \()")
_NAME = re.compile(r"^[\w.]+(?:, [\w.]+)*")


class Docstrings(Extension):
    """Find the components, and rewrite the docstring of every object that is loaded."""

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **kwargs: Any) -> None:
        """Make the folder components/ a part of the package, as setup.cfg does when it is installed."""
        if pkg.name == "spacy_lpcfg" and "components" not in pkg.members:
            pkg.set_member("components", loader.load("components"))

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """Return a docstring with its arguments and results as a list, and all other lines unchanged."""
    lines: list[str] = []
    in_list = False
    for line in text.splitlines():
        is_item = _ITEM.match(line) is not None and ":" in text
        if is_item and not in_list and lines and lines[-1]:
            lines.append("")
        if in_list and line and not line[0].isspace() and not is_item:
            lines.append("")
        in_list = is_item or (in_list and bool(line) and line[0].isspace())
        lines.append(f"- {_NAME.sub(_bold, line, count=1)}" if is_item else line)
    return "\n".join(lines)


def _bold(name: re.Match[str]) -> str:
    return f"**{name.group()}**"
