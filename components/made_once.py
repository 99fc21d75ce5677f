"""What is made of a model when it is first needed, such as its parser, by one thread for all that share it."""

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

Made = TypeVar("Made")


class ProcessLock:
    """A lock of the threads of one process: a process that is forked has it anew, held by nobody."""

    def __init__(self) -> None:
        self._renew()
        _locks.add(self)

    def _renew(self) -> None:
        self._lock = RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock, which the same thread may do again, within the block."""
        with self._lock:
            yield


_locks: WeakSet[ProcessLock] = WeakSet()


def _renew_locks() -> None:
    for lock in _locks:
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class MadeOnce:
    """Values made of something that does not change; reading one that exists takes no lock.

    Whoever changes what the values are made of takes another `MadeOnce`, too. A thread that is still making a value of
    the old state leaves it in the old one, where nobody looks for it.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._lock = ProcessLock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value of a key, which `make` gives if there is none yet."""
        if key not in self._values:
            with self._lock.held():
                if key not in self._values:
                    self._values[key] = make()
        made: Made = self._values[key]
        return made
