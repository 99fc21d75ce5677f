"""Calls on the workers of a Dask cluster, by a function that is large: it is sent once to each of them.

Imported where Dask is known to be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from copy import deepcopy
from functools import partial
from threading import local
from typing import Any, TypeVar
from uuid import uuid4

from distributed import Client, KilledWorker, WorkerPlugin, as_completed, get_worker

Item = TypeVar("Item")


class SentFunction(WorkerPlugin):
    """A function that all workers have, with those that come later, or in the place of one that died.

    Each thread of a worker has a copy, since a pipeline reads one file at a time.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def setup(self, worker: Any) -> None:
        self.of_thread = local()

    def __call__(self, item: Any) -> Any:
        if not hasattr(self.of_thread, "function"):
            self.of_thread.function = deepcopy(self.function)
        return self.of_thread.function(item)


def _call(name: str, item: Any) -> Any:
    plugin: Any = get_worker().plugins[name]
    return plugin(item)


def on_workers(
    client: Client, function: Callable[[Item], Any], items: Iterable[Item]
) -> Generator[tuple[Item, Any], None, None]:
    """Yield the result of a function for each item, as it is done; another worker repeats a call whose worker died.

    YIELDS (tuple): The item, and what it gives; None for one at which more workers have died than
        `distributed.scheduler.allowed-failures` says.
    RAISES (ConnectionError): If the scheduler has gone.
    """
    name = f"spacy-lpcfg-{uuid4()}"
    client.register_plugin(SentFunction(function), name=name)
    futures = {client.submit(partial(_call, name), item, pure=False): item for item in items}
    try:
        for future in as_completed(list(futures)):
            if future.status in ("cancelled", "lost"):
                raise ConnectionError("the scheduler of the cluster has gone: start it and this command again")
            error, item = future.exception(), futures.pop(future)
            if error is not None and not isinstance(error, KilledWorker):
                raise error
            yield item, None if error is not None else future.result()
    finally:
        if client.status == "running":
            client.unregister_worker_plugin(name)
