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
from spacy_lpcfg.parsing.decodings import Decoding, well_formed_first
from spacy_lpcfg.parsing.model import WrappingModel
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.storage.container import StorageError, kind_of, pack, refuse_others, unpack
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees

Straight: TypeAlias = Grammar | Ensemble | Stacked | ISBN


@dataclass(frozen=True, eq=False)
class Mirrored(WrappingModel):
    """A model of mirrored trees.

    model (Grammar, Ensemble, Stacked or ISBN): its sentences are read from right to left.
    """

    model: Straight
    parser_class = "spacy_lpcfg.combination.mirrored:MirroredParser"
    is_mirrored = True

    @property
    def is_network(self) -> bool:  # type: ignore[override]
        """Whether the model is made of networks."""
        return self.model.is_network

    @property
    def own_tree(self) -> Decoding:  # type: ignore[override]
        """That of the model."""
        return self.model.own_tree

    @property
    def summary(self) -> str:
        """That of the model, and that it is mirrored."""
        return f"{self.model.summary}, from right to left"

    @property
    def local_trees(self) -> LocalTrees:
        """None: those of the model are mirrored."""
        return NO_LOCAL_TREES

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """Those of the model that need no local trees."""
        return well_formed_first(self.model.decodings, self.local_trees)

    @property
    def temperature(self) -> float:
        """That of the model."""
        return self.model.temperature

    @property
    def parser_bytes(self) -> float:
        """About the memory that a parser by the model takes, sentences aside."""
        return self.model.parser_bytes

    def models_of_trees(self) -> tuple[Mirrored, ...]:
        """Those of the model, mirrored."""
        return tuple(map(Mirrored, self.model.models_of_trees()))

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
    "stacked": Stacked.from_bytes,
    "isbn": ISBN.from_bytes,
}

Member: TypeAlias = Straight | Mirrored


def member_from_bytes(data: bytes) -> Member:
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
