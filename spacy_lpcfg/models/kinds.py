"""The table of the kinds of models that parse: how each is read, and how its parser is created."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from spacy_lpcfg.chart.parser import grammar_parser
from spacy_lpcfg.checks import shown
from spacy_lpcfg.evidence.grammar import EvidenceGrammar, evidence_parser
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.induced.model import Induced
from spacy_lpcfg.induced.parser import induced_parser
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.parsing.decodings import DECODINGS, MBR, Decoding, check_decoding
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.storage.container import StorageError, kind_of, naming_file, read_file
from spacy_lpcfg.storage.files import PathLike


class ModelKind(NamedTuple):
    """A kind of models that parse.

    model (type): The class of the models. Its `kind` is the name of the kind in files, and its `from_bytes` reads
        files.
    make_parser (callable): Returns a parser, given a model, a decoding, and settings as keyword arguments;
        settings that are not given have defaults.
    settings (tuple of str): The names of the settings that `make_parser` takes.
    """

    model: type[ParsingModel]
    make_parser: Callable[..., SentenceParser]
    settings: tuple[str, ...] = ()


KINDS = {
    kind.model.kind: kind
    for kind in (
        ModelKind(Grammar, grammar_parser, ("chart", "tau", "words")),
        ModelKind(EvidenceGrammar, evidence_parser, ("chart", "tau", "words")),
        ModelKind(ISBN, IncrementalParser, ("search", "tau")),
        ModelKind(Induced, induced_parser),
    )
}
"""All kinds by their names in files."""


def make_parser(model: ParsingModel, *, decoding: Decoding | str | None = None, **settings: Any) -> SentenceParser:
    """Create a parser for a model.

    model (ParsingModel): The model.
    decoding (Decoding, str or None): A decoding, or its name; None for minimum Bayes risk.
    settings (Any): Keyword arguments, of which each kind of model takes some; None for the default.
        - chart (ChartSettings): How charts are pruned, for grammars with and without evidence.
        - search (BeamSettings): How the beam search prunes, for networks.
        - tau (float): The power to which probabilities of trees are raised, for grammars and networks; by default
          the model's tau.
        - words (TagDictionary): Tags that words may have, for grammars.
    RAISES (ValueError): If the model does not support the decoding, or does not take one of the settings.
    """
    kind = KINDS[model.kind]
    useless = [name for name in settings if name not in kind.settings]
    if useless:
        raise ValueError(
            f"Expected settings of a parser by this model, which are {', '.join(kind.settings) or 'none'}, got "
            f"{', '.join(useless)}: leave them out."
        )
    if isinstance(decoding, str):
        check_decoding(decoding)
        decoding = DECODINGS[decoding]
    return kind.make_parser(
        model, decoding or MBR, **{name: value for name, value in settings.items() if value is not None}
    )


def usable_settings(model: ParsingModel, **settings: Any) -> dict[str, Any]:
    """Return only the settings that `make_parser` takes for the kind of a model."""
    names = KINDS[model.kind].settings
    return {name: value for name, value in settings.items() if name in names}


def model_from_bytes(data: Any) -> ParsingModel:
    """Deserialize a parsing model of any kind from the bytes that its `to_bytes` returned.

    RAISES (ModelError): If the bytes are damaged, not of a parsing model, of another format or inconsistent.
    """
    try:
        name = kind_of(data)
    except StorageError as error:
        raise ModelError(str(error)) from error
    if name not in KINDS:
        raise ModelError(f"Expected a saved model that parses ({', '.join(sorted(KINDS))}), got a saved {shown(name)}.")
    return KINDS[name].model.from_bytes(data)


def model_from_disk(path: PathLike) -> ParsingModel:
    """Read a parsing model of any kind from a file that its `to_disk` wrote.

    RAISES (ModelError): As for `model_from_bytes`. (StorageError): If the file is too large. (OSError): If there is no
        such file.
    """
    data = read_file(path)
    with naming_file(path):
        return model_from_bytes(data)
