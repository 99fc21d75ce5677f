"""Self-contained HTML pages with pictures."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from spacy_lpcfg.pictures.drawing import SCROLL_HINTS
from spacy_lpcfg.visible import visible

STYLE = (
    """
:root { color-scheme: light dark; --text: #24292f; --line: #d0d7de; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --line: #444c56; --page: #15191f } }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem auto;
  max-width: 75rem; overflow-wrap: anywhere; padding: 0 1rem }
h1, h2, h3 { line-height: 1.25 }
h1 { font-size: 1.5rem }
h2 { font-size: 1.15rem; text-align: start; unicode-bidi: plaintext }
section { border-top: 1px solid var(--line); padding: .5rem 0 1rem; overflow-x: auto }
svg { max-width: none }
"""
    + SCROLL_HINTS
)


def html_page(
    title: str, sections: Iterable[tuple[str, str]], *, intro: str = "", style: str = "", outro: str = ""
) -> str:
    """Return a self-contained HTML page with one section for each picture.

    title (str): The title, in plain text.
    sections (iterable of (str, str)): The caption, in plain text, and the HTML of each section.
    intro (str): HTML above the sections.
    style (str): Additional CSS.
    outro (str): HTML below the sections.
    """
    body = "\n".join(
        f"<section>\n<h2>{escape(visible(caption))}</h2>\n{html}\n</section>" for caption, html in sections
    )
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}{style}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{intro}\n{body}\n{outro}</body>\n</html>\n"
    )
