"""Pages of Markdown, taken apart: their blocks of code, their links, and the commands that they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^(<!-- run -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SEPARATORS = {"|", "&&", "||", ";", ">", "&"}


class Block(NamedTuple):
    """A block of code.

    language (str): "python", "bash" or another; "" for none.
    is_run (bool): whether the tests run it: all Python, and of bash what stands right below `<!-- run -->`.
    line (int): of the page, where the code begins, from 1.
    """

    language: str
    code: str
    is_run: bool
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(language, code, bool(mark) or language == "python", text.count("\n", 0, found.start(3)) + 1)
        for found in _FENCE.finditer(text)
        for mark, language, code in [found.groups(default="")]
    ]


def inline_code(page: Path) -> list[str]:
    """What stands between backticks outside of blocks, each on one line."""
    return [" ".join(code.split()) for code in _CODE.findall(_FENCE.sub("", page.read_text("utf-8")))]


def links(page: Path) -> list[str]:
    """The targets of links outside of code, but those to other sites."""
    text = _CODE.sub("", _FENCE.sub("", page.read_text("utf-8")))
    return [target for target in _LINK.findall(text) if "://" not in target]


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every simple command in blocks of bash and between backticks."""
    for block in blocks(page):
        if block.language == "bash":
            for line in block.code.replace("\\\n", " ").splitlines():
                yield from _simple(line)
    for code in inline_code(page):
        if code.startswith(("python ", "spacy ", "spacy-lpcfg ")):
            yield from _simple(code.replace("[", "").replace("]", ""))


def _simple(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word not in _SEPARATORS:
            words.append(word)
        elif words:
            yield words
            words = []
