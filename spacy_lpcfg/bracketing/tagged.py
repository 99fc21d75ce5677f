"""Readers of tagged text: the words and tags of treebanks, or lines of `word/tag`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees import Tree, TreebankError
from spacy_lpcfg.trees.errors import OnError, raise_or_report
from spacy_lpcfg.trees.formats.table import first_lines, looks_like
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.reading import read_dialect
from spacy_lpcfg.trees.transforms import remove_empty, unescape_token

_ITEM = re.compile(r"[^ \t\n\r\f\v]+")  # other white space may be part of a word


class TaggedSentence(NamedTuple):
    """A sentence with a tag for each word.

    words (tuple of str, (n_words,)): The words as in text, without empty elements and treebank escapes.
    tags (tuple of str, (n_words,)): The tags, from any tag set.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree) -> TaggedSentence:
        """Take words and tags from a tree without empty elements; words are unescaped (-LRB- becomes a parenthesis)."""
        return cls(tuple(map(unescape_token, tree.words)), tuple(tree.tags))


def read_tagged(
    paths: PathLike | Iterable[PathLike], *, on_error: OnError = None, dialect: str | None = None
) -> Iterator[TaggedSentence]:
    """Yield the tagged sentences of files; only one sentence at a time is in memory.

    paths (path or iterable of paths): UTF-8 files of trees or of lines, plain or compressed with gzip; format and
        compression are recognized by content.
    on_error (callable or None): Called with the error of every broken tree or line, which is skipped; None raises it.
    dialect (str or None): Treebank dialect, as in `read_trees`; None to recognize it.
    YIELDS (TaggedSentence): The sentences that have words, in the order of the files.
    RAISES (TreebankError): If a file is malformed; the error has file and line. (OSError): If a file cannot be opened.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        yield from tagged_sentences(read_lines(path), path=os.fspath(path), on_error=on_error, dialect=dialect)


def tagged_sentences(
    lines: Iterable[str], *, path: str = "<text>", on_error: OnError = None, dialect: str | None = None
) -> Iterator[TaggedSentence]:
    """Yield the tagged sentences of a text.

    lines (iterable of str): Trees of any dialect, or one sentence per line as `word/tag word/tag`, split at the last
        slash of each token; the first lines decide the format.
    path (str): Name of the text in error messages.
    on_error, dialect: As for `read_tagged`.
    YIELDS (TaggedSentence): The sentences that have words.
    RAISES (TreebankError): If a tree or line is malformed and `on_error` is None.
    """
    stream = iter(lines)
    opening = first_lines(stream)
    read = partial(_of_trees, dialect=dialect) if dialect is not None or holds_trees(opening) else _of_lines
    yield from read(chain(opening, stream), path, on_error)


def holds_trees(opening: Sequence[str]) -> bool:
    """Return whether a text is a treebank of any dialect, rather than lines of tagged words.

    opening (sequence of str): The first lines of the text.
    """
    first = next(filter(str.strip, opening), "")
    return _is_bracketed(first) or _is_treebank(first, "".join(opening))


def _is_bracketed(line: str) -> bool:
    """Return whether a line begins with a tree rather than with a tagged word such as `(/-LRB-` or `(:/UH`."""
    items = _ITEM.findall(line)
    if not items or not items[0].startswith("("):
        return False
    return not all("/" in item[1:-1] and not item.endswith(")") for item in items) and not items[0].startswith("(/")


def _is_treebank(line: str, opening: str) -> bool:
    """Return whether a text looks like a treebank of another dialect than "penn", rather than lines of tagged words.

    line (str): The first line that is not blank.
    opening (str): The first lines.
    """
    return looks_like(opening) not in (None, "penn") and not all("/" in item[1:-1] for item in _ITEM.findall(line))


def _of_trees(lines: Iterable[str], path: str, on_error: OnError, *, dialect: str | None) -> Iterator[TaggedSentence]:
    for tree in read_dialect(lines, path, on_error=on_error, dialect=dialect):
        stripped = remove_empty(tree)
        if stripped is not None:
            yield TaggedSentence.of(stripped)


def _of_lines(lines: Iterable[str], path: str, on_error: OnError) -> Iterator[TaggedSentence]:
    for number, line in enumerate(lines, start=1):
        try:
            pairs = [_split(item, path, number) for item in _ITEM.findall(line)]
        except TreebankError as error:
            raise_or_report(error, on_error)
            continue
        if pairs:
            yield TaggedSentence(*zip(*pairs, strict=True))


def _split(item: str, path: str, number: int) -> tuple[str, str]:
    word, slash, tag = item.rpartition("/")
    if not (word and tag):
        raise TreebankError(
            f"Expected word/tag, separated by blanks, but got {shown(word + slash + tag)}.", path, number
        )
    return word, tag
