"""Fitting of the trees of a Doc to tokens that were merged or split after parsing.

spaCy's retokenizer does not change the groups in `doc.spans`, so that their token positions become wrong. They are
corrected by the characters of the text, which retokenization does not change:

- A bracket over a merged token and other tokens, or over just this token, still covers it.
- A bracket within a merged token is removed: the token is one leaf of the tree.
- A bracket that begins or ends within a merged token, but is not all within it, crosses it. It is removed too, with a
  warning, and the status of its sentence becomes "retokenized": its tree has no probability.
- Scores stay with their brackets.
- A merged token has the tag of its last word (or, if the parser wrote the tag that spaCy keeps for it, that tag), the
  spelling of its text and the sum of its words' surprisals, but no tag score.
- The parts of a split token have its tag, but no tag score, spelling or surprisal.
"""

from __future__ import annotations

import struct
import warnings
from bisect import bisect_left, bisect_right
from typing import Any, NamedTuple

import numpy as np
import srsly
from spacy.tokens import Doc, SpanGroup

from spacy_lpcfg.trees.source import CONTINUED

RETOKENIZED = "retokenized"
OFFSETS = "offsets"
_LAYOUT = ">QQQllll"  # of a span in the bytes of a group, as spaCy has it
_PER_SENTENCE = ("log_probabilities", "tree_probabilities", "end_surprisal")
_CROSSED = (
    "Merged tokens cross brackets of doc.spans[{!r}], such as the one over {!r}, which are left out ({} in all): "
    "merge tokens before parsing, or only those that are constituents."
)


def offsets_of(doc: Doc) -> np.ndarray:
    """Return the character offset at which each token begins, int32 (n_tokens,)."""
    return doc.to_array("IDX").astype(np.int32).reshape(len(doc))


def is_fitted(attrs: dict[str, Any], doc: Doc, start: int, end: int | None) -> bool:
    """Return whether the attributes of a group fit the tokens of a Doc; True if they have no valid offsets to compare.

    attrs (dict): The attributes; only "offsets" is compared.
    start, end (int, or None for the last): The tokens whose offsets are compared. The number of all tokens is always
        compared, but a merge and a split together may leave it unchanged.
    """
    offsets = attrs.get(OFFSETS)
    if not (isinstance(offsets, np.ndarray) and offsets.ndim == 1 and offsets.dtype.kind == "i"):
        return True
    if len(offsets) != len(doc):
        return False
    return start == end or [token.idx for token in doc[start:end]] == offsets[start:end].tolist()


class _Raw(NamedTuple):
    """A span as spaCy stores it in the bytes of a group.

    The bytes are decoded because spaCy cannot make a Span beyond the remaining tokens, and `del group[i]` deletes the
    wrong span.
    """

    id: int
    kb_id: int
    label: int
    start: int
    end: int
    start_char: int
    end_char: int


def fit(group: SpanGroup, doc: Doc, attrs: dict[str, Any]) -> bool:
    """Correct the spans and attributes of a group after tokens of its Doc were merged or split.

    group (SpanGroup): The group, whose spans are replaced.
    attrs (dict): The attributes of the group, which are changed in place, but not assigned to the group.
    RETURNS (bool): False, with nothing changed, if the spans belong to another Doc.
    """
    packed = srsly.msgpack_loads(SpanGroup.to_bytes(group))["spans"]
    raw = [_Raw(*struct.unpack(_LAYOUT, record)) for record in packed]
    old = attrs[OFFSETS].tolist()
    if any(span.start >= len(old) or old[span.start] != span.start_char for span in raw):
        return False
    words = _Words(doc)
    fitting = [i for i, span in enumerate(raw) if words.has(span)]
    spans = [struct.pack(_LAYOUT, *words.place(raw[i])) for i in fitting]
    SpanGroup.from_bytes(group, srsly.msgpack_dumps({"name": group.name, "attrs": {}, "spans": spans}))
    if "scores" in attrs:
        attrs["scores"] = attrs["scores"][fitting]
    _fit_tokens(doc, attrs, old)
    _fit_sentences(doc, attrs, group.name, [span for span in raw if words.cross(span)])
    attrs[OFFSETS] = offsets_of(doc)
    return True


class _Words:
    """The words of a Doc, with their first and last characters, without white space at their edges."""

    def __init__(self, doc: Doc) -> None:
        tokens = [(token, token.text) for token in doc if token.text.strip()]
        self.tokens = [token for token, _ in tokens]
        self.starts = [token.idx + len(text) - len(text.lstrip()) for token, text in tokens]
        self.ends = [token.idx + len(text.rstrip()) for token, text in tokens]

    def below(self, span: _Raw) -> tuple[int, int]:
        """Return the indices of the first and last words that overlap a span."""
        return bisect_right(self.ends, span.start_char), bisect_left(self.starts, span.end_char) - 1

    def has(self, span: _Raw) -> bool:
        """Return whether a span begins and ends at word boundaries."""
        first, last = self.below(span)
        return first <= last and span.start_char <= self.starts[first] and self.ends[last] <= span.end_char

    def cross(self, span: _Raw) -> bool:
        """Return whether a span overlaps several words, and begins or ends inside one."""
        first, last = self.below(span)
        return first < last and not self.has(span)

    def place(self, span: _Raw) -> _Raw:
        """Return a span of whole words with the current token positions and character offsets."""
        first, last = (self.tokens[i] for i in self.below(span))
        return span._replace(start=first.i, end=last.i + 1, start_char=first.idx, end_char=last.idx + len(last))


def _fit_tokens(doc: Doc, attrs: dict[str, Any], old: list[int]) -> None:
    """Convert the per-token attributes of a group from the tokens before retokenization to the current tokens.

    attrs (dict): The attributes, which are changed in place.
    old (list of int): Character offset at which each token began before retokenization.
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
        attrs["multiwords"] = _fitted_multiwords(attrs["multiwords"], parts)
    if "tag_scores" in attrs:
        scores = [attrs["tag_scores"][words[0]] if len(words) == 1 else np.nan for words in parts]
        attrs["tag_scores"] = np.array(scores, np.float32)
    if "surprisal" in attrs:
        attrs["surprisal"] = np.array([attrs["surprisal"][words].sum() if words else np.nan for words in parts])


def _fitted_multiwords(forms: list[str], parts: list[list[int]]) -> list[str]:
    """Return the multiword form at each current token; forms that were partly merged with other words are dropped.

    forms (list of str): The forms (such as "du" for de and le) at the words before retokenization, see `SourceText`.
    parts (list of list of int): The old words that each token contains; [] for a part of a token that was split.
    """
    begins = [i for i, form in enumerate(forms) if form != CONTINUED]
    first = [begins[bisect_right(begins, i) - 1] for i in range(len(forms))]
    firsts = [{first[i] for i in words} for words in parts]
    split = {*range(len(forms))}.difference(*parts)
    crossed = {first[i] for i in split}.union(*(starts for starts in firsts if len(starts) > 1))
    return [
        "" if not starts or starts & crossed else forms[words[0]] for words, starts in zip(parts, firsts, strict=True)
    ]


def _fit_tags(doc: Doc, attrs: dict[str, Any], old: list[int], parts: list[list[int]]) -> None:
    """Replace the tags and given tags in `attrs` by tags of the current tokens.

    old (list of int): Character offset at which each token began before retokenization.
    parts (list of list of int): The old words that each token contains; [] for a part of a token that was split.
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
    """Replace the attributes that have one value per sentence, and warn of removed brackets.

    key (str): Key of the group, for the warning.
    crossed (list of _Raw): Spans that are removed since merged tokens cross them.
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
