"""Span groups of trees that stay correct when tokens are merged or split, and when Docs are concatenated.

A `TreeGroup` corrects its spans when it is next read after tokens have changed (`retokenization.py`).

`Doc.from_docs` copies the spans of a group without its attributes, but it copies entries of `doc.user_data` whose keys
have character offsets. A copy of the attributes is kept in such an entry, from which they are restored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from spacy_lpcfg.components.doc.retokenization import OFFSETS, fit, is_fitted, offsets_of
from spacy_lpcfg.trees.heads import HeadRules, rules_of_tags

KEY = "constituents"
ISBN_KEY = "isbn_constituents"
BRACKETS_KEY = "brackets"
LANGUAGE_MODEL_KEY = "language_model"  # of a group without spans, whose attributes are surprisals
KEYS = (KEY, ISBN_KEY, BRACKETS_KEY)
"""The keys of this project's components; `doc._.constituency` shows the first that a Doc has."""
FORMAT = 2
LEFT_OUT = "_left_out"
"""Suffix that a key of `doc.spans` gets for the spans that a threshold left out."""
PER_TOKEN = ("tags", "given_tags", "spellings", "multiwords", "tag_scores", "surprisal")
"""The attributes that have a value for each token."""
_ATTRS: Any = SpanGroup.attrs
_APART = (
    "doc.spans[{!r}] has no scores: those of the Docs that were put together do not fit it. Look at the trees of each "
    "(doc._.constituency) before Doc.from_docs, or parse this Doc again."
)


class TreeGroup(SpanGroup):
    """Span group of trees that corrects itself, by `follow`, when it is read after tokens were merged or split.

    A plain `SpanGroup`, as spaCy makes when it copies or loads a Doc, does not: call `follow` before reading it.
    """

    @property
    def attrs(self) -> dict[str, Any]:
        follow(self)
        return _ATTRS.__get__(self)

    @attrs.setter
    def attrs(self, attrs: dict[str, Any]) -> None:
        _ATTRS.__set__(self, attrs)

    def __len__(self) -> int:
        follow(self)
        return super().__len__()

    def __getitem__(self, i: int) -> Span:
        follow(self)
        return super().__getitem__(i)

    def __iter__(self) -> Iterator[Span]:
        follow(self, 0, None)
        return super().__iter__()

    def to_bytes(self) -> bytes:
        follow(self, 0, None)
        return super().to_bytes()

    def copy(self, doc: Doc | None = None) -> TreeGroup:
        follow(self, 0, None)
        copied = super().copy(doc)
        return TreeGroup(copied.doc, name=copied.name, attrs=copied.attrs, spans=list(copied))


class Attributes(NamedTuple):
    """The attributes of a group of trees, each None if the group does not have it; `write.py` describes them."""

    format: int | None
    root: str | None
    sent_ids: list[str] | None
    spellings: list[str] | None
    multiwords: list[str] | None
    tags: list[str] | None
    given_tags: list[str] | None
    scores: np.ndarray | None
    tag_scores: np.ndarray | None
    log_probabilities: np.ndarray | None
    tree_probabilities: np.ndarray | None
    status: list[str] | None
    surprisal: np.ndarray | None
    end_surprisal: np.ndarray | None


def attributes(doc: Doc, key: str, start: int = 0, end: int | None = None) -> Attributes:
    """Return the attributes of `doc.spans[key]`, after correcting the group if tokens have changed.

    start, end (int, or None for the last): Tokens that are checked for changes, see `follow`.
    RAISES (KeyError): If the Doc has no such group.
    """
    return Attributes(*map(group_at(doc, key, start, end).attrs.get, Attributes._fields))


def set_attributes(doc: Doc, key: str, **attrs: Any) -> None:
    """Set attributes of an existing group; `attrs` are their values by their names in `Attributes`."""
    group_at(doc, key, 0, None).attrs.update(attrs)


def scored_spans(doc: Doc, key: str) -> list[tuple[Span, float]]:
    """Return the spans of a group, each with its posterior probability; [] if the group has no scores."""
    group = group_at(doc, key, 0, None)
    scores = group.attrs.get("scores")
    return [] if scores is None else list(zip(group, scores.tolist(), strict=True))


def set_group(doc: Doc, key: str, spans: Sequence[Span], **attrs: Any) -> None:
    """Write spans and attributes to `doc.spans[key]`, and add the offsets of the tokens to the attributes.

    attrs (any): The attributes by their names in `Attributes`; attributes that are None are left out.
    """
    doc.spans.pop(key + LEFT_OUT, None)  # of an earlier parse
    _forget(doc, key + LEFT_OUT)
    values = {name: value for name, value in attrs.items() if value is not None}
    group = TreeGroup(doc, name=key, spans=spans, attrs={**values, OFFSETS: offsets_of(doc)})
    doc.spans[key] = group
    _remember(doc, group, group.attrs)


def group_at(doc: Doc, key: str, start: int = 0, end: int | None = 0) -> SpanGroup:
    """Return `doc.spans[key]`, with correct positions also after tokens were merged or split, or Docs concatenated.

    start, end (int, or None for the last): Tokens that are checked for changes, see `follow`.
    RAISES (KeyError): If the Doc has no such group.
    """
    group = doc.spans[key]
    if "format" not in group.attrs:
        _recall(doc, key, group)
    follow(group, start, end)
    return group


def keys_of(doc: Doc) -> list[str]:
    """Return the keys of `doc.spans` under which a Doc has trees: first those in `KEYS`, then all others, sorted."""
    others = [key for key in sorted(doc.spans) if key not in KEYS and "format" in group_at(doc, key).attrs]
    return [*(key for key in KEYS if key in doc.spans), *others]


def head_rules_of(doc: Doc) -> HeadRules:
    """Return the head rules for a Doc's trees.

    RETURNS (HeadRules): The table "dependencies" if the tags of the trees are universal parts of speech, otherwise the
        rules of the Doc's language.
    """
    tags = next((attributes(doc, key, 0, 0).tags for key in keys_of(doc)), None)
    return rules_of_tags(tags or (token.tag_ for token in doc), doc.vocab.lang)


def key_of(doc: Doc) -> str:
    """Return the first key of `doc.spans` under which a Doc has trees (see `keys_of`); `KEY` if it has none."""
    return next(iter(keys_of(doc)), KEY)


def follow(group: Any, start: int = 0, end: int | None = 0) -> None:
    """Correct the spans and attributes of a group if tokens of its Doc were merged or split.

    group (SpanGroup): A group of any kind; groups without trees are not changed.
    start, end (int, or None for the last): The tokens whose offsets are compared to notice a change. The number of all
        tokens is always compared.
    """
    attrs = _ATTRS.__get__(group)
    try:
        doc = group.doc
    except RuntimeError:  # the Doc is gone
        return
    if not is_fitted(attrs, doc, start, end) and fit(group, doc, attrs):
        _ATTRS.__set__(group, attrs)
        _remember(doc, group, attrs)


# Docs that are put together ----------------------------------------------------------------------


# `Doc.from_docs` loses the attributes of groups, but shifts the characters of such keys of `doc.user_data`.
def _name(key: str) -> str:
    return f"{key}_attrs"


def _name_of_spans(key: str) -> str:
    return f"{key}_spans"


def _is_record(name: Any, key: str) -> bool:
    """Return whether attributes of the group `doc.spans[key]` are stored in `doc.user_data[name]`."""
    return isinstance(name, tuple) and len(name) == 4 and name[:2] == ("._.", _name(key))


def _remember(doc: Doc, group: SpanGroup, attrs: dict[str, Any]) -> None:
    """Store the attributes of a group, and a checksum of its spans, in `doc.user_data`, which `Doc.from_docs` keeps."""
    _forget(doc, group.name)
    data: dict[Any, Any] = doc.user_data
    data["._.", _name(group.name), 0, len(doc.text)] = attrs
    data["._.", _name_of_spans(group.name), 0, len(doc.text)] = _checksum(group)


def _checksum(group: SpanGroup) -> int:
    return crc32(repr([(span.start_char, span.end_char, span.label_) for span in group]).encode())


def _forget(doc: Doc, key: str) -> None:
    data: dict[Any, Any] = doc.user_data
    for _, _, start, end in [name for name in data if _is_record(name, key)]:
        del data["._.", _name(key), start, end]
        data.pop(("._.", _name_of_spans(key), start, end), None)


def has_trees_at(doc: Doc, key: str, i: int) -> bool:
    """Return whether token `i` has a tree; False if `Doc.from_docs` took the token from a Doc without trees."""
    if "format" in doc.spans[key].attrs:
        return True
    records, character = _records(doc, key), doc[i].idx
    return not records or any(start <= character < end for start, end in records)


def _records(doc: Doc, key: str) -> list[tuple[int, int]]:
    """Return the character offsets (start, end) of each Doc with trees that `Doc.from_docs` joined into this one."""
    data: dict[Any, Any] = doc.user_data
    return [name[2:] for name in data if _is_record(name, key)]


def _recall(doc: Doc, key: str, group: SpanGroup) -> None:
    """Restore the attributes of a group that `Doc.from_docs` made, from the attributes of the joined groups."""
    data: dict[Any, Any] = doc.user_data
    inside = [(start, end) for start, end in sorted(_records(doc, key)) if 0 <= start < end <= len(doc.text)]
    if not inside:
        return
    parts = [(start, data["._.", _name(key), start, end]) for start, end in inside]
    joined = _joined(doc, parts)
    fits = np.array_equal(joined[OFFSETS], offsets_of(doc)) and len(joined.get("scores", group)) == len(group)
    if len(parts) == 1 and not (fits and data.get(("._.", _name_of_spans(key), *inside[0])) == _checksum(group)):
        return  # a Doc beside others without trees, or one that was given other spans
    if not fits:
        warnings.warn(_APART.format(key), stacklevel=2)
        return
    group.attrs.update(joined)


def _joined(doc: Doc, parts: Sequence[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Concatenate the attributes of groups; keep only attributes that all groups have, or that have a default.

    doc (Doc): The Doc that `Doc.from_docs` made.
    parts (sequence of (int, dict)): For each original Doc the character at which it begins in `doc`, and the attributes
        of its group.
    """
    joined: dict[str, Any] = {}
    defaults: dict[str, dict[int, str]] = {
        "spellings": {},
        "multiwords": {},
        "tags": {token.idx: token.tag_ for token in doc},
    }
    for name, default in defaults.items():
        if any(name in attrs for _, attrs in parts):
            parts = [
                (start, {name: [default.get(start + i, "") for i in attrs[OFFSETS].tolist()], **attrs})
                for start, attrs in parts
            ]
    for name in set.intersection(*(set(attrs) for _, attrs in parts)):
        values = [attrs[name] for _, attrs in parts]
        if name == OFFSETS:
            values = [offsets + start for (start, _), offsets in zip(parts, values, strict=True)]
        if isinstance(values[0], np.ndarray):
            joined[name] = np.concatenate(values)
        elif isinstance(values[0], list | tuple):
            joined[name] = list(chain.from_iterable(values))
        else:
            joined[name] = values[0]
    return joined
