"""Settings of components that are of another type than they should be, such as numbers in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def refused_or_read(make: Callable[[], Made], message: str) -> Made | None:
    """None if the settings are refused with a message; else what is made by a spaCy that makes them what they say.

    That is one with a confection before 1.0, which gives the component a number for one in quotes, and a dataclass for
    a dictionary.
    """
    try:
        return make()
    except ValueError as error:
        if not re.search(message, str(error)):
            raise
    return None
