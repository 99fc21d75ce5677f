"""Spans of trees that stay with their Doc: when tokens are merged or split, and when Docs are put together.

spaCy's retokenizer leaves groups of spans as they are, with positions of tokens that have changed. A `TreeGroup`
follows when it is next read, by the characters of the text, which stay as they were:

- A bracket over a merged token and others, or over just this token, is over it still.
- A bracket within a merged token is left out: the token is one leaf of the tree.
- A bracket that begins or ends within a merged token, and is not all within it, crosses it. It is left out too, with a
  warning, and the status of its sentence is "retokenized": its tree has no probability.
- Scores follow their brackets. A merged token has the tag of its last word, or the tag that spaCy keeps for it if that
  is the parser's, no score of it, the spelling of its text, and the sum of its words' surprisals; parts of a token that
  was split have its tag, and none of the others.

`Doc.from_docs` takes the spans of a group and leaves its attributes, but takes `doc.user_data` of spans. The attributes
are found there, and put together.
"""

from __future__ import annotations

import struct
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import srsly
from spacy.tokens import Doc, Span, SpanGroup

from spacy_lpcfg.trees.heads import HeadRules, rules_of_tags

KEY = "constituents"
ISBN_KEY = "isbn_constituents"
BRACKETS_KEY = "brackets"
LANGUAGE_MODEL_KEY = "language_model"  # of a group without spans, whose attributes are surprisals
KEYS = (KEY, ISBN_KEY, BRACKETS_KEY)
"""The keys of this project's components; `doc._.constituency` shows the first that a Doc has."""
RETOKENIZED = "retokenized"
FORMAT = 2
LEFT_OUT = "_left_out"
"""Suffix of a key of `doc.spans` that makes the key of the spans that a threshold left out."""
PER_TOKEN = ("tags", "given_tags", "spellings", "multiwords", "tag_scores", "surprisal")
"""The attributes that have a value for each token."""
_OFFSETS = "offsets"
_LAYOUT = ">QQQllll"  # of a span in the bytes of a group, as spaCy has it
_ATTRS: Any = SpanGroup.attrs
_PER_SENTENCE = ("log_probabilities", "tree_probabilities", "end_surprisal")
_CROSSED = (
    "Merged tokens cross brackets of doc.spans[{!r}], such as the one over {!r}, which are left out ({} in all): "
    "merge tokens before parsing, or only those that are constituents."
)
_APART = (
    "doc.spans[{!r}] has no scores: those of the Docs that were put together do not fit it. Look at the trees of each "
    "(doc._.constituency) before Doc.from_docs, or parse this Doc again."
)


class TreeGroup(SpanGroup):
    """A span group that calls `follow` whenever it is read, as one has to for groups that spaCy makes."""

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
    """The attributes of a group of trees, each None where the group has none; `write.py` says what they are."""

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
    """Return the attributes of `doc.spans[key]`, fitted to the tokens at [start, end) as by `group_at`."""
    return Attributes(*map(group_at(doc, key, start, end).attrs.get, Attributes._fields))


def set_attributes(doc: Doc, key: str, **attrs: Any) -> None:
    """Change attributes of a group that is there; their names are those of `Attributes`."""
    group_at(doc, key, 0, None).attrs.update(attrs)


def scored_spans(doc: Doc, key: str) -> list[tuple[Span, float]]:
    """Return the spans of a group with their scores."""
    group = group_at(doc, key, 0, None)
    return list(zip(group, group.attrs["scores"].tolist(), strict=True))


def set_group(doc: Doc, key: str, spans: Sequence[Span], **attrs: Any) -> None:
    """Write a group of spans to `doc.spans[key]`, with the characters at which tokens begin as one more attribute.

    attrs: The attributes by their names in `Attributes`; None for one that the group does not have.
    """
    values = {name: value for name, value in attrs.items() if value is not None}
    group = TreeGroup(doc, name=key, spans=spans, attrs={**values, _OFFSETS: _offsets(doc)})
    doc.spans[key] = group
    _remember(doc, key, group.attrs)


def group_at(doc: Doc, key: str, start: int = 0, end: int | None = 0) -> SpanGroup:
    """Return `doc.spans[key]`, fitted to the tokens by `follow`, with its attributes if Docs were put together."""
    group = doc.spans[key]
    if "format" not in group.attrs:
        _recall(doc, key, group)
    follow(group, start, end)
    return group


def keys_of(doc: Doc) -> list[str]:
    """Return the keys in `doc.spans` under which a Doc has trees: those of `KEYS` first, then all others."""
    others = [key for key in sorted(doc.spans) if key not in KEYS and "format" in group_at(doc, key).attrs]
    return [*(key for key in KEYS if key in doc.spans), *others]


def head_rules_of(doc: Doc) -> HeadRules:
    """Return the head rules for a Doc's trees: of its language, or `dependencies` if its tags are universal."""
    tags = next((attributes(doc, key, 0, 0).tags for key in keys_of(doc)), None)
    return rules_of_tags(tags or (token.tag_ for token in doc), doc.vocab.lang)


def key_of(doc: Doc) -> str:
    """Return the key in `doc.spans` of the trees of a Doc; the default `KEY` if it has none."""
    return next(iter(keys_of(doc)), KEY)


# Tokens that change ------------------------------------------------------------------------------


def follow(group: Any, start: int = 0, end: int | None = 0) -> None:
    """Fit spans and attributes to the tokens of the Doc, if these have changed.

    group (SpanGroup): A group of any kind.
    start, end (int, or None for the last): Tokens whose offsets are compared. Their number is compared in any case, but
        a merge and a split may leave it as it was.
    """
    attrs = _ATTRS.__get__(group)
    offsets = attrs.get(_OFFSETS)
    if not _are_places(offsets):
        return
    try:
        doc = group.doc
    except RuntimeError:  # the Doc is gone
        return
    is_same = len(offsets) == len(doc)
    if is_same and start != end:
        is_same = [token.idx for token in doc[start:end]] == offsets[start:end].tolist()
    if not is_same:
        _fit(group, doc, attrs)


def _are_places(offsets: Any) -> bool:
    """Return whether an attribute has the form of `_offsets`, and is not missing or damaged."""
    return isinstance(offsets, np.ndarray) and offsets.ndim == 1 and offsets.dtype.kind == "i"


def _offsets(doc: Doc) -> np.ndarray:
    """Return the characters at which tokens begin, int32 (n_tokens,)."""
    return doc.to_array("IDX").astype(np.int32).reshape(len(doc))


class _Raw(NamedTuple):
    """A span as spaCy packs it in bytes.

    spaCy makes no Span of positions beyond the tokens that are left, and `del group[i]` deletes another span.
    """

    id: int
    kb_id: int
    label: int
    start: int
    end: int
    start_char: int
    end_char: int


def _fit(group: SpanGroup, doc: Doc, attrs: dict[str, Any]) -> None:
    packed = srsly.msgpack_loads(SpanGroup.to_bytes(group))["spans"]
    raw = [_Raw(*struct.unpack(_LAYOUT, record)) for record in packed]
    old = attrs[_OFFSETS].tolist()
    if any(span.start >= len(old) or old[span.start] != span.start_char for span in raw):
        return  # the attributes are those of another Doc
    words = _Words(doc)
    fitting = [i for i, span in enumerate(raw) if words.has(span)]
    spans = [struct.pack(_LAYOUT, *words.place(raw[i])) for i in fitting]
    SpanGroup.from_bytes(group, srsly.msgpack_dumps({"name": group.name, "attrs": {}, "spans": spans}))
    if "scores" in attrs:
        attrs["scores"] = attrs["scores"][fitting]
    _fit_tokens(doc, attrs, old)
    _fit_sentences(doc, attrs, group.name, [span for span in raw if words.cross(span)])
    attrs[_OFFSETS] = _offsets(doc)
    _ATTRS.__set__(group, attrs)
    _remember(doc, group.name, attrs)


class _Words:
    """The first and last characters of a Doc's words, without white space at their edges."""

    def __init__(self, doc: Doc) -> None:
        tokens = [(token, token.text) for token in doc if token.text.strip()]
        self.tokens = [token for token, _ in tokens]
        self.starts = [token.idx + len(text) - len(text.lstrip()) for token, text in tokens]
        self.ends = [token.idx + len(text.rstrip()) for token, text in tokens]

    def below(self, span: _Raw) -> tuple[int, int]:
        """Return the first and last of the words that a span has a part of."""
        return bisect_right(self.ends, span.start_char), bisect_left(self.starts, span.end_char) - 1

    def has(self, span: _Raw) -> bool:
        """Return whether a span is over whole words."""
        first, last = self.below(span)
        return first <= last and span.start_char <= self.starts[first] and self.ends[last] <= span.end_char

    def cross(self, span: _Raw) -> bool:
        """Return whether a span is neither over whole words nor within one."""
        first, last = self.below(span)
        return first < last and not self.has(span)

    def place(self, span: _Raw) -> _Raw:
        """Return a span over whole words, of the tokens as they are."""
        first, last = (self.tokens[i] for i in self.below(span))
        return span._replace(start=first.i, end=last.i + 1, start_char=first.idx, end_char=last.idx + len(last))


def _fit_tokens(doc: Doc, attrs: dict[str, Any], old: list[int]) -> None:
    """Fit the attributes of tokens to the tokens as they are.

    old (list of int): The characters at which the tokens of the attributes began.
    """
    text, new = doc.text, [token.idx for token in doc]
    first = {start: i for i, start in enumerate(old)}
    last = {end: i for i, end in enumerate([*old[1:], len(text)])}
    is_word = [bool(text[start:end].strip()) for start, end in zip(old, [*old[1:], len(text)], strict=True)]
    parts = [
        [i for i in range(first[start], last[end] + 1) if is_word[i]] if start in first and end in last else []
        for start, end in zip(new, [*new[1:], len(text)], strict=True)
    ]
    _fit_tags(doc, attrs, old, parts)
    if "spellings" in attrs:
        attrs["spellings"] = [attrs["spellings"][words[0]] if len(words) == 1 else "" for words in parts]
    if "multiwords" in attrs:
        attrs["multiwords"] = [attrs["multiwords"][words[0]] if words else "" for words in parts]
    if "tag_scores" in attrs:
        scores = [attrs["tag_scores"][words[0]] if len(words) == 1 else np.nan for words in parts]
        attrs["tag_scores"] = np.array(scores, np.float32)
    if "surprisal" in attrs:
        attrs["surprisal"] = np.array([attrs["surprisal"][words].sum() if words else np.nan for words in parts])


def _fit_tags(doc: Doc, attrs: dict[str, Any], old: list[int], parts: list[list[int]]) -> None:
    """Fit the tags to the tokens as they are.

    parts (list of list of int): The words that each token was made of, if it was not split.
    """
    letters = [token.idx + max(len(token.text.rstrip()), 1) - 1 for token in doc]
    last = [bisect_right(old, letter) - 1 for letter in letters]
    tags, given = attrs.get("tags"), attrs.get("given_tags")
    if tags is not None:
        attrs["tags"] = [tags[i] for i in last]
    if tags is None or given is None:
        return
    attrs["given_tags"] = [given[i] for i in last]
    for i, (token, words) in enumerate(zip(doc, parts, strict=True)):
        if len(words) > 1 and token.tag_:
            is_parsers = any(tags[j] == token.tag_ != given[j] for j in words)
            if is_parsers:
                attrs["tags"][i] = token.tag_
            attrs["given_tags"][i] = "" if is_parsers else token.tag_


def _fit_sentences(doc: Doc, attrs: dict[str, Any], key: str, crossed: list[_Raw]) -> None:
    """Fit the attributes of sentences to the tokens as they are.

    crossed (list of _Raw): Spans that are left out since merged tokens cross them.
    """
    starts = [token.idx for token in doc if token.i == 0 or token.is_sent_start]
    status = list(attrs.get("status", starts))
    if len(status) != len(starts):  # a merged token reaches from a sentence into the next
        status = [RETOKENIZED] * len(starts)
        attrs.update({name: np.full(len(starts), np.nan) for name in _PER_SENTENCE if name in attrs})
    cut = sorted({bisect_right(starts, span.start_char) - 1 for span in crossed})
    for sentence in cut:
        status[sentence] = RETOKENIZED
    if "tree_probabilities" in attrs:
        is_cut = np.isin(np.arange(len(starts)), cut)
        attrs["tree_probabilities"] = np.where(is_cut, np.nan, attrs["tree_probabilities"])
    if "status" in attrs:
        attrs["status"] = status
    if crossed:
        shown = doc.text[crossed[0].start_char : crossed[0].end_char]
        warnings.warn(_CROSSED.format(key, shown, len(crossed)), stacklevel=2)


# Docs that are put together ----------------------------------------------------------------------


# `Doc.from_docs` loses the attributes of groups, but shifts the characters of such keys of `doc.user_data`.
def _name(key: str) -> str:
    return f"{key}_attrs"


def _is_record(name: Any, key: str) -> bool:
    """Return whether a key of `doc.user_data` is that of the attributes of a group."""
    return isinstance(name, tuple) and len(name) == 4 and name[:2] == ("._.", _name(key))


def _remember(doc: Doc, key: str, attrs: dict[str, Any]) -> None:
    """Store the attributes of a group in `doc.user_data`, which `Doc.from_docs` keeps."""
    data: dict[Any, Any] = doc.user_data
    for old in [name for name in data if _is_record(name, key)]:
        del data[old]
    data["._.", _name(key), 0, len(doc.text)] = attrs


def has_trees_at(doc: Doc, key: str, i: int) -> bool:
    """Return False if a token is of a Doc without trees, which `Doc.from_docs` put together with others."""
    if "format" in doc.spans[key].attrs:
        return True
    records, character = _records(doc, key), doc[i].idx
    return not records or any(start <= character < end for start, end in records)


def _records(doc: Doc, key: str) -> list[tuple[int, int]]:
    """Return the character offsets (start, end) of each Doc with trees that `Doc.from_docs` joined into this one."""
    data: dict[Any, Any] = doc.user_data
    return [name[2:] for name in data if _is_record(name, key)]


def _recall(doc: Doc, key: str, group: SpanGroup) -> None:
    """Restore the attributes of a group that `Doc.from_docs` made, from those of the groups that it joined."""
    data: dict[Any, Any] = doc.user_data
    inside = [(start, end) for start, end in sorted(_records(doc, key)) if 0 <= start < end <= len(doc.text)]
    if len(inside) < 2:
        return
    parts = [(start, data["._.", _name(key), start, end]) for start, end in inside]
    joined = _joined(parts)
    if not np.array_equal(joined[_OFFSETS], _offsets(doc)) or len(joined.get("scores", group)) != len(group):
        warnings.warn(_APART.format(key), stacklevel=2)
        return
    group.attrs.update(joined)


def _joined(parts: Sequence[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return attributes of groups after each other, as far as all have them.

    parts (sequence of (int, dict)): The character at which each Doc begins, and the attributes of its group.
    """
    joined: dict[str, Any] = {}
    for name in ("spellings", "multiwords"):
        if any(name in attrs for _, attrs in parts):
            parts = [(start, {name: [""] * len(attrs[_OFFSETS]), **attrs}) for start, attrs in parts]
    for name in set.intersection(*(set(attrs) for _, attrs in parts)):
        values = [attrs[name] for _, attrs in parts]
        if name == _OFFSETS:
            values = [offsets + start for (start, _), offsets in zip(parts, values, strict=True)]
        if isinstance(values[0], np.ndarray):
            joined[name] = np.concatenate(values)
        elif isinstance(values[0], list | tuple):
            joined[name] = list(chain.from_iterable(values))
        else:
            joined[name] = values[0]
    return joined
