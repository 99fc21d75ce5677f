"""Read NEGRA's export format (Brants, 1997), versions 3 and 4: a line for each word and phrase, `#BOS` to `#EOS`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.errors import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.formats.graphs import ROOT, Graph, Phrase, Raised, Word, make_continuous
from spacy_lpcfg.trees.tree import Tree

_NO_PHRASE = "0"  # in the column of parents
_PHRASE = re.compile(r"#\d{3,}")
_TABLES = ("#BOT", "#EOT")


def read_export(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of a NEGRA export file; arguments and errors are those of `TreeFormat.read`.

    RAISES (TreebankError): Even with `on_error`, if a line is outside of sentences, or the file ends within a sentence.
    """
    for first, sent_id, rows, n_lemmas in _sentences(lines, path):
        try:
            continuous = make_continuous(_graph(rows, n_lemmas, path))
        except TreebankError as error:
            raise_or_report(error, on_error)
        except ValueError as error:
            raise_or_report(TreebankError(str(error), path, first), on_error)
        else:
            count_raised(continuous, dropped)
            yield continuous.tree.with_id(sent_id)


def count_raised(continuous: Raised, dropped: Counter[str]) -> None:
    """Count in `dropped` whether a tree was discontinuous, and how many punctuation marks were moved."""
    dropped["discontinuous trees raised"] += continuous.n_raised > 0
    dropped["marks of punctuation lowered"] += continuous.n_moved


def _sentences(lines: Iterable[str], path: str) -> Iterator[tuple[int, str, list[tuple[int, str]], int | None]]:
    """Yield each sentence: the number of its first line, its ID, its numbered lines, and the number of lemma columns.

    The number of lemma columns is 0 or 1 by the line `#FORMAT`, and None in a file without such a line.
    """
    rows: list[tuple[int, str]] | None = None
    first, sent_id, is_table = 0, "", False
    n_lemmas: int | None = None
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        key = line.split(None, 1)[0] if line.strip() else ""
        if key == "#FORMAT":
            n_lemmas = int(line.split()[1:] == ["4"])
        elif key in _TABLES:
            is_table = key == "#BOT"
        elif key == "#BOS":
            first, sent_id, rows = number, " ".join(line.split()[1:2]), []
        elif key == "#EOS" and rows is not None:
            yield first, sent_id, rows, n_lemmas
            rows = None
        elif not key or key.startswith("%%"):
            continue
        elif rows is not None:
            rows.append((number, line.partition("%%")[0]))
        elif not is_table:
            raise TreebankError(f"Expected #BOS before a sentence, but got {shown(line[:40])}.", path, number)
    if rows is not None:
        raise TreebankError("Expected #EOS after the sentence that begins here, but the file ends.", path, first)


def _columns(line: str) -> list[str]:
    columns = re.split(r"\t+", line.strip()) if "\t" in line else line.split()
    return [column.strip() for column in columns]


def _has_lemmas(rows: Iterable[tuple[int, str]]) -> bool:
    """Return whether lines have a lemma column, so that the parent's number is in the sixth column, not the fifth."""
    columns = next((row for row in (_columns(line) for _, line in rows) if len(row) > 4), [])
    return len(columns) > 5 and columns[5].isdecimal() and not columns[4].isdecimal()


def _graph(rows: Sequence[tuple[int, str]], n_lemmas: int | None, path: str) -> Graph:
    if n_lemmas is None:
        n_lemmas = int(_has_lemmas(rows))
    words: list[Word] = []
    phrases: dict[str, Phrase] = {}
    for number, line in rows:
        columns = _columns(line)
        if len(columns) < 5 + n_lemmas:
            names = f"word,{' lemma,' * n_lemmas} tag, morphology, edge and parent"
            raise TreebankError(f"Expected {names}, but got {shown(line)}. Mend the line.", path, number)
        name, (tag, _, edge, parent) = columns[0], columns[1 + n_lemmas : 5 + n_lemmas]
        parent = ROOT if parent == _NO_PHRASE else parent
        if _PHRASE.fullmatch(name):
            phrases[name[1:]] = Phrase(tag, parent, edge)
        else:
            words.append(Word(name, tag, parent, edge))
    return Graph(words, phrases)
