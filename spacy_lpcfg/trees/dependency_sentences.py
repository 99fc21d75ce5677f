"""Read sentences with dependencies from CoNLL-U, the format of Universal Dependencies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.dependencies import NO_HEAD, NO_SPACE
from spacy_lpcfg.trees.errors import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.source import CONTINUED, SentenceSource, SourceText


@dataclass(frozen=True)
class DependencySentence:
    """The words of a sentence with their dependencies.

    words (tuple of str): The words as in the text, (n_words,).
    tags (tuple of str or None): The language-specific tags (XPOS); None for a word without one, (n_words,).
    parts_of_speech (tuple of str): The universal parts of speech (UPOS), (n_words,).
    features (tuple of str): The features, such as "Case=Nom|Number=Sing", or "_", (n_words,).
    heads (tuple of int): The position of the head of each word, `NO_HEAD` for a root, (n_words,).
    relations (tuple of str): The relation of each word to its head, such as "nsubj" or "obl:tmod", (n_words,).
    source (SentenceSource): The sentence ID and the text with its multiword tokens; ignored in comparisons.
    """

    words: tuple[str, ...]
    tags: tuple[str | None, ...]
    parts_of_speech: tuple[str, ...]
    features: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    source: SentenceSource = field(default=SentenceSource(), compare=False)

    def children(self) -> list[list[int]]:
        """Return the positions of the dependents of each word, from left to right."""
        children: list[list[int]] = [[] for _ in self.words]
        for word, head in enumerate(self.heads):
            if head != NO_HEAD:
                children[head].append(word)
        return children


def read_conllu(path: PathLike, on_error: OnError = None) -> Iterator[DependencySentence]:
    """Read the sentences of a CoNLL-U file, plain or gzipped, one at a time.

    RAISES (OSError): If the file cannot be opened.

    Other arguments, results and errors are those of `read_sentences`.
    """
    return read_sentences(read_lines(path), os.fspath(path), on_error)


def read_sentences(lines: Iterable[str], path: str, on_error: OnError = None) -> Iterator[DependencySentence]:
    """Read sentences with dependencies from lines in CoNLL-U, one at a time.

    Empty nodes (such as 8.1) and comments other than `# sent_id` and `# text` are skipped. Multiword tokens are kept in
    the text of the sentence's `source`.

    lines (iterable of str): The lines, with or without line breaks.
    path (str): What error messages call the lines, such as the name of their file.
    on_error (callable or None): Called with the error of each malformed sentence, which is skipped; None raises the
        error.
    YIELDS (DependencySentence): The sentences in order.
    RAISES (TreebankError): If `on_error` is None and a line is malformed, heads form a cycle, or a sentence has no
        words or more than `MOST_WORDS`.
    """
    numbered = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, start=1))
    for is_text, group in groupby(numbered, key=lambda pair: bool(pair[1].strip())):
        numbered_lines = list(group)
        rows = [(number, line.split("\t")) for number, line in numbered_lines if not line.startswith("#")]
        if not (is_text and rows):
            continue
        try:
            sentence = _sentence(rows, path, _comments(line for _, line in numbered_lines))
        except TreebankError as error:
            raise_or_report(error, on_error)
        else:
            yield sentence


MOST_WORDS = 500
"""Limit on the words of a sentence: the time to make its tree grows faster than with their square."""
_N_COLUMNS = 10
_FORM, _UPOS, _XPOS, _FEATURES, _HEAD, _RELATION, _MISC = 1, 3, 4, 5, 6, 7, 9
_MULTIWORD = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_MOST_DIGITS = 9
_NOT_IN_LABELS = re.compile(r"[\s()]", re.ASCII)
_NOTHING = {_FORM: ("",), _UPOS: ("", "_")}


def _comments(lines: Iterable[str]) -> dict[str, str]:
    """Parse comments such as `# text = It rained.` into a dict from name to value."""
    pairs = (line[1:].partition("=") for line in lines if line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _sentence(rows: Sequence[tuple[int, list[str]]], path: str, comments: Mapping[str, str]) -> DependencySentence:
    words: list[list[str]] = []
    numbers: list[int] = []
    for number, columns in rows:
        if len(columns) != _N_COLUMNS:
            raise TreebankError(
                f"Expected {_N_COLUMNS} columns with tabs between them, as CoNLL-U has, got {len(columns)}.",
                path,
                number,
            )
        if "-" in columns[0] or "." in columns[0]:
            continue
        if columns[0] != str(len(words) + 1):
            raise TreebankError(f"Expected the word number {len(words) + 1}, got {shown(columns[0])}.", path, number)
        _check_word(columns, path, number)
        words.append(columns)
        numbers.append(number)
    first = rows[0][0]
    if len(words) > MOST_WORDS:
        message = f"Expected a sentence of at most {MOST_WORDS} words, got {len(words):,}. Split it, or leave it out."
        raise TreebankError(message, path, first)
    sentence = DependencySentence(
        tuple(columns[_FORM] for columns in words),
        tuple(None if columns[_XPOS] == "_" else columns[_XPOS] for columns in words),
        tuple(columns[_UPOS] for columns in words),
        tuple(columns[_FEATURES] for columns in words),
        tuple(_head(columns[_HEAD], len(words), path, number) for number, columns in zip(numbers, words, strict=True)),
        tuple(columns[_RELATION] for columns in words),
        SentenceSource(
            comments.get("sent_id", ""), _text([columns for _, columns in rows], words, comments.get("text", "")), first
        ),
    )
    if not words or len(_top_down(sentence)) < len(words):
        raise TreebankError("Expected words whose heads make a tree, got a circle of heads or no words.", path, first)
    return sentence


def _check_word(columns: Sequence[str], path: str, number: int) -> None:
    """Raise TreebankError if a row lacks a word, or a part of speech that can be a label."""
    for column, contents in ((_FORM, "a word"), (_UPOS, "a universal part of speech")):
        is_missing = columns[column].strip() in _NOTHING[column]
        if is_missing or (column == _UPOS and _NOT_IN_LABELS.search(columns[column])):
            message = f"Expected {contents} in column {column + 1}, got {columns[column]!r}."
            if column == _UPOS:
                message += " Phrases are made by it; files that convert writes have it if the tags of trees do."
            raise TreebankError(message, path, number)


def _text(rows: Sequence[list[str]], words: Sequence[list[str]], text: str) -> SourceText:
    """Restore the text of a sentence from its multiword tokens and from `SpaceAfter=No` in the last column.

    rows (sequence of list of str): The columns of all rows of the sentence.
    words (sequence of list of str): The columns of the rows of its words.
    text (str): The comment `# text`, used if no row has `SpaceAfter=No`.
    """
    spaces = [NO_SPACE not in columns[_MISC].split("|") for columns in words]
    multiwords = [""] * len(words)
    for columns in rows:
        span = _MULTIWORD.fullmatch(columns[0])
        first, last = (int(span[1]) - 1, int(span[2])) if span else (0, 0)
        if 0 <= first < last <= len(words) and columns[_FORM].strip():
            multiwords[first:last] = [columns[_FORM], *[CONTINUED] * (last - first - 1)]
            spaces[last - 1] = NO_SPACE not in columns[_MISC].split("|")
    forms = tuple(multiwords) if any(multiwords) else ()
    source = SourceText(tuple(columns[_FORM] for columns in words), tuple(spaces), forms)
    return _with_spaces_of(text, source) if all(spaces) else source


def _with_spaces_of(text: str, source: SourceText) -> SourceText:
    """Set the white space after each token as in `text`; return `source` unchanged if the text has other words."""
    spaces, position = [*source.spaces], 0
    for _, end, form in source.tokens():
        if not text.startswith(form, position):
            return source
        position += len(form)
        spaces[end - 1] = not text[position : position + 1].strip()
        while text[position : position + 1].isspace():
            position += 1
    return source._replace(spaces=tuple(spaces))


def _head(text: str, n_words: int, path: str, number: int) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) > n_words:
        raise TreebankError(f"Expected the number of a head from 0 to {n_words}, got {shown(text)}.", path, number)
    return int(text) - 1 if int(text) else NO_HEAD


def _top_down(sentence: DependencySentence) -> list[int]:
    """Return the positions of the roots and their descendants, heads first; words in cycles are left out."""
    children = sentence.children()
    words = [word for word, head in enumerate(sentence.heads) if head == NO_HEAD]
    for word in words:  # grows while it is traversed
        words.extend(children[word])
    return words


def subtree_spans(sentence: DependencySentence) -> list[tuple[int, int] | None]:
    """Return the span [start, end) of the subtree of each word, without the punctuation at both ends of the subtree.

    A parenthesis or quotation mark at one end is kept if its partner is inside the subtree and not at the other end.

    RETURNS (list of (start, end) or None, (n_words,)): None for a subtree with gaps, and for one of punctuation alone.
    """
    n_words = len(sentence.words)
    least, greatest, sizes = list(range(n_words)), list(range(n_words)), [1] * n_words
    for word in reversed(_top_down(sentence)):
        head = sentence.heads[word]
        if head != NO_HEAD:
            least[head] = min(least[head], least[word])
            greatest[head] = max(greatest[head], greatest[word])
            sizes[head] += sizes[word]
    is_mark = [pos == "PUNCT" for pos in sentence.parts_of_speech]
    spans: list[tuple[int, int] | None] = []
    for start, last, size in zip(least, greatest, sizes, strict=True):
        if last - start + 1 != size or all(is_mark[start : last + 1]):
            spans.append(None)
            continue
        while is_mark[start] and not _is_paired(sentence.words[start : last + 1]):
            start += 1
        while is_mark[last] and not _is_paired(sentence.words[start : last + 1][::-1]):
            last -= 1
        spans.append((start, last + 1))
    return spans


_PARTNERS = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "``": "''", '"': '"'}
_PARTNERS |= {closing: opening for opening, closing in _PARTNERS.items()}


def _is_paired(words: Sequence[str]) -> bool:
    """Return whether the first word is a parenthesis or quotation mark whose partner occurs before the last word."""
    return _PARTNERS.get(words[0]) in words[1:-1]
