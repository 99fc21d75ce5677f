"""A pipeline that runs in several processes, with the documents in order and few of them in memory at any time.

It differs from `nlp.pipe(n_process=...)` in three ways:

- An exception in a worker process is raised as it is, not as the text of a traceback.
- If a worker process dies, ValueError is raised; nothing waits for it forever.
- Ctrl-C is handled by the main process alone.
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
    """Run a pipeline over texts or Docs, and yield each Doc with its context, in order.

    nlp (Language): The pipeline.
    items (iterable of (Doc or str, any)): Texts or Docs, each with a context: any object, which is returned unchanged.
    n_process (int): The number of worker processes; 1 runs the pipeline in this process.
    RAISES (ValueError): If a worker process dies. Exceptions of components are raised as they are.
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
    """Yield batches of texts and serialized Docs, and append the context of each item to the queue `contexts`."""
    for batch in in_batches(items, _BATCH):
        contexts.extend(context for _, context in batch)
        yield [item if isinstance(item, str) else item.to_bytes() for item, _ in batch]


class _Pipeline:
    """Picklable callable that runs a pipeline over a batch of texts or serialized Docs, and serializes the results."""

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp

    def __call__(self, batch: list[str | bytes]) -> list[bytes]:
        from spacy.tokens import Doc

        _look_up_codecs()
        vocab = self.nlp.vocab
        docs = (_doc(self.nlp, item) if isinstance(item, str) else Doc(vocab).from_bytes(item) for item in batch)
        return [doc.to_bytes() for doc in self.nlp.pipe(docs)]


def _look_up_codecs() -> None:
    """Cache srsly's lookup of msgpack codecs for the lifetime of this process.

    Without the cache, srsly searches all registries and entry points for every part of a Doc that it reads or writes,
    which took half as long as parsing when Docs were sent to a worker and back.
    """
    from srsly.msgpack import msgpack_decoders, msgpack_encoders

    for registry in (msgpack_encoders, msgpack_decoders):
        if "get_all" not in vars(registry):
            registry.get_all = registry.get_all().copy


def _doc(nlp: Language, item: Doc | str) -> Doc:
    from spacy_lpcfg.components.tokenization import tokenize

    return tokenize(nlp, item) if isinstance(item, str) else item
