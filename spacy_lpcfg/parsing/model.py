"""The contract of models that parse, which learners return and files hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.parsing.decodings import check_decoding, decodings_of
from spacy_lpcfg.storage.container import Stored, pack, unpack
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.storage.validation import is_positive
from spacy_lpcfg.trees.transforms import basic_category


class ModelError(ValueError):
    """Raised for a model that is damaged, inconsistent, or of another kind or format."""


AnyModel = TypeVar("AnyModel", bound="ParsingModel")


class ParsingModel(Stored):
    """Immutable model of a parser: a grammar, with or without evidence, a belief network, or induced grammars.

    kind (str): The name of the kind of model in files; `models.kinds.KINDS` has the parser of each kind.
    version (int): The version of the file format.
    has_rule_marginals, has_n_best (bool): See `Decodable`.
    """

    kind: ClassVar[str]
    version: ClassVar[int]

    if TYPE_CHECKING:  # attributes of some models, and properties of others

        @property
        def has_rule_marginals(self) -> bool: ...

        @property
        def has_n_best(self) -> bool: ...

        @property
        def labels(self) -> tuple[str, ...]:
            """The labels of constituents that the model knows."""

        @property
        def summary(self) -> str:
            """A description of the model in English, on one line."""

        @property
        def root_label(self) -> str:
            """The label of the artificial root of the training trees; "" if they had none."""

        @property
        def words(self) -> frozenset[str]:
            """The vocabulary of the model: words in treebank spelling, and signatures if it has them."""

        @property
        def parser_bytes(self) -> float:
            """Approximate memory of a parser of this model in bytes, without the charts of sentences."""

        @property
        def tags(self) -> tuple[str, ...]:
            """The part-of-speech tags of the treebank; an empty tuple if the model clusters words into tags itself."""

    else:
        has_rule_marginals = has_n_best = False
        tags = ()

    @property
    def decodings(self) -> tuple[str, ...]:
        """Names of the decodings that the model supports, the default first."""
        return decodings_of(self)

    @cached_property
    def has_functions(self) -> bool:
        """Whether categories keep their function labels, as NP-SBJ, so that trees are normalized with them."""
        return any(basic_category(label) != label for label in self.labels)

    @property
    def without_evidence(self) -> ParsingModel:
        """The grammar alone, for a grammar with evidence; else the model itself."""
        return self

    def check_decoding(self, decoding: str) -> None:
        """Raise ValueError if the model does not support the decoding."""
        check_decoding(decoding, self.decodings)

    # Storage

    def to_values(self) -> dict[str, Any]:
        """Return the contents of the model by the names of their fields in files."""
        raise NotImplementedError

    @classmethod
    def from_values(cls: type[AnyModel], values: Mapping[str, Any]) -> AnyModel:
        """Create the model from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """Return the model as msgpack with a checksum."""
        return pack(self.kind, self.version, self.to_values())

    @classmethod
    def from_bytes(cls: type[AnyModel], data: bytes) -> AnyModel:
        """Return the model that `to_bytes` wrote.

        RAISES (ModelError): If the bytes are damaged, of another kind of model or version of the format, or
            inconsistent, or if a parser of the model would take too much memory.
        """
        try:
            model = cls.from_values(unpack(cls.kind, cls.version, data))
            check_room(model.parser_bytes, what=f"A parser by this {cls.kind} model", n_stored=len(data))
            return model
        except ModelError:
            raise
        except KeyError as error:
            raise ModelError(f"This {cls.kind} model lacks {error}: copy or learn it again.") from error
        except ValueError as error:
            raise ModelError(str(error)) from error


def check_positive(name: str, value: object) -> None:
    """Check that a number of a model, such as tau, is finite and above 0.

    name (str): What the message calls the number.
    RAISES (ModelError): If the value is no such number.
    """
    if not is_positive(value):
        raise ModelError(f"Expected {name} to be a number above 0 that is finite, got {value!r:.50}.")
