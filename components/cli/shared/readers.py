"""Readers of each kind of input: they yield texts or Docs to parse, each with its location in the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared.citations import Origin
from spacy_lpcfg.components.cli.shared.files import STDIN
from spacy_lpcfg.components.cli.shared.inputs import Source
from spacy_lpcfg.components.cli.shared.options import Input
from spacy_lpcfg.components.cli.shared.streams import stdin
from spacy_lpcfg.components.cli.shared.treebanks import log_dialect

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.errors import OnError
    from spacy_lpcfg.trees.source import SentenceSource

    Items: TypeAlias = Iterator[tuple[str | Doc, Origin]]

_ITEM = re.compile(r"[^ \t\n\r\f\v]+")  # other white space may be part of a treebank's word


def _read_text(source: Source, vocab: Vocab) -> Items:
    is_first = True
    for line, origin in _placed_lines(source):
        if not line.strip():
            continue
        if is_first and source.is_guessed and _is_tree(line):
            raise ValueError(
                f"{source.name} holds bracketed trees: use --input trees, or --input text to take brackets for words"
            )
        is_first = False
        yield line, origin


def _placed_lines(source: Source) -> Iterator[tuple[str, Origin]]:
    """Yield each line of a source with its location: line number and offset of its first character."""
    first_char = 0
    for number, line in enumerate(source.lines(), start=1):
        yield line, Origin(source.name, line=number, first_char=first_char)
        first_char += len(line) + 1


def _is_tree(line: str) -> bool:
    """Return whether a line consists of bracketed trees, and not only of single leaves such as (NN dog)."""
    from spacy_lpcfg.trees import TreebankError, parse_trees

    if not line.lstrip().startswith("("):
        return False
    try:
        return any(not tree.is_leaf for tree in [*parse_trees(line)])
    except TreebankError:
        return False


def _read_tokens(source: Source, vocab: Vocab) -> Items:
    for line, origin in _placed_lines(source):
        items = [*_ITEM.finditer(line)]
        words = [item[0] for item in items]
        yield _of_words(vocab, origin._replace(words=words, text=line, offsets=[item.span() for item in items]))


def _read_tagged(source: Source, vocab: Vocab) -> Items:
    for number, line in enumerate(source.lines(), start=1):
        items = [item.rpartition("/") for item in _ITEM.findall(line)]
        for word, slash, tag in items:
            if not (word and tag):
                why = "; a bracketer has no tags of its own" if source.is_guessed else ""
                got = f"{shown(word + slash + tag)}{why}"
                raise ValueError(f"{source.name}:{number}: Expected word/TAG, separated by blanks, but got {got}")
        words = [word for word, _, _ in items]
        yield _of_words(vocab, Origin(source.name, line=number).of_words(words), [tag for _, _, tag in items])


def _read_trees(source: Source, vocab: Vocab) -> Items:
    from spacy_lpcfg.trees import normalize

    for tree in filter(None, map(normalize, trees_of(source))):
        yield _of_words(vocab, Origin(source.name).of_words(tree.words, tree.source), tree.tags, tree.source)


def _of_words(
    vocab: Vocab, origin: Origin, tags: list[str] | None = None, of_file: SentenceSource | None = None
) -> tuple[Doc, Origin]:
    """Create the Doc of a sentence that was read as words, and return it with its location.

    A word of white space is replaced by an underscore, since whitespace tokens belong to no tree.

    origin (Origin): The location, which has the words.
    tags (list of str or None): The tag of each word; None if the input has no tags.
    of_file (SentenceSource or None): The text and ID of the sentence in its treebank.
    """
    from spacy.tokens import Doc

    from spacy_lpcfg.components.doc.sentences import set_source

    texts = ["_" if word.isspace() else word for word in origin.words or ()]
    spaces = [*of_file.text.spaces] if of_file and of_file.text else None
    starts: list[bool | int | None] = [i == 0 for i in range(len(texts))]
    doc = Doc(vocab, words=texts, spaces=spaces, tags=tags, sent_starts=starts)
    if of_file:
        set_source(doc, of_file)
    return doc, origin


def trees_of(source: Source, on_error: OnError = None) -> Iterator[Tree]:
    """Yield the trees of a source; at the end log the dialect, which is recognized if the source does not name one.

    on_error (callable or None): Called with the error of each broken tree; None raises the error.
    """
    from spacy_lpcfg.trees.formats.table import first_lines
    from spacy_lpcfg.trees.reading import read_dialect, recognized_dialect

    dropped: Counter[str] = Counter()
    lines = (f"{line}\n" for line in source.lines())
    opening = first_lines(lines)
    dialect = source.dialect or recognized_dialect("".join(opening), source.name)
    yield from read_dialect(chain(opening, lines), source.name, dialect=dialect, dropped=dropped, on_error=on_error)
    if source.is_told:
        log_dialect(dialect, source.dialect, dropped)


def read_docs(source: Source, vocab: Vocab) -> Iterator[tuple[Doc, Origin]]:
    """Yield the Docs of a `.spacy` file, or of stdin, each with its location; errors as for `docs_of`."""
    from spacy_lpcfg.components.training import corpus
    from spacy_lpcfg.storage.container import read_stream

    is_stdin = source.file == STDIN
    docs = (
        corpus.docs_of(read_stream(stdin()), source.name, vocab) if is_stdin else corpus.read_docs(source.file, vocab)
    )
    for number, doc in enumerate(docs, start=1):
        yield doc, Origin(source.name, number)


READERS: dict[Input, Callable[[Source, Vocab], Items]] = {
    "text": _read_text,
    "tokens": _read_tokens,
    "tagged": _read_tagged,
    "trees": _read_trees,
    "spacy": read_docs,
}
