"""Pages of Markdown, taken apart: their blocks of code, their links, and the commands that they name."""

import gzip
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from spacy_lpcfg.trees import read_trees

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
WHOLE = [README, *(DOCS / f"{name}.md" for name in ("tutorial", "commands", "surprisal", "brackets"))]
"""Pages of which every block of bash is run, with these exceptions and values."""

LEFT_OUT = {
    "python3 -m venv": "the tests run in an environment",
    "source .venv": "the tests run in an environment",
    "pip install": "what is tested is installed",
    "pytest": "would run this test again",
    **{f"spacy-lpcfg {name}": "ends when it is stopped" for name in ("serve", "corenlp", "correct")},
    "python -m spacy project assets": "needs the network",
    "python -m spacy project document": "writes pages",
}
"""Commands, by how they begin, that a test cannot do, and why."""
VALUES = {
    "FOLDER": "treebank",
    "TREES": "treebank/dev.mrg",
    "TRAIN": "treebank/train.mrg",
    "DEV": "treebank/dev.mrg",
    "TEXT": "text.txt",
    "TAGGED": "tagged.txt",
    "NAME": "name",
    "CODE": "en",
    **{label: label for label in ("PRP", "SBAR")},  # of patterns, which search.md has
}
"""What stands for the words in capitals that a reader puts something of his own for."""
SMALL = {"SPACY_CONFIG_OVERRIDES": "--training.max_steps 40 --vars.states 8"}
"""The environment of commands that run: networks learn in few steps under `spacy train`."""

_FENCE = re.compile(r"^(<!-- run -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SEPARATORS = {"|", "&&", "||", ";", ">", "&"}


class Block(NamedTuple):
    """A block of code.

    language (str): "python", "bash" or another; "" for none.
    is_run (bool): Whether the tests run it: all Python, and of bash what stands right below `<!-- run -->`, or on one
        of the pages `WHOLE`.
    line (int): Of the page, where the code begins, from 1.
    """

    language: str
    code: str
    is_run: bool
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    run = {"python", "bash"} if page in WHOLE else {"python"}
    return [
        Block(language, code, bool(mark) or language in run, text.count("\n", 0, found.start(3)) + 1)
        for found in _FENCE.finditer(text)
        for mark, language, code in [found.groups(default="")]
    ]


def runnable(code: str) -> str:
    """A block of bash as a test runs it: without what is `LEFT_OUT`, and with `VALUES`.

    RAISES (ValueError): For a word in capitals that has no value.
    """
    lines = []
    for line in code.replace("\\\n", " ").splitlines():
        kept = [part for part in line.split("&&") if not part.strip().startswith(tuple(LEFT_OUT))]
        filled = re.sub(r"\b[A-Z]{3,}\b", lambda word: VALUES.get(word[0], word[0]), "&&".join(kept))
        if unknown := set(re.findall(r"\b[A-Z]{3,}\b", filled.partition("#")[0])) - {*VALUES}:
            raise ValueError(
                f"Expected a value for {', '.join(sorted(unknown))} in tests/pages.py, VALUES, to run {line!r}."
            )
        lines.append(filled.strip())
    return "\n".join(lines)


def make_files(folder: Path, sample: Path) -> None:
    """Make files of a reader's own, which pages name without making them, of the first trees of a sample treebank."""
    trees = {part: list(islice(read_trees(sample / f"{part}.mrg"), n)) for part, n in (("train", 80), ("dev", 12))}
    text = "".join(f"{' '.join(tree.words)}\n" for tree in trees["dev"])
    tagged = "".join(f"{' '.join(map('/'.join, zip(tree.words, tree.tags, strict=True)))}\n" for tree in trees["train"])
    (folder / "treebank").mkdir()
    for part in trees:
        for path in (folder / f"{part}.mrg", folder / "treebank" / f"{part}.mrg"):
            path.write_text("".join(f"{tree}\n" for tree in trees[part]), encoding="utf-8")
    for name in ("train.txt", "dev.txt", "test.txt", "text.txt", "raw.txt"):
        (folder / name).write_text(text, encoding="utf-8")
    every = "".join(f"{' '.join(tree.words)}\n" for tree in read_trees(sample / "train.mrg"))
    (folder / "news.txt").write_text(text, encoding="utf-8")
    with gzip.open(folder / "text.txt.gz", "wt", encoding="utf-8") as file:
        file.write(every)
    (folder / "tagged.txt").write_text(tagged, encoding="utf-8")
    with gzip.open(folder / "brown_tagged.txt.gz", "wt", encoding="utf-8") as file:
        file.write(tagged)


def inline_code(page: Path) -> list[str]:
    """What stands between backticks outside of blocks, each on one line."""
    return [" ".join(code.split()) for code in _CODE.findall(_FENCE.sub("", page.read_text("utf-8")))]


def without_code(page: Path) -> str:
    return _CODE.sub("", _FENCE.sub("", page.read_text("utf-8")))


def links(page: Path) -> list[str]:
    """The targets of links and pictures outside of code, but those to other sites."""
    return [target for target in _LINK.findall(without_code(page)) if "://" not in target]


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every simple command in blocks of bash and between backticks."""
    for block in blocks(page):
        if block.language == "bash":
            yield from simple_commands(block.code)
    for code in inline_code(page):
        if code.startswith(("python ", "spacy ", "spacy-lpcfg ")):
            yield from _simple(code.replace("[", "").replace("]", ""))


def simple_commands(code: str) -> Iterator[list[str]]:
    """The words of every simple command in a block of bash."""
    for line in code.replace("\\\n", " ").splitlines():
        yield from _simple(line)


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
