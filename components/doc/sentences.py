"""The sentences of a Doc and their words, as a parser sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.tree_group import attributes, keys_of
from spacy_lpcfg.components.sentence_rule import sentence_starts
from spacy_lpcfg.trees.source import SentenceSource, SourceText

_SPACE = re.compile(r"\s+", re.ASCII)
SENT_IDS, MULTIWORDS = "sent_ids", "multiwords"
"""Attributes of a Doc's trees, and keys of `doc.user_data` where it has no trees yet."""
_MADE_BY = {Span: "use the span's Doc, span.doc", Token: "use the token's Doc, token.doc"}


class DocSentences(NamedTuple):
    """The sentences of a Doc with their words.

    starts (list of bool, or None): Whether each token begins a sentence; None if the Doc had sentence boundaries.
    bounds (list of (int, int)): Start and end token of each sentence.
    positions (list of list of int): Token positions of the words of each sentence, see `words_of`.
    texts (list of list of str): The texts of these words, see `texts_of`.
    given_tags (list of str): Tag of each token of the Doc, see `given_tags_of`.
    """

    starts: list[bool] | None
    bounds: list[tuple[int, int]]
    positions: list[list[int]]
    texts: list[list[str]]
    given_tags: list[str]


def find_sentences(doc: Doc, key: str) -> DocSentences:
    """Return the sentences of a Doc, found by `sentence_starts` if it has no boundaries; the Doc is not changed.

    key (str): Key of `doc.spans` that the calling component writes to, see `given_tags_of`.
    RAISES (TypeError): If `doc` is not a Doc, but a text, for example.
    """
    _check_doc(doc)
    starts = None if doc.has_annotation("SENT_START") else sentence_starts(doc)
    bounds = sentence_bounds(doc) if starts is None else _bounds(starts)
    positions = [words_of(doc, start, end) for start, end in bounds]
    return DocSentences(
        starts, bounds, positions, [texts_of(doc, words) for words in positions], given_tags_of(doc, key)
    )


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """Return start and end token of each sentence; a Doc without boundaries is one sentence, an empty Doc has none.

    RAISES (TypeError): If `doc` is not a Doc, but a text, for example.
    """
    _check_doc(doc)
    if doc.has_annotation("SENT_START"):
        return [(sent.start, sent.end) for sent in doc.sents]
    return [(0, len(doc))]


def sentence_of(token: Token) -> Span:
    """Return the sentence of a token; the whole Doc if it has no sentence boundaries."""
    doc = token.doc
    return token.sent if doc.has_annotation("SENT_START") else doc[:]


def _check_doc(doc: object) -> None:
    if not isinstance(doc, Doc):
        raise TypeError(f"Expected a Doc, got {shown(doc)}: {_MADE_BY.get(type(doc), 'use doc = nlp(text)')}.")


def _bounds(starts: Sequence[bool]) -> list[tuple[int, int]]:
    firsts = [i for i, is_start in enumerate(starts) if is_start]
    return list(zip(firsts, [*firsts[1:], len(starts)], strict=True))


def words_of(doc: Doc, start: int, end: int) -> list[int]:
    """Return the token positions in [start, end) of words, which are all tokens but white space."""
    texts = [token.text for token in doc[start:end]]
    return [start + i for i, text in enumerate(texts) if text and not text.isspace()]


def given_tags_of(doc: Doc, key: str) -> list[str]:
    """Return the tags of a Doc without the tags that the parser of `doc.spans[key]` wrote; "" for no tag.

    A token whose `token.tag_` is its tag in the tree gets the tag that it had before parsing, which is stored with the
    tree.
    """
    tags = [token.tag_ for token in doc]
    if key not in doc.spans:
        return tags
    attrs = attributes(doc, key)
    parsed, before = attrs.tags, attrs.given_tags
    if not (isinstance(parsed, list) and isinstance(before, list) and len(parsed) == len(before) == len(tags)):
        return tags
    return [given if tag == mine else tag for tag, mine, given in zip(tags, parsed, before, strict=True)]


def write_tags(doc: Doc, tags: list[str]) -> None:
    """Set `token.tag_` of each token."""
    for token, tag in zip(doc, tags, strict=True):
        if token.tag_ != tag:
            token.tag_ = tag


def texts_of(doc: Doc, words: Sequence[int]) -> list[str]:
    """Return the texts of the words at token positions, with white space inside a word replaced by an underscore."""
    return [_SPACE.sub("_", doc[i].text) for i in words]


# The text that words come from ---------------------------------------------------------------------


def sent_ids_of(doc: Doc) -> list[str] | None:
    """Return the ID of each sentence, "" for a sentence without one; None if the Doc has no IDs.

    IDs are stored with the trees, or else in `doc.user_data["sent_ids"]`, a list of str.
    """
    return _stored(doc, SENT_IDS, len(sentence_bounds(doc)))


def multiwords_of(doc: Doc) -> list[str] | None:
    """Return the multiword token that begins at each token, such as "du" for de and le; None if the Doc has none.

    RETURNS (list of str, or None): As in `SourceText.multiwords`, but for each token of the Doc.
    """
    return _stored(doc, MULTIWORDS, len(doc))


def _stored(doc: Doc, name: str, n: int) -> list[str] | None:
    """Return the list of `n` texts stored under a name with the trees or in `doc.user_data`; None if there is none."""
    candidates = [getattr(attributes(doc, key, 0, 0), name) for key in keys_of(doc)]
    for values in (*candidates, doc.user_data.get(name)):
        if isinstance(values, list | tuple) and len(values) == n:
            return ["" if value is None else str(value) for value in values]
    return None


def set_source(doc: Doc, source: SentenceSource) -> None:
    """Write the ID and multiword tokens of a Doc of one sentence to `doc.user_data`, where parsers find them."""
    if source.sent_id:
        doc.user_data[SENT_IDS] = [source.sent_id]
    if source.text and source.text.multiwords:
        doc.user_data[MULTIWORDS] = [*source.text.multiwords]


def source_text(doc: Doc) -> SourceText:
    """Return the text of a Doc: its tokens, the white space between them, and its multiword tokens."""
    return SourceText(
        tuple(token.text for token in doc),
        tuple(bool(token.whitespace_) for token in doc),
        tuple(multiwords_of(doc) or ()),
    )


def sentence_sources(doc: Doc) -> list[SentenceSource]:
    """Return the ID and text of each sentence; the text is None if the white space of the Doc is unknown."""
    bounds = sentence_bounds(doc)
    sent_ids = sent_ids_of(doc) or [""] * len(bounds)
    texts: list[SourceText | None] = [None] * len(bounds)
    if not doc.has_unknown_spaces:
        text = source_text(doc)
        texts = [_text_of_words(text, words_of(doc, start, end)) for start, end in bounds]
    return [SentenceSource(sent_id, part) for sent_id, part in zip(sent_ids, texts, strict=True)]


def _text_of_words(text: SourceText, words: Sequence[int]) -> SourceText:
    """Return the part of a text that consists of the words at some positions.

    A token of white space after a word counts as white space.
    """
    after = [text.words[i + 1].isspace() if i + 1 < len(text.words) else False for i in words]
    multiwords = tuple(text.multiwords[i] for i in words) if text.multiwords else ()
    return SourceText(
        tuple(text.words[i] for i in words),
        tuple(text.spaces[i] or is_space for i, is_space in zip(words, after, strict=True)),
        multiwords if any(multiwords) else (),
    )
