"""The base class of components that hold a learned model."""

import gc
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar, Generic

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.training import Example, validate_examples

from spacy_lpcfg.checks import Check
from spacy_lpcfg.components.model_holder import Kept, ModelHolder
from spacy_lpcfg.storage.container import check_file

_KEEPS_LOADED = (
    "{!r} learns in nlp.initialize alone, and keeps the model that it was loaded with: training does not initialize a "
    "component that is sourced. Define it by its factory to learn it anew, or list it in frozen_components."
)


class ModelPipe(TrainablePipe, Generic[Kept]):
    """A trainable component whose thinc Model is a `ModelHolder`.

    what (str): The kind of model, for messages.
    command (str): The arguments of `spacy-lpcfg learn` that learn such a model, such as "parser TREES", for messages.
    learns_from (str): What `initialize` learns from, such as "trees", for messages.
    error (type): The exception for bytes and files that are damaged or of another kind.
    checks (mapping of str to Check): The check of each setting, made whenever the setting is assigned.
    """

    what: ClassVar[str]
    command: ClassVar[str]
    learns_from: ClassVar[str]
    error: ClassVar[type[ValueError]]
    checks: ClassVar[Mapping[str, Check]] = {}

    def __init__(self, vocab: Any, model: ModelHolder[Kept], name: str) -> None:
        super().__init__(vocab, model, name)
        self._warned: set[str] = set()
        self._is_loaded = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a setting is checked first, and a wrong value raises ValueError."""
        if name in self.checks:
            self.checks[name](**{name: value})
        super().__setattr__(name, value)

    @property
    def cfg(self) -> Any:
        """Raise AttributeError, since all settings are in the pipeline's config.

        spaCy would save this attribute, and `spacy find-threshold` would look for the threshold there.
        """
        raise AttributeError(f"{self.name!r} has no cfg: its settings are in nlp.config.")

    @property
    def learned(self) -> Kept | None:
        """The learned model; None before training."""
        return self.model.learned

    @learned.setter
    def learned(self, learned: Kept | None) -> None:
        self.model.learned = learned
        self._is_loaded = False

    def _known(self) -> Kept:
        """Return the learned model.

        RAISES (ValueError): If nothing was learned yet.
        """
        if self.learned is None:
            raise ValueError(self._not_learned)
        return self.learned

    @property
    def _not_learned(self) -> str:
        return (
            f"{self.name!r} has no {self.what} yet. Train it (`spacy train`, or `spacy-lpcfg learn {self.command} "
            f"--output DIR`), or call nlp.initialize with {self.learns_from}."
        )

    @property
    def model_name(self) -> str:
        """The name of the model for messages: its class, or its name if it comes with the package."""
        return type(self.learned).__name__

    def __repr__(self) -> str:
        """Return name, model and labels, without loading the model."""
        labels = f", labels {', '.join(self.labels)}" if self.labels else ""
        is_empty = self.model.is_read and self.learned is None
        model = "no model" if is_empty else f"model {self.model_name}"
        return f"<{type(self).__name__} {self.name!r}: {model}{labels}>"

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
        """Check the examples, and set a missing loss to 0; a component that only learns in `initialize` needs no more.

        If the component was loaded with a model and cannot be updated, it warns once.

        examples (iterable of Example): The batch.
        drop, sgd: Ignored.
        losses (dict or None): Losses by component name; None for a new dict.
        RETURNS (dict): The losses, with 0 for this component if it had none.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if self._is_loaded and not self.is_trainable:
            self.warn_once(_KEEPS_LOADED)
        return losses

    def warn_once(self, text: str) -> None:
        """Issue a warning, but each text only once per component.

        text (str): The text, in which `{!r}` stands for the component's name.
        """
        if text not in self._warned:
            warnings.warn(text.format(self.name), stacklevel=2)
            self._warned.add(text)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Load the component from bytes that `to_bytes` wrote.

        exclude (iterable of str): Parts not to load, such as "model".
        RAISES (ValueError): The component's `error`, if the bytes are damaged or of another kind; the component then
            stays as it was.
        """
        with self._as_before(exclude):
            try:
                if "model" not in exclude:
                    srsly.msgpack_loads(bytes_data)["model"]  # spaCy passes over what is missing
                return super().from_bytes(bytes_data, exclude=exclude)
            except Exception as error:
                raise self.error(f"These bytes are no saved {self.name!r}: {error}") from error

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "ModelPipe":
        """Load the component from a folder that `to_disk` wrote.

        exclude (iterable of str): Parts not to load, such as "model".
        RAISES (ValueError): The component's `error`, if the folder is missing, damaged or of another kind; the
            component then stays as it was.
        """
        with self._as_before(exclude):
            try:
                if "model" not in exclude:
                    check_file(Path(path) / "model")
                if (Path(path) / "cfg").exists():
                    check_file(Path(path) / "cfg")
                return super().from_disk(path, exclude=exclude)
            except Exception as error:
                raise self.error(f"{path} holds no saved {self.name!r}: {error}") from error

    @contextmanager
    def _as_before(self, exclude: Iterable[str]) -> Iterator[None]:
        """Context manager around loading: mark the component as loaded, or undo the changes if its error is raised.

        After an error, the settings are restored and the garbage collector is enabled again. The model needs no
        restoring, since it is loaded last.

        exclude (iterable of str): Parts that are not loaded; with "model" the component is not marked as loaded.
        """
        before, collects = deepcopy(getattr(self, "cfg", None)), gc.isenabled()
        try:
            yield
            self._is_loaded |= "model" not in exclude
        except self.error:
            if before is not None:
                self.cfg.clear()
                self.cfg.update(before)
            if collects:
                gc.enable()  # srsly turns it off, and leaves it off when it fails
            raise


def check_not_streamed(nlp: Language | None, what: str) -> None:
    """Raise ValueError if the corpus is streamed, since spaCy then passes only a sample of it to `initialize`.

    nlp (Language or None): The pipeline, for its training settings; None to check nothing.
    what (str): The kind of model, for the message.
    RAISES (ValueError): If `training.max_epochs` is -1.
    """
    training = nlp.config.get("training", {}) if nlp is not None else {}
    if training.get("max_epochs") == -1:
        raise ValueError(
            f"With training.max_epochs = -1 spaCy streams the corpus, and the {what} would be "
            "learned from its first 100 examples only. Set training.max_epochs = 1."
        )
