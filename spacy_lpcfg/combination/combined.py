"""Models of different kinds that decide together, as one to save and to parse by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import srsly

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination.members import COMBINED
from spacy_lpcfg.combination.reranking import n_best_model
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.parsing.model import ModelError, ParsingModel, check_temperature, model_from_bytes
from spacy_lpcfg.storage.container import StorageError, read_meta
from spacy_lpcfg.storage.validation import is_array, is_number
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees


@dataclass(frozen=True, eq=False)
class Combined(ParsingModel):
    """Models of one treebank whose posteriors of brackets and tags are averaged.

    members (tuple[ParsingModel, ...]): At least one; of any kind but this.
    weights (tuple[float, ...]): The share of each; they sum to 1.
    bracket_cost (float): Brackets less likely than this are better left out.
    beam (int): Hypotheses that networks keep after each word; more of them are slower, and more accurate up to some 50.
    temperature (float): See `Grammar`; those of members do not matter.
    lattice (LatticeSettings or None): How networks search where the members before them say what is likely; None for
        their beam alone.
    RAISES (ValueError): If the numbers of weights and members differ, or if a weight, the beam or the temperature is
        out of range.
    """

    members: tuple[ParsingModel, ...]
    weights: tuple[float, ...]
    bracket_cost: float = 0.42
    beam: int = 30
    temperature: float = 1.0
    lattice: LatticeSettings | None = None
    kind, version = COMBINED, 3
    has_members = True

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
        """The summaries of all members."""
        return "; ".join(member.summary for member in self.members)

    @property
    def root_label(self) -> str:
        """The root label of the first member that has one."""
        return next((member.root_label for member in self.members if member.root_label), "")

    @property
    def parser_settings(self) -> Collection[str]:
        """Settings of the parsers of all members."""
        return tuple(sorted({name for member in self.members for name in member.parser_settings}))

    @property
    def has_n_best(self) -> bool:
        """Whether a proper grammar that reads from left to right is among the members."""
        return n_best_model(self.members) is not None

    @cached_property
    def local_trees(self) -> LocalTrees:
        """The local trees of the first member that has any."""
        return next((member.local_trees for member in self.members if member.local_trees), NO_LOCAL_TREES)

    def single_models(self) -> tuple[ParsingModel, ...]:
        """Return the single models of all members."""
        return tuple(model for member in self.members for model in member.single_models())

    @property
    def parser_bytes(self) -> float:
        """Approximate bytes of memory that the parsers of all members take, besides those for sentences."""
        return sum(member.parser_bytes for member in self.members)

    def to_values(self) -> dict[str, Any]:
        """Return the members as they are saved alone, and the settings."""
        members = {f"member_{i}": member.to_bytes() for i, member in enumerate(self.members)}
        lattice = srsly.json_dumps({} if self.lattice is None else asdict(self.lattice))
        settings = {"bracket_cost": self.bracket_cost, "beam": self.beam, "temperature": float(self.temperature)}
        return {"weights": np.array(self.weights), **settings, "lattice": lattice, **members}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Combined:
        """Create the combination from the fields that `to_values` returned.

        RAISES (ValueError): If fields are missing, unknown or inconsistent.
        """
        values = {"temperature": 1.0, **values}
        n = len(values) - len(_SETTINGS)
        names = {*_SETTINGS, *(f"member_{i}" for i in range(n))}
        if values.keys() != names or not is_array(values["weights"], "float64", n):
            raise ModelError(f"Expected {n} members and as many weights: copy or learn this combination again.")
        if not is_number(values["bracket_cost"]) or type(values["beam"]) is not int:
            raise ModelError("Expected numbers for bracket_cost and beam: copy or learn this combination again.")
        members = tuple(model_from_bytes(values[f"member_{i}"], without=(cls.kind,)) for i in range(n))
        return cls(
            members,
            weights=tuple(values["weights"].tolist()),
            bracket_cost=float(values["bracket_cost"]),
            beam=values["beam"],
            temperature=values["temperature"],
            lattice=_lattice(values["lattice"]),
        )


_SETTINGS = ("weights", "bracket_cost", "beam", "temperature", "lattice")
_WIDEST = 10_000  # of beams: beyond it their memory alone would stop a parser


def _lattice(text: Any) -> LatticeSettings | None:
    """Return the settings of a lattice, checked; RAISES (ValueError): If they are no such settings."""
    values = read_meta(text)
    if not values:
        return None
    names = {setting.name for setting in fields(LatticeSettings)}
    if values.keys() != names:
        raise StorageError(f"Expected {', '.join(sorted(names))} of the lattice: copy or learn this combination again.")
    return LatticeSettings(**values)


def check_weights(weights: Sequence[float], n: int) -> None:
    """Raise ValueError unless the weights are n shares, at least one, that sum to 1."""
    if n == 0 or len(weights) != n or min(weights) < 0 or not np.isclose(sum(weights), 1):
        raise ValueError(f"Expected a share for each of {n} models, which sum to 1; got {shown(list(weights))}.")
