"""Hooks for MkDocs: put model cards, tables and names of the package into pages, and turn formulas into MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

MODELS = Path(__file__).parents[1] / "spacy_lpcfg" / "models"
KINDS = {
    "console_scripts": "Commands of the shell",
    "spacy_cli": "Commands of `python -m spacy`",
    "spacy_factories": "Components",
    "spacy_architectures": "Architectures (`@architectures`)",
    "spacy_readers": "Readers (`@readers`)",
    "spacy_scorers": "Scorers (`@scorers`)",
    "spacy_misc": "Learners and settings (`@misc`)",
}
"""Headings of the groups of entry points in setup.cfg."""
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_read_source(page: Any, config: Any) -> str | None:
    """Return the model card as the text of the page on the English model; None leaves other pages as they are."""
    return card() if page.file.src_uri == "models.md" else None


def card() -> str:
    """Return the model card, with links to pages as links within the site, and other files of the repository named."""
    text = (MODELS / "en.md").read_text("utf-8").replace("](../../docs/", "](").replace("](en.md#", "](#")
    return re.sub(r"\[(\w+)\]\(\.\./\.\./(\w+\.md)\)", r"\1 in `\2`", text)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the text of a page, with tables of the package in place of comments such as `<!-- table: formats -->`.

    A package of the reference (`::: spacy_lpcfg.trees`) gets the public names that it exports.
    """
    markdown = _TABLE.sub(lambda match: _TABLES[match[1]](), markdown)
    return _PACKAGE.sub(lambda match: f"{match[0]}\n    options:\n      members: {public_names(match[1])}", markdown)


def public_names(package: str) -> list[str]:
    """Return the names that a package exports."""
    return list(import_module(package).__all__)


def formats() -> str:
    """Return the table of the formats of trees."""
    from spacy_lpcfg.trees.formats import FORMATS

    rows = [
        (
            f"`{form.name}`",
            form.contents,
            ", ".join(f"`{suffix}`" for suffix in form.suffixes),
            ", ".join(f"`{suffix}`" for suffix in form.in_folders),
            "yes" if form.read else "by `convert --by`" if form.read_sentences else "",
            "yes" if form.write else "",
        )
        for form in FORMATS.values()
    ]
    return table(("Name", "Contents", "Files", "In a folder", "Read", "Written"), rows)


def decodings() -> str:
    """Return the table of decodings."""
    from spacy_lpcfg.parsing.decodings import DECODINGS

    rows = [(f"`{each.name}`", each.summary, each.needs) for each in DECODINGS.values()]
    return table(("Decoding", "Which tree", "What it needs"), rows)


def learners() -> str:
    """Return the table of the methods of `learn parser`."""
    from spacy_lpcfg.learners import LEARNERS

    rows = [(f"`--method {entry.name}`", entry.sentence) for entry in LEARNERS if entry.command == "parser"]
    return table(("Option", "What is learned"), rows)


def commands() -> str:
    """Return the table of the commands of the shell, with the first sentences of their help texts."""
    from typer.main import get_command

    from spacy_lpcfg.components.cli import lpcfg_cli

    return table(("Command", "What it does"), list(_command_rows(get_command(lpcfg_cli))))


def _command_rows(group: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield a row for each command of a group, those of groups within it too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _command_rows(command, f"{prefix}{name} ")
        else:
            yield f"`{prefix}{name}`", " ".join(command.help.split("\n\n")[0].split())


def registered() -> str:
    """Return the tables of the names that setup.cfg registers, one for each kind."""
    setup = ConfigParser()
    setup.read(Path(__file__).parents[1] / "setup.cfg", encoding="utf-8")
    parts = []
    for group, lines in setup["options.entry_points"].items():
        entries = [line.split(" = ") for line in lines.strip().splitlines()]
        rows = [(f"`{name}`", f"`{target.replace(':', '.')}`") for name, target in entries]
        parts.append(f"### {KINDS[group]}\n\n{table(('Name', 'Made by'), rows)}")
    return "\n\n".join(parts)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown, where a bar within a cell is escaped."""
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(cell.translate(_BAR) for cell in line)} |" for line in lines)


_BAR = str.maketrans({"|": r"\|"})


_TABLE = re.compile(r"<!-- table: (\w+) -->")
_PACKAGE = re.compile(r"^::: (spacy_lpcfg\.\w+)$(?!\n    options:)", re.MULTILINE)
_TABLES = {
    "formats": formats,
    "decodings": decodings,
    "learners": learners,
    "commands": commands,
    "registered": registered,
}


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Replace the formulas of a page by MathML, which browsers draw without a script."""
    return _FORMULA.sub(lambda match: mathml(unescape(match[3]), is_block=match[2] == "["), html)


def mathml(latex: str, *, is_block: bool = False) -> str:
    """Convert a formula to MathML; a block may scroll by itself where the screen is narrow.

    latex (str): The formula without dollar signs.
    is_block (bool): Whether the formula stands on a line of its own.
    RAISES (ValueError): If the formula has a command that latex2mathml does not know.
    """
    formula = convert(latex, display="block" if is_block else "inline")
    if unknown := re.search(r"\\(\w+|.)", formula):
        raise ValueError(f"Expected LaTeX that latex2mathml knows, but got {unknown[0]} in {latex!r}.")
    return f'<div class="formula">{formula}</div>' if is_block else formula
