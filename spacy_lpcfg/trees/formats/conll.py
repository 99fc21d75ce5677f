"""Read the columns of CoNLL-2005, 2011 and 2012 (OntoNotes): a line for each word, with its part of the tree.

The part is in the first column that begins with a parenthesis, such as `(TOP(S(NP*`, where `*` stands for the word;
word and tag are in the two columns before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.brackets import parse_trees
from spacy_lpcfg.trees.errors import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.transforms import escape_token
from spacy_lpcfg.trees.tree import Tree

_BEGINS = re.compile(r"#begin document \((.*)\); part (\S+)")
_COMMENT = re.compile(r"#(?!begin|end)[^*]*$")  # without a part of a tree, which the word # has in CoNLL-2005
_PART = re.compile(r"\([^\s*]*\*\)*")
_SPEAKER, _N_COLUMNS = 9, 12  # of CoNLL-2012
_NO_TREE = "sentences without a tree"


def read_conll(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of a CoNLL file; arguments and errors are those of `TreeFormat.read`.

    The ID of a sentence is `document:part:number`, followed by the speaker where CoNLL-2012 has one.
    """
    for first, name, rows in _sentences(lines):
        column = next((i for i, part in enumerate(rows[0]) if i > 1 and _PART.fullmatch(part)), None)
        if column is None or "NOPARSE" in rows[0][column]:
            dropped[_NO_TREE] += 1
            continue
        try:
            trees = [*parse_trees(" ".join(_bracketed(row, column) for row in rows), path=path)]
            if len(trees) != 1:
                raise ValueError(f"Expected one tree a sentence, but got {len(trees)}. Mend its column of brackets.")
            yield trees[0].with_id(name + _speaker(rows[0]))
        except ValueError as error:
            message = error.message if isinstance(error, TreebankError) else str(error)
            raise_or_report(TreebankError(message, path, first), on_error)


def _sentences(lines: Iterable[str]) -> Iterator[tuple[int, str, list[list[str]]]]:
    """Yield the number of the first line, the ID without the speaker, and the rows of columns of each sentence."""
    document, n_sentences, first = "", 0, 0
    rows: list[list[str]] = []
    for number, line in enumerate(chain(lines, [""]), 1):
        if _COMMENT.match(line):
            continue
        if line.strip() and not line.startswith(("#begin", "#end")):
            first = first if rows else number
            rows.append(line.split())
        elif rows:
            n_sentences += 1
            yield first, f"{document}:{n_sentences}" if document else "", rows
            rows = []
        begins = _BEGINS.match(line)
        if begins:
            document, n_sentences = f"{begins[1]}:{begins[2]}", 0


def _bracketed(row: list[str], column: int) -> str:
    if len(row) <= column or "*" not in row[column]:
        raise ValueError(
            f"Expected a word, its tag and its part of the tree, such as (NP*, but got {shown(' '.join(row))}."
        )
    word, tag, part = row[column - 2 : column + 1]
    return part.replace("*", f" ({escape_token(tag)} {escape_token(word)}) ", 1)


def _speaker(row: list[str]) -> str:
    is_known = len(row) >= _N_COLUMNS and row[_SPEAKER] != "-"
    return f":{row[_SPEAKER]}" if is_known else ""
