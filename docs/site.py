"""Hooks for MkDocs: put the model cards into their page, and turn formulas into MathML while the site is built."""

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
    """Return the model cards as the text of the page on the English models; None leaves other pages as they are."""
    return cards() if page.file.src_uri == "english.md" else None


def cards() -> str:
    """Return the model cards one after the other, with links between them as links within a page."""
    text = "\n".join((MODELS / f"{name}.md").read_text("utf-8") for name in CARDS)
    return text.replace("](en.md#", "](#").replace("](en-fast.md)", "](#en-fast-the-fast-english-model-of-spacy-lpcfg)")


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
