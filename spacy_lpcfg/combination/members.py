"""The models that may decide together, and their mirror images.

A parser that reads from left to right decides on the beginning of a constituent before it has seen its end, and a
grammar that groups siblings from the left has seen the first ones: learned from mirrored trees, the same learner errs
differently, and more so than from another seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from spacy_lpcfg.grammar.checking import GrammarError
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.storage.container import StorageError, Stored, kind_of, pack, refuse_others, unpack

Straight: TypeAlias = Grammar | Ensemble | ISBN


@dataclass(frozen=True, eq=False)
class Mirrored(Stored):
    """A model of mirrored trees.

    model (Grammar, Ensemble or ISBN): its sentences are read from right to left.
    """

    model: Straight

    @property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents."""
        return self.model.labels

    def to_bytes(self) -> bytes:
        """The model as it is saved alone, marked as mirrored, with a checksum over both."""
        return pack(_KIND, _VERSION, {"model": self.model.to_bytes()})

    @classmethod
    def from_bytes(cls, data: bytes) -> Mirrored:
        """What `to_bytes` wrote.

        RAISES (ValueError): On bytes that are damaged, foreign, or of another format.
        """
        try:
            values = unpack(_KIND, _VERSION, data)
            refuse_others(values, ("model",))
            return cls(_straight_from_bytes(values.get("model")))
        except StorageError as error:
            raise GrammarError(str(error)) from error


_KIND, _VERSION = "mirrored", 1
_STRAIGHT: dict[str, Callable[[bytes], Straight]] = {
    "grammar": Grammar.from_bytes,
    "ensemble": Ensemble.from_bytes,
    "isbn": ISBN.from_bytes,
}

Member: TypeAlias = Straight | Mirrored


def model_from_bytes(data: bytes) -> Member:
    """What the `to_bytes` of a member wrote.

    RAISES (ValueError): On bytes that are damaged, foreign, of another format or inconsistent.
    """
    is_mirrored = isinstance(data, bytes) and kind_of(data) == _KIND
    return Mirrored.from_bytes(data) if is_mirrored else _straight_from_bytes(data)


def _straight_from_bytes(data: Any) -> Straight:
    if not isinstance(data, bytes):
        raise StorageError("Expected a saved model among the parts, got none: copy or learn it again.")
    kind = kind_of(data)
    if kind not in _STRAIGHT:
        raise StorageError(f"Expected a saved model, one of {', '.join(_STRAIGHT)}; got a saved {kind}.")
    return _STRAIGHT[kind](data)


def straight(member: Member) -> Straight:
    """The model itself, whatever way it reads."""
    return member.model if isinstance(member, Mirrored) else member


def words_of(member: Member) -> frozenset[str]:
    """All names under which a model knows words."""
    model = straight(member)
    return model.vocabulary.spellings if isinstance(model, ISBN) else model.lexicon.words


def root_label_of(member: Member) -> str:
    """The artificial root of the trees that a model has learned from, "" if they had none."""
    model = straight(member)
    return model.meta.get("root_label", "") if isinstance(model, ISBN) else model.root_label
