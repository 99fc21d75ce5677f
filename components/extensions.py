"""Registration of extension attributes, with a prefix if a name is already taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from spacy.tokens import Doc, Span, Token

Getters = Mapping[str, Callable[[Any], Any]]

PREFIX = "lpcfg_"
_TAKEN = (
    "Extensions that are set already stay as they are: {}. Those of spacy-lpcfg have other names instead: {}. They "
    "have the usual ones if you give other names to yours."
)


def register_getters(of_class: Mapping[type[Doc] | type[Span] | type[Token], Getters]) -> None:
    """Register getters of extension attributes, once.

    of_class (mapping): for Doc, Span and Token, names and their getters

    A name that somebody else has set stays theirs, with a warning; the getter then has the name with `PREFIX`.
    """
    taken = [
        f"{kind.__name__}._.{name}"
        for kind, getters in of_class.items()
        for name, getter in getters.items()
        if not _register(kind, name, getter)
    ]
    if taken:
        prefixed = [name.replace("._.", f"._.{PREFIX}") for name in taken]
        warnings.warn(_TAKEN.format(", ".join(taken), ", ".join(prefixed)), stacklevel=3)


def _register(kind: Any, name: str, getter: Callable[[Any], Any]) -> bool:
    """Register a getter; return whether it got the name itself, and not the prefixed one."""
    for candidate in (name, PREFIX + name):
        if not kind.has_extension(candidate):
            kind.set_extension(candidate, getter=getter)
            return candidate == name
        if kind.get_extension(candidate)[2] is getter:
            return True
    return True  # somebody has set both names
