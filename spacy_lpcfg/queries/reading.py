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
        for tree in some:
            _add_codes(codes, tree, strings)
        yield np.array(codes, np.int32)


def _add_codes(codes: list[int], tree: Tree, strings: Strings) -> None:
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            codes.append(CLOSE)
        elif node.word is not None:
            codes += (OPEN, strings[node.label], strings[node.word], CLOSE)
        else:
            codes += (OPEN, strings[node.label])
            stack.append(None)
            stack += node.children[::-1]


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
    """The codes of the trees that `read_trees` would read, several times faster.

    path (str): A bracketed file, gzipped or not; on_error (callable or None): as of `read_trees`.
    RAISES (TreebankError): As of `read_trees`.
    """
    try:
        return iter(list(_regular_codes(path, strings)))
    except (_Irregular, UnicodeDecodeError, EOFError, OSError, zlib.error):
        return codes_of_trees(read_trees(path, on_error=on_error), strings)


def _regular_codes(path: str, strings: Strings) -> Iterator[np.ndarray]:
    """RAISES (_Irregular): Where the file is not one complete tree after the other."""
    tokens = _Tokens(strings)
    rest = np.zeros(0, np.int32)
    with opened(path) as file:
        data = file.read(_BLOCK).removeprefix(_BYTE_ORDER_MARK)
        while data:
            line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise _Irregular
            data += line
            found = data.replace(b"(", b" ( ").replace(b")", b" ) ").split()
            codes = np.fromiter(map(tokens.__getitem__, found), np.int32, len(found))
            whole, rest = _split(np.concatenate([rest, codes]))
            yield _checked(whole, strings)
            data = file.read(_BLOCK)
    if len(rest):
        raise _Irregular


def _split(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes up to the end of the last whole tree, and the rest."""
    depth = np.cumsum(np.where(codes == OPEN, 1, np.where(codes == CLOSE, -1, 0)))
    ends = np.flatnonzero(depth == 0)
    n_whole = int(ends[-1]) + 1 if len(ends) else 0
    if depth.min(initial=0) < 0 or len(codes) - n_whole > MAX_NODES:
        raise _Irregular
    return codes[:n_whole], codes[n_whole:]


def _checked(codes: np.ndarray, strings: Strings) -> np.ndarray:
    """Codes of whole trees, with an empty label for each root that has none."""
    before = np.append(CLOSE, codes[:-1])
    is_text = codes >= FIRST
    depth = np.cumsum(np.where(codes == OPEN, 1, np.where(codes == CLOSE, -1, 0)))
    is_word = is_text & (before >= FIRST)
    unlabelled = (codes == OPEN) & (before == OPEN)
    names = [code for name in TREE_NAMES if (code := strings.get(name)) is not None]
    is_wrong = (
        (is_text & (before == CLOSE))  # a word beside nodes, or outside
        | (np.append(False, is_word[:-1]) & (codes != CLOSE))  # two words, or a node beside a word
        | ((codes == CLOSE) & (before != CLOSE) & ~np.append(False, is_word[:-1]))  # nothing in a node
        | (unlabelled & (depth != 2))
        | (is_text & (depth == 2) & np.isin(codes, names))  # maybe the name of a tree
    )
    if is_wrong.any() or np.diff(np.flatnonzero(depth == 0), prepend=-1).max(initial=0) > MAX_NODES:
        raise _Irregular
    return np.insert(codes, np.flatnonzero(unlabelled), strings[""]) if unlabelled.any() else codes
