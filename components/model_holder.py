"""The holder of a component's model: loaded when it is first needed, shared by threads, saved with a checksum."""

import os
from collections.abc import Callable, Hashable
from functools import partial
from threading import RLock
from typing import Any, Generic, TypeVar

from thinc.api import Model, NumpyOps

from spacy_lpcfg.storage.container import Stored, kind_of, pack, read_file, refuse_others, unpack
from spacy_lpcfg.storage.files import PathLike, write_atomically

Kept = TypeVar("Kept", bound=Stored)
"""What a component learns: a grammar, networks, a bracketer."""
Made = TypeVar("Made")

MODEL = "model"
_NOTHING, _FORMAT = "component that has learned nothing", 1


def _no_forward(model: Model, X: Any, is_train: bool) -> Any:
    raise NotImplementedError("This Model only holds what was learned: use the component's `predict`.")


class ModelHolder(Model, Generic[Kept]):
    """A thinc Model that holds the learned model of a component, and a cache of objects made from it, such as parsers.

    spaCy saves, copies and averages a component by its thinc Model. This one computes nothing, and always has the ops
    of the CPU, even after `spacy.prefer_gpu`. Files are written atomically.

    Any number of threads may share it. Each cached object is made once: one thread makes it, and all other threads that
    need it wait; reading an existing object takes no lock. A forked process has locks of its own.

    name (str): The name of the thinc Model.
    read (callable): Converts bytes from `to_bytes` to the learned model.
    parts (dict): Further keyword arguments of thinc's Model, for a subclass with layers.
    held (tuple): Two items. The first is the function that loads the model lazily, or None if the model was set
        directly. The second is a dict of the objects made from the model; once the model is loaded, it is there too,
        under the key `MODEL`. The tuple is always replaced as a whole, so that a thread that is still making an object
        from an old model cannot store it in the cache of the new one.
    """

    held: tuple[Callable[[], Kept | None] | None, dict[Hashable, Any]]

    def __init__(self, name: str, read: Callable[[bytes], Kept], **parts: Any) -> None:
        super().__init__(name, _no_forward, ops=NumpyOps(), **parts)
        self._read = read
        self._locks: dict[int, Any] = {}  # by process
        self.held = (None, {MODEL: None})

    @property
    def learned(self) -> Kept | None:
        """The learned model, loaded at the first access; None before training."""
        return self._learned(*self.held)

    @learned.setter
    def learned(self, value: Kept | None) -> None:
        self.held = (None, {MODEL: value})

    def read_by(self, read: Callable[[], Kept | None]) -> None:
        """Set the learned model lazily: `read`, which loads it, is called when the model is first needed."""
        self.held = (read, {})

    @property
    def is_read(self) -> bool:
        """Whether the learned model is loaded."""
        return MODEL in self.held[1]

    def made(self, key: Hashable, make: Callable[[Kept], Made]) -> Made | None:
        """Return `make(model)`, computed once for each key and then cached; None before training.

        key (hashable): The key in the cache, such as the settings of a parser.
        make (callable): Makes the object from the learned model.
        """
        read, values = self.held
        learned = self._learned(read, values)
        return None if learned is None else self._once(values, key, partial(make, learned))

    def _learned(self, read: Callable[[], Kept | None] | None, values: dict[Hashable, Any]) -> Kept | None:
        return values[MODEL] if read is None else self._once(values, MODEL, read)

    def _once(self, values: dict[Hashable, Any], key: Hashable, make: Callable[[], Made]) -> Made:
        if key not in values:
            with self._locks.setdefault(os.getpid(), RLock()):  # of this process: a fork may have copied it while held
                if key not in values:
                    values[key] = make()
        value: Made = values[key]
        return value

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the attributes and slots to pickle: the learned model, without locks and cached objects."""
        slots = {name: getattr(self, name) for name in Model.__slots__ if hasattr(self, name)}
        return {**self.__dict__, "held": (None, {MODEL: self.learned}), "_locks": {}}, slots

    # Storage

    def to_bytes(self) -> bytes:
        learned = self.learned
        return pack(_NOTHING, _FORMAT, {}) if learned is None else learned.to_bytes()

    def from_bytes(self, bytes_data: bytes) -> Model:
        """Replace the learned model by one that `to_bytes` wrote.

        RAISES (ValueError): If the bytes are damaged or of another kind; this Model then stays as it was.
        """
        if kind_of(bytes_data) == _NOTHING:
            refuse_others(unpack(_NOTHING, _FORMAT, bytes_data), ())
            self.learned = None
        else:
            self.learned = self._read(bytes_data)
        return self

    def to_disk(self, path: PathLike) -> None:
        write_atomically(path, self.to_bytes())

    def from_disk(self, path: PathLike) -> Model:
        """Replace the learned model by one that `to_disk` wrote.

        RAISES (ValueError): If the file is damaged, too large, or of another kind; this Model then stays as it was.
        RAISES (OSError): If there is no such file.
        """
        return self.from_bytes(read_file(path))
