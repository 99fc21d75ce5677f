"""The components that are loaded, for a Doc to find the one that parsed it and ask it for more."""

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
    """What expects the next word: a `LanguageModel`, or the `ready_parser()` of a parsing component."""

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Bits of each word of a sentence, and of its end, float64 (n_words + 1,)."""
        ...


class RegisteredPipe(Protocol):
    """What a Doc asks of the component that parsed it; see `ParsingPipe`."""

    vocab: Vocab
    spans_key: str

    @property
    def learned(self) -> Stored | None: ...

    def posteriors(self, doc: Doc) -> list[Posteriors | None]: ...

    def ready_parser(self) -> SurprisalModel: ...


_PIPES: WeakValueDictionary[tuple[int, str], RegisteredPipe] = WeakValueDictionary()


def register_pipe(pipe: RegisteredPipe) -> None:
    """Remember a component by its vocabulary and key, as long as it is there."""
    _PIPES[id(pipe.vocab), pipe.spans_key] = pipe


def find_pipe(doc: Doc, key: str) -> RegisteredPipe | None:
    """The trained component that writes trees to `doc.spans[key]` and shares the Doc's vocabulary, if there is one."""
    pipe = _PIPES.get((id(doc.vocab), key))
    return pipe if pipe is not None and pipe.vocab is doc.vocab and pipe.learned is not None else None
