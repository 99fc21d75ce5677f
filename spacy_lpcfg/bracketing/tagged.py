"""Tagged text: bracketed treebanks, of which only words and tags are kept, or lines of `word/tag`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees import Tree, TreebankError, parse_trees, remove_empty, unescape_token
from spacy_lpcfg.trees.brackets import PathLike, read_lines

OnError = Callable[[TreebankError], None]

_ITEM = re.compile(r"[^ \t\n\r\f\v]+")  # other white space may be part of a word


class TaggedSentence(NamedTuple):
    """The words of a sentence, as in a text, and their tags.

    words (tuple of str, (n_words,)): without empty elements.
    tags (tuple of str, (n_words,)): one a word, of any tag set.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree) -> TaggedSentence:
        """The words and tags of a tree without empty elements."""
        return cls(tuple(map(unescape_token, tree.words)), tuple(tree.tags))


def read_tagged(paths: PathLike | Iterable[PathLike], *, on_error: OnError | None = None) -> Iterator[TaggedSentence]:
    """Read the tagged sentences of files, one at a time: memory does not grow with the files.

    paths (path or iterable of paths): UTF-8 files of either format, plain or compressed with gzip; both are told by
        the content.
    on_error (callable or None): Called with the error of every broken tree or line, which is skipped; None raises it.
    YIELDS (TaggedSentence): The sentences that have words, in the order of the files.
    RAISES (TreebankError): With file and line. (OSError): For a file that cannot be opened.
    """
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        yield from tagged_sentences(read_lines(path), path=os.fspath(path), on_error=on_error)


def tagged_sentences(
    lines: Iterable[str], *, path: str = "<text>", on_error: OnError | None = None
) -> Iterator[TaggedSentence]:
    """Read the tagged sentences of a text.

    lines (iterable of str): Bracketed trees in any layout, or a sentence a line as `word/tag word/tag`, split at the
        last slash; what the first line that is not blank looks like.
    path, on_error: As in `read_tagged`, for errors.
    YIELDS (TaggedSentence): The sentences that have words.
    """
    lines = iter(lines)
    blank: list[str] = []
    for first in lines:
        if first.strip():
            read = _of_trees if is_bracketed(first) else _of_lines
            yield from read(chain(blank, [first], lines), path, on_error)
            return
        blank.append(first)  # so that the numbers of lines stay right


def is_bracketed(line: str) -> bool:
    """Whether a line begins a tree, and not with a tagged word such as `(/-LRB-` or `(:/UH`."""
    items = _ITEM.findall(line)
    if not items[0].startswith("("):
        return False
    return not all("/" in item[1:-1] and not item.endswith(")") for item in items) and not items[0].startswith("(/")


def _of_trees(lines: Iterable[str], path: str, on_error: OnError | None) -> Iterator[TaggedSentence]:
    for tree in parse_trees(lines, path=path, on_error=on_error):
        rest = remove_empty(tree)
        if rest is not None:
            yield TaggedSentence.of(rest)


def _of_lines(lines: Iterable[str], path: str, on_error: OnError | None) -> Iterator[TaggedSentence]:
    for number, line in enumerate(lines, start=1):
        try:
            pairs = [_split(item, path, number) for item in _ITEM.findall(line)]
        except TreebankError as error:
            if on_error is None:
                raise
            on_error(error)
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
