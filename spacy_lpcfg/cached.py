"""Attributes that are computed when they are first read, and take no lock."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """The `cached_property` of Python 3.12, without the lock that all objects of a class shared before.

        A forked process may inherit that lock while it is held, and wait for ever.

        Two threads may both compute a value; the first one stays.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]
