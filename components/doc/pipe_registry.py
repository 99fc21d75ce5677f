"""A registry of loaded components, in which a Doc finds the component that parsed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from weakref import WeakValueDictionary

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.storage.container import Stored


class SurprisalModel(Protocol):
    """Interface of a model with surprisal: a `LanguageModel`, or a component."""

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Return the surprisal in bits of each word of a sentence, and of its end, float64 (n_words + 1,)."""
        ...


class RegisteredPipe(SurprisalModel, Protocol):
    """Interface of a component that has parsed a Doc, with the members that the Doc uses later; see `ParsingPipe`."""

    vocab: Vocab
    spans_key: str

    @property
    def learned(self) -> Stored | None: ...

    def posteriors(self, doc: Doc) -> list[Posteriors | None]: ...


_PIPES: WeakValueDictionary[tuple[int, str], RegisteredPipe] = WeakValueDictionary()


def register_pipe(pipe: RegisteredPipe) -> None:
    """Register a component under its vocabulary and `spans_key`, by a weak reference; it replaces an earlier one."""
    _PIPES[id(pipe.vocab), pipe.spans_key] = pipe


def find_pipe(doc: Doc, key: str) -> RegisteredPipe | None:
    """Return the trained component that writes to `doc.spans[key]` and shares the Doc's vocabulary, or else None."""
    pipe = _PIPES.get((id(doc.vocab), key))
    return pipe if pipe is not None and pipe.vocab is doc.vocab and pipe.learned is not None else None
