"""All dialects by their names, and which of them a text looks like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from spacy_lpcfg.trees.brackets import TreebankError, build_trees, parse_trees
from spacy_lpcfg.trees.dialects.corpussearch import CorpusSearchBuilder, has_lemmas, without_comments
from spacy_lpcfg.trees.dialects.greynir import GreynirBuilder
from spacy_lpcfg.trees.dialects.keyaki import KeyakiBuilder
from spacy_lpcfg.trees.dialects.negra import read_export
from spacy_lpcfg.trees.dialects.tiger import read_tiger
from spacy_lpcfg.trees.tree import Tree

OnError = Callable[[TreebankError], None] | None
_OPENING = 2**16  # characters by which a file is judged


@dataclass(frozen=True)
class Dialect:
    """A form in which treebanks are written.

    name (str): What it is called.
    what (str): What is in it, in a few words.
    suffixes (tuple of str): Ends of the names of its files, without `.gz`; of a folder these are read.
    family (str): "brackets", "export" or "xml": files of another one cannot be read.
    read (callable): Lines, what to call them, a function as `on_error` of `read_trees`, and a Counter of what is left
        out, to trees.
    """

    name: str
    what: str
    suffixes: tuple[str, ...]
    family: str
    read: Callable[[Iterable[str], str, OnError, Counter[str]], Iterator[Tree]]


def first_lines(stream: Iterator[str]) -> list[str]:
    """The lines by which a file is judged, taken from its stream."""
    lines, n_left = [], _OPENING
    for line in stream:
        lines.append(line)
        n_left -= len(line) + 1
        if n_left < 0:
            break
    return lines


def _read_penn(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    return parse_trees(lines, path=path, on_error=on_error)


def _read_corpussearch(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    stream = iter(lines)
    opening = first_lines(stream)
    builder = CorpusSearchBuilder(path, has_lemmas("".join(opening)), dropped)
    return build_trees(without_comments(chain(opening, stream)), builder, on_error=on_error)


def _read_built(
    builder: type[KeyakiBuilder] | type[GreynirBuilder],
    lines: Iterable[str],
    path: str,
    on_error: OnError,
    dropped: Counter[str],
) -> Iterator[Tree]:
    return build_trees(lines, builder(path, dropped), on_error=on_error)


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("penn", "brackets as in the Penn Treebank", (".mrg",), "brackets", _read_penn),
        Dialect(
            "corpussearch",
            "brackets with codes, empty categories and lemmas, as in historical corpora",
            (".psd", ".tree"),
            "brackets",
            _read_corpussearch,
        ),
        Dialect("keyaki", "the Keyaki Treebank", (".psd",), "brackets", partial(_read_built, KeyakiBuilder)),
        Dialect("greynir", "GreynirCorpus", (".gld", ".psd"), "brackets", partial(_read_built, GreynirBuilder)),
        Dialect("negra", "the export format of NEGRA", (".export", ".negra"), "export", read_export),
        Dialect("tiger", "TIGER-XML", (".xml",), "xml", read_tiger),
    )
}

_LEFT_OUT = (
    "empty categories",
    "codes",
    "lemmas",
    "lemmas and notes",
    "trees without words",
    "trees of withheld words",
)


def told(dropped: Counter[str]) -> str:
    """What a dialect left out and changed, on a line; "" for nothing."""
    left_out = ", ".join(f"{dropped[name]:,} {name}" for name in _LEFT_OUT if dropped[name])
    changed = ", ".join(f"{n:,} {name}" for name, n in dropped.items() if n and name not in _LEFT_OUT)
    return "; ".join(filter(None, [left_out and f"{left_out} left out", changed]))


_GREYNIR = re.compile(r"\(META\s+\(ID-CORPUS|\s\(lemma ")
_KEYAKI = re.compile(r"\(ID [^\s()]*;[A-Za-z]+\)|\([^\s()]+;\*[A-Z0-9]+\*")
_CORPUSSEARCH = re.compile(r"\((?:CODE|ID|METADATA) [^()]+\)|\((?:IP-MAT|IP-SUB|IP-INF)[\s-]")
_EXPORT = re.compile(r"^#(?:BOS|FORMAT|BOT)\b", re.MULTILINE)
_TIGER = re.compile(r"<(?:corpus|graph|s)[\s>]")
_XML = re.compile(r"\s*<[?!A-Za-z]")


def looks_like(opening: str) -> str | None:
    """The name of the dialect of a text, by its first lines; None for none that is known."""
    if _XML.match(opening):
        return "tiger" if _TIGER.search(opening) else None
    if _EXPORT.search(opening):
        return "negra"
    if _GREYNIR.search(opening):
        return "greynir"
    if _KEYAKI.search(opening):
        return "keyaki"
    if "-NONE-" not in opening and _CORPUSSEARCH.search(opening):
        return "corpussearch"
    return "penn" if opening.lstrip().startswith("(") else None
