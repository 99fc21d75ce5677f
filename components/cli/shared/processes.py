"""A pipeline in several processes: documents in their order, and few of them under way at any time.

Differs from `nlp.pipe(n_process=...)`: (1) an error in a process is that error, and not the text of its traceback;
(2) Ctrl-C is for the main process alone, and ends all at once, whatever waits in queues.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from spacy_lpcfg.batches import in_batches

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

Context = TypeVar("Context")

_BATCH = 32  # documents that are parsed at once
_WAITING = 2  # batches that wait for each process, so that it need not

_nlp: Language  # of a worker process


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
    _make_parsers(nlp)
    _look_up_codecs()
    pool = ProcessPoolExecutor(n_process, initializer=_begin, initargs=(nlp,))
    waiting = deque[tuple[Future[list[bytes]], list[Context]]]()
    try:
        for batch in in_batches(items, _BATCH):
            documents = [item if isinstance(item, str) else item.to_bytes() for item, _ in batch]
            with interrupts_held_back():  # while processes are started
                future = pool.submit(_run, documents)
            waiting.append((future, [context for _, context in batch]))
            if len(waiting) > _WAITING * n_process:
                yield from _receive(nlp, *waiting.popleft())
        while waiting:
            yield from _receive(nlp, *waiting.popleft())
    except BrokenProcessPool as error:
        raise ValueError("a worker process died, perhaps for want of memory: use fewer by --n-process") from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block; processes that are started in it take no notice."""
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


def _make_parsers(nlp: Language) -> None:
    """Read models and make parsers once, for processes that are forked: else each would."""
    for _, component in nlp.pipeline:
        getattr(component, "parser", None)


def _look_up_codecs() -> None:
    """Have srsly look for its codecs once, for as long as this process of a command runs.

    It looks for them in all registries, and among the entry points of all packages, for every part of a Doc that it
    writes or reads. On the way to a worker and back that took as long as half a parse.
    """
    from srsly.msgpack import msgpack_decoders, msgpack_encoders

    for registry in (msgpack_encoders, msgpack_decoders):
        registry.get_all = registry.get_all().copy


def _receive(nlp: Language, batch: Future[list[bytes]], contexts: list[Context]) -> Iterator[tuple[Doc, Context]]:
    from spacy.tokens import Doc

    for data, context in zip(batch.result(), contexts, strict=True):
        yield Doc(nlp.vocab).from_bytes(data), context


def _begin(nlp: Language) -> None:
    """Make a process a worker."""
    global _nlp
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _look_up_codecs()  # a spawned process has registered none
    _nlp = nlp


def _run(documents: list[str | bytes]) -> list[bytes]:
    """Return the documents of a batch, parsed, in a worker process."""
    from spacy.tokens import Doc

    docs = (_doc(_nlp, item) if isinstance(item, str) else Doc(_nlp.vocab).from_bytes(item) for item in documents)
    return [doc.to_bytes() for doc in _nlp.pipe(docs)]


def _doc(nlp: Language, item: Doc | str) -> Doc:
    from spacy_lpcfg.components.tokenization import tokenize

    return tokenize(nlp, item) if isinstance(item, str) else item
