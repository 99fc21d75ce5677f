"""Models of different kinds that decide together, as one to save and to parse by."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import srsly

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination.members import Member, member_from_bytes
from spacy_lpcfg.combination.reranking import listing_model
from spacy_lpcfg.grammar.checking import GrammarError, check_temperature
from spacy_lpcfg.grammar.ensemble import grammar_from_bytes
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.parsing.decodings import Decoding, well_formed_first
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.storage.container import StorageError, kind_of, pack, read_file, read_meta, unpack
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.storage.validation import is_array, is_number
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees


@dataclass(frozen=True, eq=False)
class Combined(ParsingModel):
    """Models of one treebank whose posteriors of brackets and tags are averaged.

    members (tuple[Grammar | Ensemble | Stacked | ISBN | Mirrored, ...]): at least one.
    weights (tuple[float, ...]): the share of each; they sum to 1.
    bracket_cost (float): brackets less likely than this are better left out.
    beam (int): hypotheses that networks keep after each word; more of them are slower, and more accurate up to some 50.
    temperature (float): see `Grammar`; those of members do not matter.
    lattice (LatticeSettings or None): how networks search where the members before them say what is likely; None for
        their beam alone.
    RAISES (ValueError): If the numbers of weights and members differ, or if a weight, the beam or the temperature is
        out of range.
    """

    members: tuple[Member, ...]
    weights: tuple[float, ...]
    bracket_cost: float = 0.42
    beam: int = 30
    temperature: float = 1.0
    lattice: LatticeSettings | None = None
    parser_class = "spacy_lpcfg.combination.parser:CombinedParser"

    def __post_init__(self) -> None:
        check_weights(self.weights, len(self.members))
        check_temperature(self.temperature)
        if not 1 <= self.beam <= _WIDEST:
            raise ValueError(f"Expected a beam of 1 to {_WIDEST:,}, got {self.beam}.")

    @cached_property
    def words(self) -> frozenset[str]:
        """All names under which a member knows words."""
        return frozenset().union(*(member.words for member in self.members))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents, sorted."""
        return tuple(sorted({label for member in self.members for label in member.labels}))

    @property
    def summary(self) -> str:
        """Those of the members."""
        return "; ".join(member.summary for member in self.members)

    @property
    def root_label(self) -> str:
        """That of the first member that has one."""
        return next((member.root_label for member in self.members if member.root_label), "")

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """The most probable tree and reranking need a proper grammar that reads from left to right."""
        has_grammar = listing_model(self.members) is not None
        decodings: tuple[Decoding, ...] = ("mbr", "most-probable", "vote", "rerank") if has_grammar else ("mbr", "vote")
        return well_formed_first(decodings, self.local_trees)

    @cached_property
    def local_trees(self) -> LocalTrees:
        """Those of the first member that has any."""
        return next((member.local_trees for member in self.members if member.local_trees), NO_LOCAL_TREES)

    def single_models(self) -> tuple[ParsingModel, ...]:
        """Those of all members."""
        return tuple(model for member in self.members for model in member.single_models())

    def to_bytes(self) -> bytes:
        """The members as they are saved alone, with a checksum over all."""
        members = {f"member_{i}": member.to_bytes() for i, member in enumerate(self.members)}
        lattice = srsly.json_dumps({} if self.lattice is None else asdict(self.lattice))
        settings = {"bracket_cost": self.bracket_cost, "beam": self.beam, "temperature": float(self.temperature)}
        return pack(_KIND, _VERSION, {"weights": np.array(self.weights), **settings, "lattice": lattice, **members})

    @classmethod
    def from_bytes(cls, data: bytes) -> Combined:
        """What `to_bytes` wrote.

        RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            values = {"temperature": 1.0, **unpack(_KIND, _VERSION, data)}
            n = len(values) - len(_SETTINGS)
            names = {*_SETTINGS, *(f"member_{i}" for i in range(n))}
            if values.keys() != names or not is_array(values["weights"], "float64", n):
                raise StorageError(f"Expected {n} members and as many weights: copy or learn this combination again.")
            if not is_number(values["bracket_cost"]) or type(values["beam"]) is not int:
                raise StorageError("Expected numbers for bracket_cost and beam: copy or learn this combination again.")
            members = tuple(member_from_bytes(values[f"member_{i}"]) for i in range(n))
            weights, cost = tuple(values["weights"].tolist()), float(values["bracket_cost"])
            lattice = _lattice(values["lattice"])
            found = cls(members, weights, cost, values["beam"], values["temperature"], lattice)
            n_bytes = sum(member.parser_bytes for member in members)
            check_room(n_bytes, what="A parser by this combination", n_stored=len(data))
            return found
        except GrammarError:
            raise
        except ValueError as error:
            raise GrammarError(str(error)) from error


_KIND, _VERSION = "combined", 3
_READERS: Mapping[str, Callable[[bytes], ParsingModel]] = {_KIND: Combined.from_bytes, "stacked": Stacked.from_bytes}
_SETTINGS = ("weights", "bracket_cost", "beam", "temperature", "lattice")
_WIDEST = 10_000  # of beams: beyond it their memory alone would stop a parser


def _lattice(text: Any) -> LatticeSettings | None:
    """The settings of a lattice; RAISES (ValueError): If they are none."""
    values = read_meta(text)
    if not values:
        return None
    names = {each.name for each in fields(LatticeSettings)}
    if values.keys() != names:
        raise StorageError(f"Expected {', '.join(sorted(names))} of the lattice: copy or learn this combination again.")
    return LatticeSettings(**values)


def model_from_bytes(data: bytes) -> ParsingModel:
    """What the `to_bytes` of a grammar, an ensemble, either with a span layer, or a combination wrote.

    RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
    """
    try:
        read = _READERS.get(kind_of(data), grammar_from_bytes)
    except StorageError as error:
        raise GrammarError(str(error)) from error
    return read(data)


def model_from_disk(path: str | os.PathLike[str]) -> ParsingModel:
    """What the `to_disk` of any of these wrote; same errors as `model_from_bytes`.

    RAISES (StorageError): For too large a file.
    """
    return model_from_bytes(read_file(path))


def check_weights(weights: Sequence[float], n: int) -> None:
    """RAISES (ValueError): Unless they are n shares, at least one, that sum to 1."""
    if n == 0 or len(weights) != n or min(weights) < 0 or not np.isclose(sum(weights), 1):
        raise ValueError(f"Expected a share for each of {n} models, which sum to 1; got {shown(list(weights))}.")
