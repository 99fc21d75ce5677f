"""A grammar with a span layer over its posteriors, as one model to save and to parse by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.model import ModelError, WrappingModel, check_temperature
from spacy_lpcfg.stacking.layer import LAYER_PARTS, SpanLayer
from spacy_lpcfg.storage.container import refuse_others
from spacy_lpcfg.storage.validation import is_number


@dataclass(frozen=True, eq=False)
class Stacked(WrappingModel):
    """A grammar with a span layer that rescores its posteriors of brackets.

    The layer decides which tree is chosen by decodings that go by these posteriors, such as "mbr". All else is the
    model's own: tags, n-best trees, samples, log-probabilities, surprisal, states, and other decodings.

    model (Grammar): The model below the layer.
    layer (SpanLayer): The layer, learned from posteriors of such models for trees that they did not learn from.
    temperature (float): See `Grammar`; the temperature of the model below does not matter.
    bracket_cost (float): Brackets less likely than this are better left out.
    RAISES (ModelError): On a temperature that is not finite and above 0.
    """

    model: Grammar
    layer: SpanLayer
    temperature: float = 1.0
    bracket_cost: float = 0.42

    kind, version = "stacked", 2

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    @property
    def summary(self) -> str:
        """The summary of the model, and the number of the layer's features."""
        return f"{self.model.summary}; {len(self.layer.keys)} features of spans"

    @property
    def parser_bytes(self) -> float:
        """Approximate bytes of memory that its parser takes, besides those for sentences."""
        return self.model.parser_bytes + self.layer.scorer_bytes

    def to_values(self) -> dict[str, Any]:
        """Return the model as it is saved alone, and the parts of the layer."""
        layer = {f"layer.{name}": value for name, value in self.layer.to_values().items()}
        settings = {"temperature": float(self.temperature), "bracket_cost": float(self.bracket_cost)}
        return {"model": self.model.to_bytes(), **settings, **layer}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Stacked:
        """Create the model from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        refuse_others(values, ("model", "temperature", "bracket_cost", *(f"layer.{name}" for name in LAYER_PARTS)))
        layer = {name.removeprefix("layer."): part for name, part in values.items() if name.startswith("layer.")}
        if not is_number(values["bracket_cost"]):
            raise ModelError("Expected a number for bracket_cost: copy or learn this model again.")
        return cls(
            Grammar.from_bytes(values["model"]),
            SpanLayer.from_values(layer),
            values["temperature"],
            values["bracket_cost"],
        )
