r"""Read and write bracketed treebank files, as a stream and with errors that name file and line.

The format is that of the Penn Treebank and its many relatives. White space between tokens is
free: several trees a line and a tree over many lines are both read. The outermost bracket may be
unlabelled, `( (S ...))`. Labels and words may contain any character but ASCII white space and round
brackets, and are not changed (`unescape_token` decodes escapes). In a word, NLTK writes a bracket
as `\(` or `\)`, which is read as `-LRB-` or `-RRB-`. A node `(ID ...)` or `(METADATA ...)` beside
the tree in an unlabelled outermost bracket, as in the Icelandic and the historical English
treebanks, names the tree and is dropped.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import BinaryIO, Protocol, cast

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike, gzipping, open_file, replacing
from spacy_lpcfg.trees.tree import Tree

_TOKEN = re.compile(r"[()]|[^\s()]+", re.ASCII)
_WRITABLE = re.compile(r"[^\s()\ud800-\udfff]+", re.ASCII)  # UTF-8 has no halves of characters
UTF_8 = "utf-8"
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([^"']+)""")
LONGEST_LINE = 2**26
"""Limit on the bytes of a line, and on the characters of a tree, which bounds memory."""
MAX_NODES = 2**20
"""Limit on the nodes of a tree, which bounds memory."""
_END = ""  # token for a position where a tree must be complete
TREE_NAMES = frozenset({"ID", "METADATA"})


class TreebankError(ValueError):
    """An error in a treebank file or text, with its position.

    path (str): The file, or the name that `parse_trees` was given for the text.
    line (int): The line to look at, from 1; of a malformed tree in brackets the one where it begins.
    """

    def __init__(self, message: str, path: str, line: int) -> None:
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


OnError = Callable[[TreebankError], None] | None
"""The function to call with the error of a broken tree, which is then skipped; None to raise the error."""


def raise_or_report(error: TreebankError, on_error: OnError) -> None:
    """Raise the error of a broken tree, or call `on_error` with it."""
    if on_error is None:
        raise error
    on_error(error)


class BrokenFileError(TreebankError):
    """A treebank file that cannot be read at all, so that skipping a tree does not help."""


class _TooLarge(BrokenFileError):
    """A tree that exceeds a limit on size; reading does not continue after it."""


def parse_trees(
    lines: str | Iterable[str],
    *,
    path: str = "<text>",
    on_error: OnError = None,
) -> Iterator[Tree]:
    """Parse the trees of a bracketed text, one at a time.

    lines (str or iterable of str): A text, or its lines, such as an open file.
    path (str): The name of the text in errors.
    on_error (callable or None): Called once with the error of every malformed tree, which is
        skipped; None raises the error. Parsing continues after the malformed tree, which ends at
        its closing bracket, or before the next line that begins with a bracket indented no deeper
        than the tree's first line. Once a tree was found to run over such a line, every such line
        begins a tree.
    YIELDS (Tree): The trees; a text without trees is not an error.
    RAISES (TreebankError): For the first malformed tree, if `on_error` is None.
    """
    yield from build_trees(lines, TreeBuilder(path), on_error=on_error)


def build_trees(
    lines: str | Iterable[str], builder: TreeBuilder, *, on_error: OnError = None, first_line: int = 1
) -> Iterator[Tree]:
    """Yield the trees that a builder makes of a bracketed text; errors and other arguments are those of `parse_trees`.

    first_line (int): The number of the first line in errors.
    """
    source = _Source(lines.split("\n") if isinstance(lines, str) else lines, first_line)
    for number, line in source:
        if not builder.is_open:
            source.forget(is_whole=not builder.is_broken)
        elif source.n_buffered > LONGEST_LINE:
            raise _TooLarge(_TREE_TOO_LONG.format(n=LONGEST_LINE), builder.path, builder.line)
        tokens = iter(source.tokens(line, after_error=builder.is_broken, depth=builder.depth))
        while True:
            try:
                yield from builder.read(tokens, number)
                break
            except _TooLarge:
                raise
            except TreebankError as error:
                next_line = source.go_back(error.line)
                raise_or_report(source.likely_error(error, next_line), on_error)
                if next_line is not None:
                    builder.forget()
                    break


def write_trees(path: PathLike, trees: Iterable[Tree]) -> None:
    """Write trees, one a line, in UTF-8; compressed with gzip if the name ends in `.gz`.

    The file is replaced atomically: after an error the old file is unchanged.

    path (path): The file.
    trees (iterable of Tree): The trees.
    RAISES (ValueError): If a label (but of a root) or word is empty, or contains white space, round brackets, or lone
        surrogates.
    """
    with replacing(path) as file, gzipping(file, is_zipped=os.fspath(path).endswith(".gz")) as stream:
        for line in bracket_lines(trees):
            stream.write(f"{line}\n".encode())


def bracket_lines(trees: Iterable[Tree]) -> Iterator[str]:
    """Yield each tree as a line in brackets; errors are those of `write_trees`."""
    for tree in trees:
        check_writable(tree)
        yield str(tree)


class _Source:
    """Numbered lines split into tokens, which can be re-read from a line that an unclosed tree swallowed."""

    def __init__(self, lines: Iterable[str], first_line: int) -> None:
        numbered: Iterator[tuple[int, str | None]] = enumerate(chain(lines, [None]), first_line)  # None marks the end
        self._lines = numbered
        self._again: deque[tuple[int, str | None]] = deque()
        self._buffer: list[tuple[int, str | None]] = []  # lines of the current tree
        self.n_buffered = 0  # characters in the buffer
        self._indent = 0  # indentation of the line where the last malformed tree began
        self._went_back = False
        self._is_flush = False  # whether nodes within trees begin lines that look like the beginning of a tree

    def __iter__(self) -> Iterator[tuple[int, str | None]]:
        while True:
            entry = self._again.popleft() if self._again else next(self._lines, None)
            if entry is None:
                return
            self._buffer.append(entry)
            self.n_buffered += len(entry[1] or "")
            yield entry

    def forget(self, *, is_whole: bool) -> None:
        """Drop all buffered lines but the last, because no tree was open before it.

        is_whole (bool): Whether the lines that are dropped hold no broken tree.
        """
        if is_whole and not self._is_flush and len(self._buffer) > 2:
            indent = _indent(self._buffer[0][1])
            self._is_flush = any(_begins_tree(line, indent) for _, line in self._buffer[1:-1])
        del self._buffer[:-1]
        self.n_buffered = len(self._buffer[-1][1] or "")

    def tokens(self, line: str | None, *, after_error: bool, depth: int) -> list[str]:
        """Return the tokens of a line; after an error, a line that begins a tree first ends the one before.

        depth (int): The number of nodes that are open before the line.
        """
        if line is None:
            return [_END]
        if "\\" in line:
            line = _without_escapes(line, depth)
        tokens = list(map(sys.intern, _TOKEN.findall(line)))
        if (after_error or self._went_back) and _begins_tree(line, self._indent):
            tokens.insert(0, _END)
        return tokens

    def go_back(self, number: int) -> int | None:
        """Return to the first line after `number` that begins a tree; return its number, None if none has been read."""
        self._indent = next(_indent(line) for n, line in self._buffer if n == number)
        for i, (n, line) in enumerate(self._buffer):
            if n > number and _begins_tree(line, self._indent):
                self._again.extendleft(reversed(self._buffer[i:]))
                self._buffer.clear()
                self.n_buffered = 0
                self._went_back = True
                return n
        return None

    def likely_error(self, error: TreebankError, next_line: int | None) -> TreebankError:
        """Return the error of a malformed tree: that it is not closed, if it runs over a line that begins a tree."""
        if next_line is None or self._is_flush:
            return error
        return TreebankError(_NOT_CLOSED_BEFORE.format(line=error.line, next=next_line), error.path, error.line)


def _begins_tree(line: str | None, indent: int) -> bool:
    """Return whether a line begins with a bracket, indented no deeper than `indent`."""
    return line is not None and line.lstrip()[:1] == "(" and _indent(line) <= indent


def _without_escapes(line: str, depth: int) -> str:
    r"""Return a line with `-LRB-` and `-RRB-` for the escaped brackets `\(` and `\)`, if it has such.

    The backslash may also be the end of a word, as in `(NNP C:\)`. Of the two readings, the right one is that in which
    the tree ends with the line, or else in which the line has as many closing as opening brackets.

    depth (int): The number of nodes that are open before the line.
    """
    escaped = line.replace("\\(", "-LRB-").replace("\\)", "-RRB-")
    if escaped == line:
        return line
    n_open = [(text, text.count("(") - text.count(")")) for text in (escaped, line)]
    balanced = [text for target in (-depth, 0) for text, n in n_open if n == target]
    return balanced[0] if balanced else escaped


def _indent(line: str | None) -> int:
    return len(line) - len(line.lstrip()) if line is not None else 0


class OpenNode:
    """A node whose closing bracket has not been read yet."""

    __slots__ = ("children", "is_pruned", "label", "word")

    def __init__(self) -> None:
        self.is_pruned = False  # whether a dialect has left out children
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Tree] = []

    def __str__(self) -> str:
        return "( ...)" if self.label is None else f"({self.label:.80} ...)"


class TreeBuilder:
    """A builder of trees from tokens; dialects are subclasses. After an error it skips to the next tree.

    path (str): The name of the text in errors.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.forget()

    def forget(self) -> None:
        """Reset the state, as if nothing had been read."""
        self.is_broken = False
        self.line = 0  # where the current tree began
        self._n_nodes = 0  # nodes of the current tree so far
        self._stack: list[OpenNode] = []
        self._finished: Tree | None = None  # a complete tree, an error if text follows it

    def finished(self, tree: Tree) -> Tree | None:
        """Convert a complete tree of the dialect; return None to drop it.

        RAISES (ValueError): If the tree is malformed.
        """
        return _without_names(tree)

    @property
    def depth(self) -> int:
        """The number of nodes that are open after the tokens so far."""
        return len(self._stack)

    @property
    def is_open(self) -> bool:
        """Whether the tokens so far end inside a tree."""
        return bool(self._stack)

    def read(self, tokens: Iterable[str], number: int) -> Iterator[Tree]:
        """Read the tokens of a line (after an error: the remaining ones) and yield the trees that they complete."""
        for token in tokens:
            if token == "(":
                if not self._stack:
                    yield from self._take_finished()
                    self.line = number
                    self.is_broken = False
                    self._n_nodes = 0
                self._open(number)
            elif self.is_broken:
                self._skip(token)
            elif token == ")":
                self._close(number)
            elif token == _END:
                self._end()
            else:
                self._text(token, number)
        yield from self._take_finished()

    def _take_finished(self) -> Iterator[Tree]:
        tree, self._finished = self._finished, None
        if tree is not None:
            yield tree

    def _skip(self, token: str) -> None:
        if token == _END:
            self._stack.clear()
        elif token == ")" and self._stack:
            self._stack.pop()

    def _open(self, number: int) -> None:
        node = OpenNode()
        self._stack.append(node)
        self._n_nodes += 1
        if self._n_nodes > MAX_NODES:
            raise _TooLarge(_TOO_MANY_NODES.format(n=MAX_NODES), self.path, self.line)
        if len(self._stack) == 1 or self.is_broken:
            return
        parent = self._stack[-2]
        if parent.word is not None:
            self._open_beside_word(parent, number)
        if parent.label is None:
            if len(self._stack) > 2:
                raise self._error(_NO_LABEL, number)
            parent.label = ""

    def _open_beside_word(self, parent: OpenNode, number: int) -> None:
        raise self._error(_WORD_BESIDE_NODES.format(word=shown(parent.word), node=parent), number)

    def _text(self, token: str, number: int) -> None:
        if not self._stack:
            raise self._error(_TEXT_OUTSIDE.format(word=shown(token)), number, stray=True)
        node = self._stack[-1]
        if node.label is None:
            node.label = token
        elif node.children:
            raise self._error(_WORD_BESIDE_NODES.format(word=shown(token), node=node), number)
        elif node.word is not None:
            self._another_word(node, token, number)
        else:
            node.word = token

    def _another_word(self, node: OpenNode, token: str, number: int) -> None:
        raise self._error(_TWO_WORDS.format(node=node, first=shown(node.word), second=shown(token)), number)

    def _close(self, number: int) -> None:
        if not self._stack:
            raise self._error(_NOT_OPENED, number, stray=True)
        trees = self._closed(self._stack.pop(), number)
        if self._stack:
            self._stack[-1].children.extend(trees)
        elif trees:
            try:
                self._finished = self.finished(trees[0])
            except ValueError as error:
                raise self._error(str(error), self.line) from error

    def _closed(self, node: OpenNode, number: int) -> list[Tree]:
        """Convert a closed node to subtrees of its parent; at most one tree if it has no parent."""
        if node.word is None and not node.children:
            raise self._error(_EMPTY_NODE.format(node=node), number)
        return [Tree(node.label or "", node.children, node.word)]

    def _end(self) -> None:
        if self._stack:
            n_open = len(self._stack)
            self._stack.clear()
            raise self._error(_NOT_CLOSED.format(n_open=n_open), self.line)

    def _error(self, message: str, number: int, *, stray: bool = False) -> TreebankError:
        """Return the error of the current tree, or of a stray token if no tree precedes it on its line."""
        self.is_broken = True
        if stray and self._finished is None:
            self.line = number
        self._finished = None
        seen = f" (seen in line {number})" if number > self.line else ""
        return TreebankError(f"{message}{seen}", self.path, self.line)


_NOT_OPENED = (
    "Expected a new tree, but got a closing bracket that closes nothing. Remove it, or add the "
    "opening bracket that is missing before it."
)
_NOT_CLOSED = (
    "Expected closing brackets for the tree that begins here, but {n_open} of its nodes are still "
    "open where the next tree begins or the text ends. Add the missing brackets."
)
_NOT_CLOSED_BEFORE = (
    "Expected closing brackets, but the tree of line {line} is not closed where line {next} begins another. Add the "
    "missing brackets."
)
_TEXT_OUTSIDE = (
    "Expected a tree in brackets, but got {word} outside of any. Remove it, or check that the "
    "file holds bracketed trees."
)
_EMPTY_NODE = (
    "Expected a word or other nodes in {node}, but got nothing. Remove the node, or write a leaf as (TAG word)."
)
_WORD_BESIDE_NODES = (
    "Expected one word or other nodes in {node}, but got {word} beside other nodes. Give the "
    "word a tag: (TAG word). In a word, write brackets as -LRB- and -RRB-."
)
_TWO_WORDS = (
    "Expected one word in {node}, but got {first} and {second}. Join a word with a space by "
    "an underscore, give each word a tag: (TAG word), and remove lemmas."
)
_TOO_LONG = "Expected a line of at most {n:,} bytes, but it goes on. Is this a text, with line breaks?"
_TREE_TOO_LONG = (
    "Expected a tree of at most {n:,} characters, but it goes on. Close the brackets of the one that begins here."
)
_TOO_MANY_NODES = (
    "Expected a tree of at most {n:,} nodes, but it goes on. Close the brackets of the one that begins here."
)
_NO_LABEL = (
    "Expected a label after the opening bracket, but got another bracket. Only the outermost "
    "bracket of a tree may be unlabelled: give this one a label."
)


def _without_names(tree: Tree) -> Tree | None:
    """Drop `(ID ...)` and `(METADATA ...)` beside the tree in an unlabelled outermost bracket; the tree has the ID."""
    if tree.label != "" or all(child.label not in TREE_NAMES for child in tree.children):
        return tree
    children = [child for child in tree.children if child.label not in TREE_NAMES]
    return Tree("", children).with_id(sent_id_of(tree)) if children else None


def sent_id_of(tree: Tree) -> str:
    """Return the word of a node `(ID ...)` right below the root; "" if there is none."""
    return next((child.word for child in tree.children if child.label == "ID" and child.word), "")


def read_lines(path: PathLike, encoding: str = UTF_8) -> Iterator[str]:
    """Yield the lines of a file, plain or gzipped (recognized by content), as `decode_lines` does, with its errors."""
    with opened(path) as file:
        yield from decode_lines(file, os.fspath(path), encoding)


@contextmanager
def opened(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed if it is gzipped; same errors as `open_file`."""
    with open_file(path) as file:
        is_zipped = file.peek(2)[:2] == b"\x1f\x8b"
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_zipped else file


class Readable(Protocol):
    """A binary file or a similar object."""

    def readline(self, size: int = ..., /) -> bytes: ...


def decode_lines(stream: Readable, path: str, encoding: str = UTF_8) -> Iterator[str]:
    """Yield the lines of a stream in an encoding, or in the one that XML declares; UTF-8 may have a byte order mark.

    stream (Readable): A binary stream, such as an open file.
    path (str): The name of the stream in errors.
    encoding (str): An encoding that keeps ASCII, such as gb18030.
    RAISES (BrokenFileError): If the stream has another encoding, is damaged gzip data, or has a line longer than
        `LONGEST_LINE`.
    """
    number = 0
    try:
        for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise BrokenFileError(_TOO_LONG.format(n=LONGEST_LINE), path, number)
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
                encoding = _declared_encoding(line, path) or checked_encoding(encoding)
            yield line.decode(encoding)
    except UnicodeDecodeError as error:
        raise BrokenFileError(
            f"Expected {encoding.upper()}, but got the byte {error.object[error.start]:#04x}. Name the "
            "encoding, as in `spacy-lpcfg convert --encoding gb18030`, or convert the file, for instance with iconv.",
            path,
            number,
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BrokenFileError(
            f"Expected a complete gzip file, but it is damaged: {error}. Fetch or make the file again.",
            path,
            number + 1,
        ) from error


def checked_encoding(name: str) -> str:
    """Check that an encoding exists and keeps ASCII, and return its name.

    RAISES (ValueError): If it does not.
    """
    try:
        is_known = "\n".encode(name) == b"\n"
    except (LookupError, UnicodeError):
        is_known = False
    if not is_known:
        raise ValueError(f"Expected an encoding that keeps ASCII, such as gb18030 or latin-1, but got {shown(name)}.")
    return name.lower()


def _declared_encoding(line: bytes, path: str) -> str | None:
    """Return the encoding that the first line of an XML file declares; None for other files."""
    declared = _XML_ENCODING.match(line)
    if declared is None:
        return None
    name = declared[1].decode("ascii", "replace")
    try:
        return checked_encoding(name)
    except ValueError as error:
        raise BrokenFileError(
            f"Expected UTF-8 or an encoding that keeps ASCII, but the file declares {shown(name)}. Convert the file, "
            "for instance with iconv.",
            path,
            1,
        ) from error


def check_writable(tree: Tree) -> None:
    """Raise ValueError if a label or word of a tree cannot stand in brackets."""
    for node in tree.nodes():
        texts = [node.label] if node.word is None else [node.label, node.word]
        for text in texts:
            if not _WRITABLE.fullmatch(text) and not (node is tree and text == "" and node.children):
                raise ValueError(
                    "Labels and words in brackets are not empty and hold neither white space nor round brackets nor "
                    f"halves of characters (lone surrogates), but got {shown(text)} in {str(node)[:80]}. Use "
                    f"`escape_token` for brackets in words, and join words with spaces by underscores."
                )
