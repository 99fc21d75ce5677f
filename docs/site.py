"""What MkDocs does with pages besides: model cards, tables that the package has, and formulas without a script."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

MODELS = Path(__file__).parents[1] / "spacy_lpcfg" / "models"
CARDS = ("en", "en-fast")
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_read_source(page: Any, config: Any) -> str | None:
    """The text of a page: of the English models the model cards, of others what stands in their files."""
    return cards() if page.file.src_uri == "english.md" else None


def cards() -> str:
    """The model cards one after the other, with links between them as links within a page."""
    text = "\n".join((MODELS / f"{name}.md").read_text("utf-8") for name in CARDS)
    return text.replace("](en.md#", "](#").replace("](en-fast.md)", "](#en-fast-the-fast-english-model-of-spacy-lpcfg)")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the text of a page, with tables of the package in place of comments such as `<!-- table: formats -->`."""
    return _TABLE.sub(lambda match: _TABLES[match[1]](), markdown)


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


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


_TABLE = re.compile(r"<!-- table: (\w+) -->")
_TABLES = {"formats": formats, "decodings": decodings}


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """A page with its formulas as MathML, which browsers draw themselves."""
    return _FORMULA.sub(lambda found: mathml(unescape(found[3]), is_block=found[2] == "["), html)


def mathml(latex: str, *, is_block: bool = False) -> str:
    """A formula as MathML.

    latex (str): without dollar signs.
    RAISES (ValueError): For a command that is not known.
    """
    found = convert(latex, display="block" if is_block else "inline")
    if unknown := re.search(r"\\(\w+|.)", found):
        raise ValueError(f"Expected LaTeX that latex2mathml knows, but got {unknown[0]} in {latex!r}.")
    return found
