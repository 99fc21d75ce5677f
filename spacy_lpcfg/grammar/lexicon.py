"""Terminals: known words, and the form signatures that stand for all others.

A grammar emits *terminals*. A word seen often enough in training is a terminal of its own; any other word is
emitted through the first rung of its ladder of forms that the grammar knows (capitals, digits, hyphens, suffix,
position in the sentence, in the manner of the Berkeley Parser's signatures), the last rung being `<form>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

UNKNOWN = "<form>"
NO_TAG = -1
_SUFFIXES = sorted(
    [
        "s",
        "ed",
        "ing",
        "ion",
        "er",
        "est",
        "ly",
        "ity",
        "y",
        "al",
        "ous",
        "ive",
        "able",
        "ible",
        "ment",
        "ness",
        "ist",
        "ism",
        "ize",
        "izing",
        "ate",
        "ful",
        "less",
        "ish",
        "ic",
        "ical",
        "ian",
        "an",
        "en",
        "ance",
        "ence",
        "ant",
        "ent",
        "or",
        "th",
    ],
    key=len,
    reverse=True,
)
_CACHE_SIZE = 100_000


def ladder(word: str, first: bool) -> list[str]:
    """Names under which a word may be emitted, from the most specific to `<form>`.

    word (str): the token.
    first (bool): whether it opens its sentence, where a capital says little.
    RETURNS (list[str]): the word, its lower case if `first`, signatures of falling detail, `<form>`.
    """
    rungs = [word]
    if first and word[:1].isupper():
        rungs.append(word.lower())
    case, shape, suffix = _case(word, first), _shape(word), _suffix(word.lower())
    for parts in ((case, shape, suffix), (case, shape), (shape or case,)):
        name = "<" + " ".join(("form", *filter(None, parts))) + ">"
        if name not in (rungs[-1], UNKNOWN):
            rungs.append(name)
    return [*rungs, UNKNOWN]


def _case(word: str, first: bool) -> str:
    if word[:1].isupper():
        if len(word) > 1 and word.isupper():
            return "CAPS"
        return "Init" if first else "Cap"
    return "miXed" if any(char.isupper() for char in word) else ""


def _shape(word: str) -> str:
    if not any(char.isalnum() for char in word):
        return "punct"
    if any(char.isdigit() for char in word):
        return "alnum" if any(char.isalpha() for char in word) else "num"
    if "-" in word[1:-1]:
        return "dash"
    return "dot" if "." in word or "@" in word or "/" in word else ""


def _suffix(lower: str) -> str:
    if lower.isalpha() or "-" in lower:
        for suffix in _SUFFIXES:
            if lower.endswith(suffix) and len(lower) >= len(suffix) + 3:
                return suffix
    return "low"


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The emissions of every terminal, as one ragged table of rows (preterminal symbol, weight, latent weights).

    terminals (tuple[str, ...]): names, (n_terminals,); words, signatures and `<form>`, then one `<tag TAG>` a tag:
        the rows of words that were never seen with a tag that is given.
    tags (tuple[str, ...]): the part-of-speech tags, (n_tags,).
    offsets (int32, (n_terminals + 1,)): rows of terminal x are `offsets[x]:offsets[x + 1]`.
    symbols (int32, (n_rows,)): the preterminal symbol of each row.
    weights (float64, (n_rows,)): q(x | a) of the treebank PCFG.
    vector_offsets (int64, (n_rows + 1,)): where each row's latent weights lie in `vectors`.
    vectors (float32, (sum of states,)): q(x | a, h), or its spectral counterpart.
    """

    terminals: tuple[str, ...]
    tags: tuple[str, ...]
    offsets: np.ndarray
    symbols: np.ndarray
    weights: np.ndarray
    vector_offsets: np.ndarray
    vectors: np.ndarray
    _index: dict[str, int] = field(init=False, repr=False)
    _tag_index: dict[str, int] = field(init=False, repr=False)
    _cache: dict[tuple[str, bool], int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.terminals)})
        object.__setattr__(self, "_tag_index", {tag: i for i, tag in enumerate(self.tags)})
        object.__setattr__(self, "_cache", {})

    def terminal(self, word: str, first: bool) -> int:
        """The id of the terminal that emits a word; never fails.

        word (str): the token.
        first (bool): whether it opens its sentence.
        """
        key = (word, first)
        found = self._cache.get(key)
        if found is None:
            found = next(self._index[name] for name in ladder(word, first) if name in self._index)
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[key] = found
        return found

    def terminals_of(self, words: Sequence[str]) -> np.ndarray:
        """Ids of the terminals of a sentence, int32 (n_words,)."""
        return np.array([self.terminal(word, i == 0) for i, word in enumerate(words)], dtype=np.int32)

    def tags_of(self, tags: Sequence[str | None]) -> np.ndarray:
        """Ids of given tags, int32 (n_words,); `NO_TAG` for None and for tags that the grammar never saw."""
        return np.array(
            [NO_TAG if tag is None else self._tag_index.get(tag, NO_TAG) for tag in tags],
            dtype=np.int32,
        )

    @property
    def tag_terminals(self) -> np.ndarray:
        """The terminal `<tag TAG>` of every tag, int32 (n_tags,)."""
        return np.array([self._index[tag_terminal(tag)] for tag in self.tags], dtype=np.int32)


def tag_terminal(tag: str) -> str:
    """Name of the terminal that stands for any word under a given tag."""
    return f"<tag {tag}>"
