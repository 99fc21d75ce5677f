"""Trees as codes: a number for each bracket, label and word, which arrays are made of."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from spacy_lpcfg.trees import Tree, TreebankError, read_trees
from spacy_lpcfg.trees.brackets import LONGEST_LINE, MAX_NODES, TREE_NAMES, opened

OPEN, CLOSE, FIRST = range(3)
"""The codes of brackets, and that of the first string. A label comes after each opening bracket."""
_N_TREES = 10_000  # of which codes are made at a time
_BLOCK = 2**22  # bytes of a file that are read at a time
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Strings(dict[str, int]):
    """Labels and words, with a code for each one that is asked for."""

    def __missing__(self, string: str) -> int:
        self[string] = code = len(self) + FIRST
        return code


def codes_of_trees(trees: Iterable[Tree], strings: Strings) -> Iterator[np.ndarray]:
    """The codes of trees, some at a time: int32 arrays."""
    rest = iter(trees)
    while some := list(islice(rest, _N_TREES)):
        codes: list[int] = []
        stack: list[Tree | None] = [*some[::-1]]  # None closes a bracket
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
    """Something in a file that `read_trees` has to look at: mostly a mistake."""


class _Tokens(dict[bytes, int]):
    """The codes of the tokens of a file."""

    def __init__(self, strings: Strings) -> None:
        super().__init__({b"(": OPEN, b")": CLOSE})
        self.strings = strings

    def __missing__(self, token: bytes) -> int:
        self[token] = code = self.strings[token.decode()]
        return code


def codes_of_file(
    path: str, strings: Strings, on_error: Callable[[TreebankError], None] | None
) -> Iterator[np.ndarray]:
    """The codes of the trees that `read_trees` would read, several times faster; arguments and errors are its own."""
    try:
        return iter(list(_regular_codes(path, strings)))
    except (_Irregular, UnicodeDecodeError, EOFError, OSError, zlib.error):
        return codes_of_trees(read_trees(path, on_error=on_error, dialect="penn"), strings)


def _regular_codes(path: str, strings: Strings) -> Iterator[np.ndarray]:
    """RAISES (_Irregular): Where the file is not one complete tree after the other."""
    tokens = _Tokens(strings)
    rest = np.zeros(0, np.int32)
    with opened(path) as file:
        data = file.read(_BLOCK).removeprefix(_BYTE_ORDER_MARK)
        while data:
            line = file.readline(LONGEST_LINE)
            found = (data + line).replace(b"(", b" ( ").replace(b")", b" ) ").split()
            codes = np.append(rest, np.fromiter(map(tokens.__getitem__, found), np.int32, len(found)))
            depth = np.cumsum((codes == OPEN).astype(np.int32) - (codes == CLOSE))
            ends = np.append(-1, np.flatnonzero(depth == 0))
            if len(line) == LONGEST_LINE or np.diff(ends, append=len(codes)).max() > MAX_NODES:
                raise _Irregular
            whole = ends[-1] + 1
            yield _labelled(codes[:whole], depth[:whole], strings)
            rest, data = codes[whole:], file.read(_BLOCK)
    if len(rest):
        raise _Irregular


def _labelled(codes: np.ndarray, depth: np.ndarray, strings: Strings) -> np.ndarray:
    """Codes of whole trees, with an empty label for each root that has none; errors as above."""
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
