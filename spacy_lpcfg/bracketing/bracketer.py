"""The frozen result of learning: words and tags in, brackets out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.latent_tree import minimal_tree
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Plain, Sentence, plain
from spacy_lpcfg.bracketing.top import heuristic_split
from spacy_lpcfg.grammar.storage import StorageError, pack, unpack, write_atomically

_KIND = "bracketer"
_VERSION = 1
_ARRAYS = {"groups": "int32", "distances": "float64"}
_LONGEST = 60


class BracketerError(ValueError):
    """A bracketer that is damaged, foreign or inconsistent."""


class Brackets(NamedTuple):
    """The brackets of a sentence.

    spans (tuple of (int, int)): half-open, over all its tokens; of two or more words that are no punctuation, neither
        beginning nor ending with punctuation; in pre-order, the whole sentence first.
    scores (tuple of float): from 0 to 1, one for each span: the logistic function of how much speaks for it, which is 1
        for the whole sentence.
    """

    spans: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Bracketer:
    """Brackets sentences by a table of distances.

    groups (int32, (N_UNIVERSAL,)): the anchor of each universal tag.
    distances (float64, (A, A, D)): of words by their anchors, and by how far apart they are, from 1; the last column
        is that of all larger distances.
    meta (dict): what was learned from what, for people; strings, numbers and lists.
    """

    groups: np.ndarray
    distances: np.ndarray
    meta: dict[str, Any] = field(default_factory=dict)

    def bracket(self, words: Sequence[str], tags: Sequence[str]) -> Brackets:
        """The brackets of a sentence; none of less than two words.

        RAISES (ValueError): If there are not as many tags as words.
        """
        sentence = plain(words, tags)
        spans, scores = self._spans(sentence)
        places = sentence.places
        return Brackets(tuple((places[start], places[end - 1] + 1) for start, end in spans), tuple(scores))

    def bracket_all(self, sentences: Iterable[Sentence]) -> list[Brackets]:
        """The brackets of many sentences."""
        return [self.bracket(words, tags) for words, tags in sentences]

    def _spans(self, sentence: Plain) -> tuple[list[tuple[int, int]], list[float]]:
        n = len(sentence.places)
        if n < 2:
            return [], []
        spans, scores = [(0, n)], [1.0]
        pieces = _pieces(sentence)
        for first, (start, end) in enumerate(pieces):
            if 0 < first < len(pieces) - 1:
                spans.append((start, n))
                scores.append(0.5)
            if len(pieces) > 1 and end - start > 1:
                spans.append((start, end))
                scores.append(0.5)
            if end - start > 2:
                split = heuristic_split(sentence) if len(pieces) == 1 else 1
                tree = minimal_tree(self._matrix(sentence.universal[start:end]), split)
                spans += [(start + int(i), start + int(j)) for i, j in tree.spans]
                scores += (1 / (1 + np.exp(-tree.edges))).tolist()
        return spans, scores

    def _matrix(self, tags: Sequence[int]) -> np.ndarray:
        anchors, n = self.groups[list(tags)], len(tags)
        left, right = np.triu_indices(n, 1)
        distance = np.minimum(right - left, self.distances.shape[2]) - 1
        matrix = np.zeros((n, n))
        matrix[left, right] = self.distances[anchors[left], anchors[right], distance]
        return matrix + matrix.T

    def to_bytes(self) -> bytes:
        """The bracketer as msgpack with a checksum."""
        values = {"groups": self.groups, "distances": self.distances, "meta": json.dumps(self.meta)}
        return pack(_KIND, _VERSION, values)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bracketer:
        """The bracketer that `to_bytes` wrote.

        RAISES (BracketerError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            values = unpack(_KIND, _VERSION, data)
            meta = json.loads(values["meta"])
        except (StorageError, KeyError, TypeError, ValueError) as error:
            raise BracketerError(str(error)) from error
        groups, distances = (_array(values, name, dtype) for name, dtype in _ARRAYS.items())
        _require("groups", groups.shape == (N_UNIVERSAL,) and groups.min() >= 0)
        _require("distances", distances.ndim == 3 and distances.shape[0] == distances.shape[1] > groups.max())
        _require("distances", distances.shape[2] > 0 and bool(np.all(np.isfinite(distances))))
        return cls(groups, distances, meta)

    def to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write the bracketer to a file; the old file stays whole until the new one is."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def from_disk(cls, path: str | os.PathLike[str]) -> Bracketer:
        """Read the bracketer from a file; errors as of `from_bytes`."""
        return cls.from_bytes(Path(path).read_bytes())


def _pieces(sentence: Plain) -> list[tuple[int, int]]:
    """Stretches of at most `_LONGEST` words, cut at punctuation where it is near."""
    n, pieces, start = len(sentence.places), [], 0
    while n - start > _LONGEST:
        cuts = [i for i in range(start + 2, start + _LONGEST) if sentence.segments[i] != sentence.segments[i - 1]]
        end = cuts[-1] if cuts else start + _LONGEST
        pieces.append((start, end))
        start = end
    return [*pieces, (start, n)]


def _array(values: dict[str, Any], name: str, dtype: str) -> np.ndarray:
    array = values.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise BracketerError(f"This bracketer is inconsistent in its {name}: copy or learn it again.")
    return array


def _require(part: str, holds: bool) -> None:
    if not holds:
        raise BracketerError(f"This bracketer is inconsistent in its {part}: copy or learn it again.")
