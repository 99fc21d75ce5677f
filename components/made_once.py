"""Values that are computed from a model once, when first needed, and shared by threads, such as its parser."""

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

Made = TypeVar("Made")


class ProcessLock:
    """A reentrant lock for the threads of one process; in a forked process it is free."""

    def __init__(self) -> None:
        self._renew()
        _locks.add(self)

    def _renew(self) -> None:
        self._lock = RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock within the block; the same thread may nest this."""
        with self._lock:
            yield


_locks: WeakSet[ProcessLock] = WeakSet()


def _renew_locks() -> None:
    for lock in _locks:
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class MadeOnce:
    """A cache of values that are computed once from an immutable state; reading takes no lock.

    With another state comes another `MadeOnce`: a thread that is still computing a value of the old state leaves it in
    the old cache, where nobody looks for it.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._lock = ProcessLock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the cached value of a key, after computing it by `make` if necessary."""
        if key not in self._values:
            with self._lock.held():
                if key not in self._values:
                    self._values[key] = make()
        made: Made = self._values[key]
        return made
