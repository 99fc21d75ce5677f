"""The export format of NEGRA (Brants, 1997), versions 3 and 4: a line a word or phrase, `#BOS` to `#EOS` a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.brackets import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.formats.graphs import Graph, Phrase, Word, raised
from spacy_lpcfg.trees.tree import Tree

_ROOT = "0"
_PHRASE = re.compile(r"#\d{3,}")
_TABLES = ("#BOT", "#EOT")


def read_export(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of lines; arguments and errors are those of `TreeFormat.read`."""
    for first, rows, lemma in _sentences(lines, path):
        try:
            graph = raised(_graph(rows, lemma, path))
        except TreebankError as error:
            raise_or_report(error, on_error)
        except ValueError as error:
            raise_or_report(TreebankError(str(error), path, first), on_error)
        else:
            count_raised(graph.n_raised, graph.n_moved, dropped)
            yield graph.tree


def count_raised(n_raised: int, n_moved: int, dropped: Counter[str]) -> None:
    """Count a tree that was made continuous, and the punctuation that was moved."""
    dropped["discontinuous trees raised"] += n_raised > 0
    dropped["marks of punctuation lowered"] += n_moved


def _sentences(lines: Iterable[str], path: str) -> Iterator[tuple[int, list[tuple[int, str]], int | None]]:
    """Yield each sentence: its first line, its numbered lines, and how many columns of lemmas these have, if said."""
    rows: list[tuple[int, str]] | None = None
    first, is_table = 0, False
    lemma: int | None = None
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        key = line.split(None, 1)[0] if line.strip() else ""
        if key == "#FORMAT":
            lemma = int(line.split()[1:] == ["4"])
        elif key in _TABLES:
            is_table = key == "#BOT"
        elif key == "#BOS":
            first, rows = number, []
        elif key == "#EOS" and rows is not None:
            yield first, rows, lemma
            rows = None
        elif rows is not None and key:
            rows.append((number, line.partition("%%")[0]))
        elif key and not is_table and not key.startswith("%%"):
            raise TreebankError(f"Expected #BOS before a sentence, but got {shown(line[:40])}.", path, number)
    if rows is not None:
        raise TreebankError("Expected #EOS after the sentence that begins here, but the file ends.", path, first)


def _columns(line: str) -> list[str]:
    columns = re.split(r"\t+", line.strip()) if "\t" in line else line.split()
    return [column.strip() for column in columns]


def _has_lemmas(rows: Iterable[tuple[int, str]]) -> bool:
    """Return whether lines have lemmas: then the sixth column is the number of the parent, and not the fifth."""
    columns = next((row for row in (_columns(line) for _, line in rows) if len(row) > 4), [])
    return len(columns) > 5 and columns[5].isdecimal() and not columns[4].isdecimal()


def _graph(rows: Sequence[tuple[int, str]], lemma_column: int | None, path: str) -> Graph:
    lemma = int(_has_lemmas(rows)) if lemma_column is None else lemma_column
    words: list[Word] = []
    phrases: dict[str, Phrase] = {}
    for number, line in rows:
        columns = _columns(line)
        if len(columns) < 5 + lemma:
            names = (
                "word, lemma, tag, morphology, edge and parent" if lemma else "word, tag, morphology, edge and parent"
            )
            raise TreebankError(f"Expected {names}, but got {shown(line)}. Mend the line.", path, number)
        name, tag, edge, parent = columns[0], columns[1 + lemma], columns[3 + lemma], columns[4 + lemma]
        if _PHRASE.fullmatch(name):
            phrases[name[1:]] = Phrase(tag, parent, edge)
        else:
            words.append(Word(name, tag, parent, edge))
    return Graph(words, phrases, _ROOT)
