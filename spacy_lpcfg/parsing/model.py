"""The contract of models, which learners return and files hold; each makes a parser."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.decodings import check_decoding, decodings_of
from spacy_lpcfg.parsing.kinds import all_kinds, kind_of_name
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.storage.container import StorageError, Stored, kind_of, pack, read_file, unpack
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.storage.validation import is_positive


class ModelError(ValueError):
    """A model that is damaged, foreign or inconsistent."""


AnyModel = TypeVar("AnyModel", bound="ParsingModel")


class ParsingModel(Stored):
    """A model that makes parsers: a grammar, with or without evidence, or a network; it never changes.

    kind (str): The name of its kind in files, under which `parsing.kinds` has it.
    version (int): The number of the format in which it is saved.
    parser_settings (collection of str): The keyword arguments of `parser` that its parser has a use for.
    has_rule_marginals, has_n_best (bool): See `Decodable`.
    """

    kind: ClassVar[str]
    version: ClassVar[int]

    if TYPE_CHECKING:  # attributes of some models, and properties of others

        @property
        def parser_settings(self) -> Collection[str]: ...

        @property
        def has_rule_marginals(self) -> bool: ...

        @property
        def has_n_best(self) -> bool: ...

        @property
        def labels(self) -> tuple[str, ...]:
            """Categories of constituents."""

        @property
        def summary(self) -> str:
            """One line that tells people what the model is made of."""

        @property
        def root_label(self) -> str:
            """The artificial root of the trees that were learned from; "" if they had none."""

        @property
        def words(self) -> frozenset[str]:
            """All names under which the model knows words."""

        @property
        def parser_bytes(self) -> float:
            """Approximate bytes of memory that its parser takes, besides those for sentences."""

        @property
        def tags(self) -> tuple[str, ...]:
            """Part-of-speech tags; empty if the model has tags of its own making."""

    else:
        has_rule_marginals = has_n_best = False
        tags = ()

    @property
    def decodings(self) -> tuple[str, ...]:
        """The ways in which its parser can choose a tree, as `DECODINGS` names them, the default first."""
        return decodings_of(self)

    @property
    def without_evidence(self) -> ParsingModel:
        """The model itself, or if it is a grammar with evidence the grammar alone."""
        return self

    def single_models(self) -> tuple[ParsingModel, ...]:
        """Return the grammars and networks that it is made of."""
        return (self,)

    def check_decoding(self, decoding: str) -> None:
        """Raise ValueError if the model's parser does not have the decoding."""
        check_decoding(decoding, self.decodings)

    def usable(self, **settings: Any) -> dict[str, Any]:
        """Return the settings that are among `parser_settings`."""
        return {name: value for name, value in settings.items() if name in self.parser_settings}

    def parser(self, *, decoding: str | None = None, **settings: Any) -> SentenceParser:
        """Return the parser by this model.

        decoding (str or None): One of `decodings`, None for the first; it goes before that of the settings.
        settings (ChartSettings, BeamSettings, float or None): How grammars (`chart`) and networks (`search`) prune, and
            the power of the probabilities of trees (`tau`); None for the defaults and the model's tau.
        RAISES (ValueError): If the model cannot be decoded so, or has no use for one of the settings.
        """
        name = decoding or self.decodings[0]
        self.check_decoding(name)
        useless = [setting for setting in settings if setting not in self.parser_settings]
        if useless:
            raise ValueError(
                f"Expected settings of a parser by this model, which are {' and '.join(self.parser_settings)}, "
                f"got {', '.join(useless)}: leave them out."
            )
        given = {setting: value for setting, value in settings.items() if value is not None}
        return kind_of_name(self.kind).make_parser(self, name, **given)

    # Storage

    def to_values(self) -> dict[str, Any]:
        """Return all parts by the names under which they are stored."""
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

        RAISES (ModelError): On bytes that are damaged, foreign, of another format or inconsistent, or if a parser by
            the model would take too much memory.
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


class WrappingModel(ParsingModel):
    """A model that wraps another, from which it takes labels, words, decodings and single models.

    model (ParsingModel): The inner model.
    """

    model: ParsingModel

    @property
    def parser_settings(self) -> Collection[str]:
        """Settings of the inner model's parser."""
        return self.model.parser_settings

    @property
    def has_rule_marginals(self) -> bool:
        """Whether the inner model has marginals of rules."""
        return self.model.has_rule_marginals

    @property
    def has_n_best(self) -> bool:
        """Whether the inner model has most probable trees."""
        return self.model.has_n_best

    @property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents."""
        return self.model.labels

    @property
    def root_label(self) -> str:
        """Root label of the inner model."""
        return self.model.root_label

    @property
    def words(self) -> frozenset[str]:
        """All names under which the model knows words."""
        return self.model.words

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags of the inner model."""
        return self.model.tags

    def single_models(self) -> tuple[ParsingModel, ...]:
        """Return the grammars and networks of the inner model."""
        return self.model.single_models()


# Reading models of any kind ----------------------------------------------------------------------


def model_from_bytes(data: Any) -> ParsingModel:
    """Return the model that the `to_bytes` of any kind of model wrote.

    RAISES (ModelError): On bytes that are damaged, foreign, of another format or inconsistent.
    """
    try:
        name = kind_of(data)
        model: ParsingModel = kind_of_name(name).read(data)
    except StorageError as error:
        raise ModelError(str(error)) from error
    except KeyError as error:
        expected = ", ".join(sorted(all_kinds()))
        raise ModelError(f"Expected a saved model that parses ({expected}), got a saved {shown(name)}.") from error
    return model


def model_from_disk(path: PathLike) -> ParsingModel:
    """Return the model that the `to_disk` of any kind of model wrote; same errors as `model_from_bytes`.

    RAISES (StorageError): For too large a file. (OSError): If there is no such file.
    """
    return model_from_bytes(read_file(path))


def check_positive(name: str, value: object) -> None:
    """Check that a number of a model, such as tau, is finite and above 0.

    RAISES (ModelError): If it is not.
    """
    if not is_positive(value):
        raise ModelError(f"Expected {name} to be a number above 0 that is finite, got {value!r:.50}.")
