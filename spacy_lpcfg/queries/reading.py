"""Encode trees as arrays of integers: a code for each parenthesis, label and word."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.formats.penn import IS_IRREGULAR, function_mark
from spacy_lpcfg.trees.lines import LONGEST_LINE, opened
from spacy_lpcfg.trees.source import SentenceSource
from spacy_lpcfg.trees.tree_builder import MAX_NODES, TREE_NAMES

Sources: TypeAlias = list[SentenceSource | None]

OPEN, CLOSE, FIRST = range(3)
"""Codes of brackets, and the code of the first string. Each opening bracket is followed by a label."""
_N_TREES = 10_000  # trees that are encoded at a time
_BLOCK = 2**22  # bytes that are read at a time
_OPENING = 2**16  # bytes by which the mark before functions is judged
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Strings(dict[str, int]):
    """A dict from labels and words to codes; looking up a new string gives it the next code."""

    def __missing__(self, string: str) -> int:
        self[string] = code = len(self) + FIRST
        return code


def codes_of_trees(trees: Iterable[Tree], strings: Strings, sources: Sources) -> Iterator[np.ndarray]:
    """Yield the codes of trees, in int32 arrays of up to 10,000 trees each.

    strings (Strings): The codes of labels and words, to which new ones are added.
    sources (list): Receives the `source` of each tree.
    """
    for batch in in_batches(trees, _N_TREES):
        sources += [tree.source for tree in batch]
        codes: list[int] = []
        stack: list[Tree | None] = [*batch[::-1]]  # None closes a bracket
        while stack:
            node = stack.pop()
            if node is None:
                codes.append(CLOSE)
            elif node.word is not None:
                codes += (OPEN, strings[node.label], strings[node.word], CLOSE)
            else:
                codes += (OPEN, strings[node.label])
                stack += (None, *node.children[::-1])
        yield np.array(codes, np.int32)


# Files -------------------------------------------------------------------------------------------


class _Irregular(Exception):
    """Raised for a file that the fast reader cannot read; `read_trees` then reads the file, and reports mistakes."""


class _Tokens(dict[bytes, int]):
    """A dict from the tokens of a file, as bytes, to codes; new tokens also get their codes in `strings`."""

    def __init__(self, strings: Strings) -> None:
        super().__init__({b"(": OPEN, b")": CLOSE})
        self.strings = strings

    def __missing__(self, token: bytes) -> int:
        self[token] = code = self.strings[token.decode()]
        return code


def codes_of_file(
    path: str, strings: Strings, sources: Sources, on_error: OnError, dropped: Counter[str] | None
) -> Iterator[np.ndarray]:
    """Return the codes of the trees in a file, in int32 arrays: much faster than `read_trees`, with the same errors.

    strings (Strings): The codes of labels and words, to which new ones are added.
    sources (list): Receives the `source` of each tree.
    on_error (callable or None), dropped (Counter or None): As for `read_trees`.
    """
    lines = _FirstLines()
    try:
        codes = list(_regular_codes(path, strings, lines))
    except (_Irregular, UnicodeDecodeError, EOFError, OSError, zlib.error):
        return codes_of_trees(read_trees(path, on_error=on_error, dialect="penn", dropped=dropped), strings, sources)
    sources += [SentenceSource(line=line) for line in lines.found]
    return iter(codes)


class _FirstLines:
    """The lines on which the trees of a file begin, found while the file is read in parts."""

    def __init__(self) -> None:
        self.found: list[int] = []
        self._n_lines = self._depth = 0  # of the parts so far

    def add(self, part: bytes) -> None:
        """Append to `found` the lines on which trees begin in the next part of the file."""
        characters = np.frombuffer(part, np.uint8)
        line_ends = np.flatnonzero(characters == ord("\n"))
        brackets = np.flatnonzero((characters == ord("(")) | (characters == ord(")")))
        steps = np.where(characters[brackets] == ord("("), 1, -1)
        depths = self._depth + np.cumsum(steps)
        begins = brackets[(steps == 1) & (depths == 1)]
        self.found += (self._n_lines + 1 + np.searchsorted(line_ends, begins)).tolist()
        self._n_lines += len(line_ends)
        self._depth += int(steps.sum())


def _regular_codes(path: str, strings: Strings, lines: _FirstLines) -> Iterator[np.ndarray]:
    """Yield the codes of a file of complete trees, and find the lines on which they begin.

    RAISES (_Irregular): If the file is anything but one complete tree after the other.
    """
    tokens = _Tokens(strings)
    incomplete = np.zeros(0, np.int32)
    with opened(path) as file:
        data = file.read(_BLOCK).removeprefix(_BYTE_ORDER_MARK)
        has_marks = bool(function_mark(data[:_OPENING].decode(errors="ignore")))
        while data:
            line = file.readline(LONGEST_LINE)
            if has_marks or IS_IRREGULAR.search(data + line):
                raise _Irregular
            lines.add(data + line)
            spellings = (data + line).replace(b"(", b" ( ").replace(b")", b" ) ").split()
            codes = np.append(incomplete, np.fromiter(map(tokens.__getitem__, spellings), np.int32, len(spellings)))
            depth = np.cumsum((codes == OPEN).astype(np.int32) - (codes == CLOSE))
            ends = np.append(-1, np.flatnonzero(depth == 0))
            if len(line) == LONGEST_LINE or np.diff(ends, append=len(codes)).max() > MAX_NODES:
                raise _Irregular
            whole = ends[-1] + 1
            yield _labelled(codes[:whole], depth[:whole], strings)
            incomplete, data = codes[whole:], file.read(_BLOCK)
    if len(incomplete):
        raise _Irregular


def _labelled(codes: np.ndarray, depth: np.ndarray, strings: Strings) -> np.ndarray:
    """Insert the empty label where the root of a tree has none, and return the codes.

    RAISES (_Irregular): If the codes are not complete trees, or a tree may have an `(ID ...)`.
    """
    before = np.append(CLOSE, codes)[:-1]
    is_text = codes >= FIRST
    is_word = is_text & (before >= FIRST)
    after_word = np.append(False, is_word)[:-1]
    is_unlabelled = (codes == OPEN) & (before == OPEN)
    names = [code for name in TREE_NAMES if (code := strings.get(name)) is not None]
    is_wrong = (
        (is_text & (before == CLOSE))  # a word beside nodes, or outside
        | (after_word & (codes != CLOSE))  # two words, or a node beside a word
        | ((codes == CLOSE) & (before != CLOSE) & ~after_word)  # nothing in a node
        | (is_unlabelled & (depth != 2))
        | (is_text & (depth == 2) & np.isin(codes, names))  # maybe the name of a tree
    )
    if is_wrong.any() or depth.min(initial=0) < 0:
        raise _Irregular
    return np.insert(codes, np.flatnonzero(is_unlabelled), strings[""]) if is_unlabelled.any() else codes
