"""The table of the kinds of models that parse: what files call a kind, how it is read, and what makes its parser.

Each family of models enters its kinds where its parsers are defined, when that module is imported. If a kind
is missing, all families are imported, by the function that `spacy_lpcfg/__init__.py` gives to `import_families_by`.
This module has to be quick to import: it needs neither `typing` nor NumPy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spacy_lpcfg.parsing.protocol import SentenceParser


class ModelKind:
    """A kind of models that parse.

    name (str): What files call it, such as "grammar"; the `kind` of its class.
    read (callable): Returns the model that some bytes hold, and raises a ModelError if they hold none.
    make_parser (callable): Returns a parser, given a model, the name of one of its decodings, and as keyword arguments
        those of its `parser_settings` that are not left at their defaults.
    """

    def __init__(self, name: str, read: Callable[[bytes], Any], make_parser: Callable[..., SentenceParser]) -> None:
        self.name = name
        self.read = read
        self.make_parser = make_parser


_KINDS: dict[str, ModelKind] = {}
_importers: list[Callable[[], None]] = []


def add_kind(name: str, read: Callable[[bytes], Any], make_parser: Callable[..., SentenceParser]) -> None:
    """Enter a kind of models into the table; arguments as for `ModelKind`."""
    _KINDS[name] = ModelKind(name, read, make_parser)


def import_families_by(importer: Callable[[], None]) -> None:
    """Register the function that imports all families of models; it is called when a kind is missing."""
    _importers.append(importer)


def all_kinds() -> dict[str, ModelKind]:
    """Return all kinds by their names, after importing all families."""
    for importer in _importers:
        importer()
    return dict(_KINDS)


def kind_of_name(name: str) -> ModelKind:
    """Return the kind of a name.

    RAISES (KeyError): If no family has it.
    """
    return _KINDS[name] if name in _KINDS else all_kinds()[name]
