r"""Read and write bracketed treebank files, tree by tree and with errors that name file and line.

The format is that of the Penn Treebank and its many relatives. White space between tokens is free: a line may have
several trees, and a tree several lines. The root may be unlabelled, `( (S ...))`. Labels and words may contain any
character but ASCII white space and parentheses, and are not changed (`unescape_token` decodes escapes). The parentheses
`\(` and `\)`, which NLTK writes in words, are read as `-LRB-` and `-RRB-`. Nodes `(ID ...)` and `(METADATA ...)` right
below an unlabelled root, as in the Icelandic and the historical English treebanks, are removed; the word of `(ID ...)`
becomes the `sent_id` of the tree.
"""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike, gzipping, replacing
from spacy_lpcfg.trees.errors import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.lines import LONGEST_LINE
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import END, TooLargeTree, TreeBuilder

_TOKEN = re.compile(r"[()]|[^\s()]+", re.ASCII)
_WRITABLE = re.compile(r"[^\s()\ud800-\udfff]+", re.ASCII)  # UTF-8 has no halves of characters
_NOT_CLOSED_BEFORE = (
    "Expected closing brackets, but the tree of line {line} is not closed where line {next} begins another. Add the "
    "missing brackets."
)
_TREE_TOO_LONG = (
    "Expected a tree of at most {n:,} characters, but it goes on. Close the brackets of the one that begins here."
)


def parse_trees(
    lines: str | Iterable[str],
    *,
    path: str = "<text>",
    on_error: OnError = None,
) -> Iterator[Tree]:
    """Parse the trees of a bracketed text, one at a time.

    lines (str or iterable of str): A text, or its lines, such as an open file.
    path (str): What error messages call the text, such as the name of its file.
    on_error (callable or None): Called with the error of each malformed tree, which is then skipped; None raises the
        error.
    YIELDS (Tree): The trees in order; no tree for a text without trees.
    RAISES (TreebankError): For the first malformed tree, if `on_error` is None; in any case for a tree of more than
        1,048,576 nodes or 67,108,864 characters.

    A malformed tree is skipped up to its closing parenthesis, or up to the next line that begins with a parenthesis and
    is indented no deeper than the first line of the tree. After a tree was skipped up to such a line, every such line
    begins a new tree.
    """
    yield from build_trees(lines, TreeBuilder(path), on_error=on_error)


def build_trees(
    lines: str | Iterable[str], builder: TreeBuilder, *, on_error: OnError = None, first_line: int = 1
) -> Iterator[Tree]:
    """Parse a bracketed text in the dialect of a `TreeBuilder`, one tree at a time.

    builder (TreeBuilder): Builds the trees from tokens.
    first_line (int): The number of the first of `lines`, from which error messages count.

    Other arguments, results and errors are those of `parse_trees`.
    """
    source = _Source(lines.split("\n") if isinstance(lines, str) else lines, first_line)
    for number, line in source:
        if not builder.is_open:
            source.forget(is_whole=not builder.is_broken)
        elif source.n_buffered > LONGEST_LINE:
            raise TooLargeTree(_TREE_TOO_LONG.format(n=LONGEST_LINE), builder.path, builder.line)
        tokens = iter(source.tokens(line, after_error=builder.is_broken, depth=builder.depth))
        while True:
            try:
                yield from builder.read(tokens, number)
                break
            except TooLargeTree:
                raise
            except TreebankError as error:
                next_line = source.go_back(error.line)
                raise_or_report(source.likely_error(error, next_line), on_error)
                if next_line is not None:
                    builder.forget()
                    break


def write_trees(path: PathLike, trees: Iterable[Tree]) -> None:
    """Write trees, one a line, in UTF-8; compressed with gzip if the file name ends in `.gz`.

    The file is replaced atomically: after an error the old file is unchanged.

    path (path): The file.
    trees (iterable of Tree): The trees.
    RAISES (ValueError): If a label or word contains ASCII white space, parentheses or lone surrogates, or is empty;
        only the label of the root may be empty.
    """
    with replacing(path) as file, gzipping(file, is_zipped=os.fspath(path).endswith(".gz")) as stream:
        for line in bracket_lines(trees):
            stream.write(f"{line}\n".encode())


def bracket_lines(trees: Iterable[Tree]) -> Iterator[str]:
    """Yield each tree in brackets on one line, without the line break at its end; errors as for `write_trees`."""
    for tree in trees:
        check_writable(tree)
        yield str(tree)


class _Source:
    """A stream of numbered lines that are split into tokens; it can go back to a line inside an unclosed tree."""

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

        is_whole (bool): Whether no tree in the dropped lines is malformed.
        """
        if is_whole and not self._is_flush and len(self._buffer) > 2:
            indent = _indent(self._buffer[0][1])
            self._is_flush = any(_begins_tree(line, indent) for _, line in self._buffer[1:-1])
        del self._buffer[:-1]
        self.n_buffered = len(self._buffer[-1][1] or "")

    def tokens(self, line: str | None, *, after_error: bool, depth: int) -> list[str]:
        """Split a line into tokens; after an error, a line that begins a tree gets the token `END` in front.

        line (str or None): The line; None at the end of the text, which gives the token `END`.
        after_error (bool): Whether the tree before the line is malformed.
        depth (int): The number of nodes that are open before the line.
        """
        if line is None:
            return [END]
        if "\\" in line:
            line = _without_escapes(line, depth)
        tokens = list(map(sys.intern, _TOKEN.findall(line)))
        if (after_error or self._went_back) and _begins_tree(line, self._indent):
            tokens.insert(0, END)
        return tokens

    def go_back(self, number: int) -> int | None:
        """Go back to the first buffered line after `number` that begins a tree; return its number, or None."""
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
        """Return the error of an unclosed tree if another tree begins on `next_line`, before its end; else `error`."""
        if next_line is None or self._is_flush:
            return error
        return TreebankError(_NOT_CLOSED_BEFORE.format(line=error.line, next=next_line), error.path, error.line)


def _begins_tree(line: str | None, indent: int) -> bool:
    """Return whether a line begins with an opening parenthesis, indented by at most `indent` characters."""
    return line is not None and line.lstrip()[:1] == "(" and _indent(line) <= indent


def _without_escapes(line: str, depth: int) -> str:
    r"""Replace the escaped parentheses `\(` and `\)` in a line by `-LRB-` and `-RRB-`.

    The backslash may also be the end of a word, as in `(NNP C:\)`. Of the two readings, escaped and as it is, the first
    is taken with which the tree ends with the line, or else the line has as many closing as opening parentheses.

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


def check_writable(tree: Tree) -> None:
    """Raise ValueError if a label or word of a tree cannot be written in brackets (see `write_trees`)."""
    for node in tree.nodes():
        texts = [node.label] if node.word is None else [node.label, node.word]
        for text in texts:
            if not _WRITABLE.fullmatch(text) and not (node is tree and text == "" and node.children):
                raise ValueError(
                    "Expected labels and words that are not empty and hold neither white space nor round brackets nor "
                    f"halves of characters (lone surrogates), got {shown(text)} in {str(node)[:80]}. Use "
                    f"`escape_token` for brackets in words, and join words with spaces by underscores."
                )
