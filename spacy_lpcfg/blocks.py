"""Types of settings that are blocks of a config: parts of a frozen dataclass.

spaCy writes the defaults of a registered dataclass into a config, which has texts, numbers, lists and null, but no
objects. So a block is None by default, and its owner makes it in `__post_init__`: whoever reads the field finds the
object, and a type checker is told so.
"""

from collections.abc import Mapping
from numbers import Number
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar

from spacy_lpcfg.checks import shown

__all__ = ["UNSET", "Block", "make_blocks", "make_tuples"]

T = TypeVar("T")

if TYPE_CHECKING:
    Block = Annotated[T, "or None, until its owner is made"]
else:
    Block = Optional[T]  # noqa: UP045  T | None cannot be applied to a type


UNSET: Any = None
"""The default of a block in the signature of a dataclass."""


def make_blocks(settings: object, /, **defaults: object) -> None:
    """Set each block of a frozen dataclass that is None to its default.

    RAISES (ValueError): For a block that is no object, such as a dict of settings.
    """
    for name, default in defaults.items():
        value = getattr(settings, name)
        if value is None:
            object.__setattr__(settings, name, default)
        elif isinstance(value, Mapping | str | Number):
            raise ValueError(
                f"Expected {name} to be an object such as {type(default).__name__}(...), got {shown(value)}."
            )


def make_tuples(settings: object, *names: str) -> None:
    """Make tuples of the named fields of a frozen dataclass: of lists, as configs have them, or of a mapping's values.

    RAISES (ValueError): If a field is a string.
    """
    for name in names:
        values = getattr(settings, name)
        if isinstance(values, str):
            raise ValueError(f"Expected {name} to be a list, got {values!r}: put it into brackets.")
        object.__setattr__(settings, name, tuple(values.values() if isinstance(values, Mapping) else values))
