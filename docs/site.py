"""What MkDocs does with pages besides: the model cards in their place, and formulas without a script or a network."""

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
