"""`cached_property` without a lock, for all supported versions of Python."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """The `cached_property` of Python 3.12, without the lock of earlier versions.

        A forked process might inherit the lock while it is held, and deadlock. Two threads may both compute a value;
        the first one is kept.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]
