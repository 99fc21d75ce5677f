"""A grammar, or several, with a span layer over its posteriors, as one model to save and to parse by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from spacy_lpcfg.grammar.checking import GrammarError, check_temperature
from spacy_lpcfg.grammar.ensemble import Ensemble, grammar_from_bytes
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.decodings import Decoding, well_formed_first
from spacy_lpcfg.parsing.model import WrappingModel
from spacy_lpcfg.stacking.layer import LAYER_PARTS, SpanLayer
from spacy_lpcfg.storage.container import StorageError, pack, refuse_others, unpack
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.storage.validation import is_number

Stackable: TypeAlias = Grammar | Ensemble


@dataclass(frozen=True, eq=False)
class Stacked(WrappingModel):
    """A model whose posteriors of brackets a span layer has mended.

    The layer says which brackets are likely, and so which tree "mbr" chooses. All else is the model's own: tags,
    n-best trees, samples, log-probabilities, surprisal, states, and what other decodings choose.

    model (Grammar or Ensemble): whose posteriors the layer reads.
    layer (SpanLayer): learned from what such a model says of trees that it did not learn from.
    temperature (float): see `Grammar`; that of the model does not matter.
    bracket_cost (float): brackets less likely than this are better left out.
    RAISES (GrammarError): On a temperature that is not finite and above 0.
    """

    model: Stackable
    layer: SpanLayer
    temperature: float = 1.0
    bracket_cost: float = 0.42

    parser_class = "spacy_lpcfg.stacking.parser:StackedParser"
    own_tree = "mbr"

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """Those of the model."""
        return well_formed_first(self.model.decodings, self.model.local_trees)

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags."""
        return self.model.tags

    @property
    def summary(self) -> str:
        """That of the model, and the number of the layer's features."""
        return f"{self.model.summary}; {len(self.layer.keys)} features of spans"

    @property
    def parser_bytes(self) -> float:
        """About the memory that a parser by it takes, sentences aside."""
        return self.model.parser_bytes + self.layer.scorer_bytes

    def models_of_trees(self) -> tuple[Grammar, ...]:
        """Those of the model."""
        return self.model.models_of_trees()

    def to_bytes(self) -> bytes:
        """The model as it is saved alone, and the layer, with a checksum over both."""
        layer = {f"layer.{name}": value for name, value in self.layer.to_values().items()}
        settings = {"temperature": float(self.temperature), "bracket_cost": float(self.bracket_cost)}
        values = {"model": self.model.to_bytes(), **settings, **layer}
        return pack(_KIND, _VERSION, values)

    @classmethod
    def from_bytes(cls, data: bytes) -> Stacked:
        """What `to_bytes` wrote.

        RAISES (GrammarError): On bytes that are damaged, foreign, of another format or inconsistent.
        """
        try:
            values = unpack(_KIND, _VERSION, data)
            refuse_others(values, ("model", "temperature", "bracket_cost", *(f"layer.{name}" for name in LAYER_PARTS)))
            model, temperature, cost = (values.pop(name, None) for name in ("model", "temperature", "bracket_cost"))
            if not isinstance(model, bytes):
                raise StorageError("Expected a saved grammar below the span layer, got none: copy or learn it again.")
            layer = SpanLayer.from_values({name.removeprefix("layer."): part for name, part in values.items()})
            if not is_number(cost):
                raise StorageError("Expected a number for bracket_cost: copy or learn this model again.")
            found = cls(grammar_from_bytes(model), layer, temperature, cost)
            check_room(found.parser_bytes, what="A parser by this model", n_stored=len(data))
            return found
        except StorageError as error:
            raise GrammarError(str(error)) from error


_KIND, _VERSION = "stacked", 2
