"""Components that can be asked for more about the Docs that they parsed, as long as they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from spacy.tokens import Doc

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

_PIPES: WeakValueDictionary[tuple[int, str], ParsingPipe] = WeakValueDictionary()


def answers(pipe: ParsingPipe) -> None:
    """Take note of a component that can be asked about what it parses."""
    _PIPES[id(pipe.vocab), pipe.spans_key] = pipe


def pipe_of(doc: Doc, key: str) -> ParsingPipe | None:
    """The trained component that writes trees to `doc.spans[key]` and shares the Doc's vocabulary, if there is one."""
    pipe = _PIPES.get((id(doc.vocab), key))
    return pipe if pipe is not None and pipe.vocab is doc.vocab and pipe.learned is not None else None
