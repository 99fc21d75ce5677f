"""A pipeline in several processes: documents in their order, and few of them under way at any time.

Differs from `nlp.pipe(n_process=...)`: (1) an error in a process is that error, and not the text of its traceback;
(2) a process that dies is an error, and not waited for without end; (3) Ctrl-C is for the main process alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from spacy_lpcfg.batches import in_batches

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Context = TypeVar("Context")

_BATCH = 32  # documents that are parsed at once


def pipe(
    nlp: Language, items: Iterable[tuple[Doc | str, Context]], *, n_process: int = 1
) -> Iterator[tuple[Doc, Context]]:
    """Run a pipeline over Docs or texts, each with a context that is passed through.

    n_process (int): The number of processes; 1 is this process.

    Raises what a component raises; ValueError if a process dies.
    """
    if n_process == 1:
        docs = ((_doc(nlp, item), context) for item, context in items)
        yield from nlp.pipe(docs, as_tuples=True, batch_size=_BATCH)
        return
    from concurrent.futures.process import BrokenProcessPool

    from spacy.tokens import Doc

    from spacy_lpcfg.parallel import in_processes

    _look_up_codecs()
    contexts = deque[Context]()
    try:
        for parsed in in_processes(_Pipeline(nlp), _batches(items, contexts), n_process):
            for data in parsed:
                yield Doc(nlp.vocab).from_bytes(data), contexts.popleft()
    except BrokenProcessPool as error:
        raise ValueError("a worker process died, perhaps for want of memory: use fewer by --n-process") from error


def _batches(items: Iterable[tuple[Doc | str, Context]], contexts: deque[Context]) -> Iterator[list[str | bytes]]:
    """Yield batches of texts, or of Docs as bytes; their contexts are added to a queue."""
    for batch in in_batches(items, _BATCH):
        contexts.extend(context for _, context in batch)
        yield [item if isinstance(item, str) else item.to_bytes() for item, _ in batch]


class _Pipeline:
    """A function that runs a pipeline over a batch of texts or Docs, and returns the Docs as bytes."""

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp

    def __call__(self, batch: list[str | bytes]) -> list[bytes]:
        from spacy.tokens import Doc

        _look_up_codecs()
        vocab = self.nlp.vocab
        docs = (_doc(self.nlp, item) if isinstance(item, str) else Doc(vocab).from_bytes(item) for item in batch)
        return [doc.to_bytes() for doc in self.nlp.pipe(docs)]


def _look_up_codecs() -> None:
    """Have srsly look for its codecs once, for as long as this process of a command runs.

    It looks for them in all registries, and among the entry points of all packages, for every part of a Doc that it
    writes or reads. On the way to a worker and back that took as long as half a parse.
    """
    from srsly.msgpack import msgpack_decoders, msgpack_encoders

    for registry in (msgpack_encoders, msgpack_decoders):
        if "get_all" not in vars(registry):
            registry.get_all = registry.get_all().copy


def _doc(nlp: Language, item: Doc | str) -> Doc:
    from spacy_lpcfg.components.tokenization import tokenize

    return tokenize(nlp, item) if isinstance(item, str) else item
