"""The base class of components that learn in `initialize`, and how they store what was learned."""

import gc
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.training import Example, validate_examples
from thinc.api import Model, NumpyOps, Shim

from spacy_lpcfg.checks import Check
from spacy_lpcfg.storage.container import Stored, check_file, kind_of, pack, read_file, refuse_others, unpack
from spacy_lpcfg.storage.files import PathLike, write_atomically

Kept = TypeVar("Kept", bound=Stored)
"""What a component learns: a grammar, networks, a bracketer."""

_NOTHING, _FORMAT = "component that has learned nothing", 1


class ModelShim(Shim, Generic[Kept]):
    """A thinc Shim that holds a learned object, if there is one.

    read (callable): Deserializes a learned object from its `to_bytes`.
    """

    _model: Kept | None

    def __init__(self, read: Callable[[bytes], Kept]) -> None:
        super().__init__(None)
        self._read = read

    @property
    def learned(self) -> Kept | None:
        return self._model

    @learned.setter
    def learned(self, value: Kept | None) -> None:
        self._model = value

    def to_bytes(self) -> bytes:
        return bytes_of(self.learned)

    def from_bytes(self, data: bytes) -> "ModelShim":
        self.learned = read_learned(data, self._read)
        return self

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing, since there are no gradients."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Do nothing, since learned objects stay on the CPU."""


def bytes_of(learned: Stored | None) -> bytes:
    """Serialize a learned object, or the fact that there is none."""
    return pack(_NOTHING, _FORMAT, {}) if learned is None else learned.to_bytes()


def read_learned(data: bytes, read: Callable[[bytes], Kept]) -> Kept | None:
    """Deserialize the result of `bytes_of`; `read` deserializes a learned object."""
    if kind_of(data) != _NOTHING:
        return read(data)
    refuse_others(unpack(_NOTHING, _FORMAT, data), ())
    return None


class StoredModel(Model):
    """A thinc Model that is serialized as the content of its shim, with a checksum.

    Its file appears when it is complete. What is loaded is checked before it takes the place of what there was.
    """

    def to_bytes(self) -> bytes:
        return self.shims[0].to_bytes()

    def from_bytes(self, bytes_data: bytes) -> Model:
        """Load the Model.

        RAISES (ValueError): For damaged or foreign bytes.
        """
        self.shims[0].from_bytes(bytes_data)
        return self

    def to_disk(self, path: PathLike) -> None:
        write_atomically(path, self.to_bytes())

    def from_disk(self, path: PathLike) -> Model:
        """Load the Model.

        RAISES (ValueError): For a damaged, foreign or too large file.
        """
        return self.from_bytes(read_file(path))


def model_holder(name: str, shim: ModelShim) -> Model:
    """Create a thinc Model that holds a learned object for serialization, copying and averaging; it computes nothing.

    Its ops are those of the CPU, where a component works, whatever `spacy.prefer_gpu` chose for others.
    """
    return StoredModel(name, _no_forward, shims=[shim], ops=NumpyOps())


def _no_forward(model: Model, X: Any, is_train: bool) -> Any:
    raise NotImplementedError("This Model only holds what was learned: use the component's `predict`.")


class ModelPipe(TrainablePipe, Generic[Kept]):
    """A trainable component whose model is a `model_holder`.

    error (type): The exception for damaged and foreign data.
    checks (mapping of str to Check): The values that settings may have, checked whenever one is assigned.
    """

    error: ClassVar[type[ValueError]]
    checks: ClassVar[Mapping[str, Check]] = {}

    def __init__(self, vocab: Any, model: Model, name: str) -> None:
        super().__init__(vocab, model, name)
        self._warned: set[str] = set()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, after checking its value if it is a setting."""
        if name in self.checks:
            self.checks[name](**{name: value})
        super().__setattr__(name, value)

    @property
    def learned(self) -> Kept | None:
        """The learned object; None before training."""
        return self.model.shims[0].learned

    @learned.setter
    def learned(self, learned: Kept | None) -> None:
        self.model.shims[0].learned = learned

    @property
    def is_trainable(self) -> bool:
        """Whether `update` learns, so that spaCy logs a loss; False for components that learn in `initialize` alone."""
        return False

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Check the examples and initialize the loss; components that only learn in `initialize` need no more."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        return losses

    def warn_once(self, text: str) -> None:
        """Warn by a text with {!r} for the component's name, unless the component has done so before."""
        if text not in self._warned:
            warnings.warn(text.format(self.name), stacklevel=2)
            self._warned.add(text)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Load the component.

        RAISES (ValueError): The component's `error` for damaged or foreign data; it stays as it was.
        """
        with self._as_before():
            try:
                if "model" not in exclude:
                    srsly.msgpack_loads(bytes_data)["model"]  # spaCy passes over what is missing
                return super().from_bytes(bytes_data, exclude=exclude)
            except Exception as error:
                raise self.error(f"These bytes are no saved {self.name!r}: {error}") from error

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Load the component.

        RAISES (ValueError): The component's `error` for a damaged or foreign folder; it stays as it was.
        """
        with self._as_before():
            try:
                if "model" not in exclude:
                    check_file(Path(path) / "model")
                if (Path(path) / "cfg").exists():
                    check_file(Path(path) / "cfg")
                return super().from_disk(path, exclude=exclude)
            except Exception as error:
                raise self.error(f"{path} holds no saved {self.name!r}: {error}") from error

    @contextmanager
    def _as_before(self) -> Iterator[None]:
        """Restore the settings if loading in the block fails; the model is loaded last."""
        before, collects = deepcopy(getattr(self, "cfg", None)), gc.isenabled()
        try:
            yield
        except self.error:
            if before is not None:
                self.cfg.clear()
                self.cfg.update(before)
            if collects:
                gc.enable()  # srsly turns it off, and leaves it off when it fails
            raise


def check_not_streamed(nlp: Language | None, what: str) -> None:
    """Refuse to learn from the sample that spaCy passes to `initialize` if the corpus is streamed.

    what (str): The thing that would be learned, for the message.
    """
    training = nlp.config.get("training", {}) if nlp is not None else {}
    if training.get("max_epochs") == -1:
        raise ValueError(
            f"With training.max_epochs = -1 spaCy streams the corpus, and the {what} would be "
            "learned from its first 100 examples only. Set training.max_epochs = 1."
        )
