"""Parallel function calls with joblib, in this process, in other processes, or on a cluster.

`joblib.parallel_config(backend=...)` chooses where calls run. Results come in the order of the calls, so that sums over
them do not depend on the number of workers, or on the failure of one.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from copy import deepcopy
from threading import Thread, local
from typing import Any, TypeVar

from spacy_lpcfg.batches import in_batches

_function: Callable[[Any], Any]  # of a worker process

Item = TypeVar("Item")
Result = TypeVar("Result")

_WATCH_SECONDS = 0.5
MOST_DEATHS = 3  # of processes in the same call, which is then given up
_AT_ONCE = 32  # calls for each worker in a batch, for backends that only return lists


def in_order(
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    prefer: str | None = None,
) -> Iterator[Result]:
    """Call a function for each tuple of arguments, in parallel, and yield the results in order.

    function (callable): A function of a module or a class, so that it can be pickled. A cluster may repeat a call if
        the worker that runs it dies.
    calls (iterable of tuple): Arguments of each call, consumed lazily.
    n_jobs (int or None): Number of joblib workers; None for the number of `joblib.parallel_config`, or 1.
    prefer (str or None): "threads" to prefer threads if no backend was chosen; None for processes.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    # In one tuple: Dask's backend would leave single arrays with one worker, and they would be lost with it.
    tasks = (delayed(_call)((function, arguments)) for arguments in calls)
    try:
        parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    except ValueError:  # Ray and Spark only return lists
        with Parallel(n_jobs=n_jobs, prefer=prefer) as parallel:
            for batch in in_batches(tasks, _AT_ONCE * effective_n_jobs(n_jobs)):
                yield from parallel(batch)
    else:
        yield from _taken(parallel(tasks))


def _call(call: tuple[Callable[..., Result], tuple[Any, ...]]) -> Result:
    function, arguments = call
    return function(*arguments)


# Processes that are sent a large function once -----------------------------------------------------


def in_processes(function: Callable[[Item], Result], items: Iterable[Item], n_process: int) -> Iterator[Result]:
    """Call a function for each item in processes of this machine, and yield the results in the order of the items.

    function (callable): Pickled once for each process.
    items (iterable): Read lazily, a few items per process in advance.
    n_process (int): Number of processes.
    RAISES (concurrent.futures.process.BrokenProcessPool): If a process dies. Other errors come from the function.
    """
    workers = _Workers(function, n_process)
    yield from (result for _, result in _taken(workers.run(items, "generator")))


def as_completed(
    function: Callable[[Item], Result], items: Iterable[Item], n_process: int | None
) -> Generator[tuple[Item, Result | None], None, None]:
    """Call a function in worker processes, and yield each item with its result as soon as the result is there.

    If a process dies, all calls that were running are repeated one by one, to find the call that kills it.

    function (callable): Pickled once for each process; it must not raise.
    items (iterable): Hashable and distinct items, the arguments of the calls.
    n_process (int or None): Number of processes of this machine; None for the workers of the Dask cluster that
        `joblib.parallel_config(backend="dask", scatter=[function])` has chosen.
    YIELDS (tuple): The item and its result; None for an item whose call has killed `MOST_DEATHS` processes.
    """
    workers, waiting = _Workers(function, n_process), iter(items)
    is_finished = False
    while not is_finished:
        running: dict[Item, None] = {}
        try:
            for item, result in _taken(workers.run(_noted(waiting, running), "generator_unordered")):
                del running[item]
                yield item, result
            is_finished = True
        except workers.death:
            yield from ((item, workers.alone(item)) for item in running)


def _taken(results: Generator[Result, None, None]) -> Iterator[Result]:
    """Yield results; suppress the warning of joblib if not all are taken, as when Ctrl-C is pressed."""
    try:
        for result in results:  # noqa: UP028 (`yield from` would close them first)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _noted(items: Iterable[Item], running: dict[Item, None]) -> Iterator[Item]:
    for item in items:
        running[item] = None
        yield item


class _Workers:
    """Processes that hold a function; `function` and `n_process` are as in `as_completed`.

    death (type): The error that joblib raises when a process dies, or when several of a cluster die at the same call.
    """

    def __init__(self, function: Callable[[Any], Any], n_process: int | None) -> None:
        self.function, self.n_process = function, n_process
        self.death: type[Exception] = _killed_worker() if n_process is None else BrokenProcessPool

    def run(self, items: Iterable[Any], return_as: str) -> Any:
        """Call the function for all items; return pairs of an item and its result, in joblib's form `return_as`."""
        from joblib import Parallel, delayed

        if self.n_process is None:  # the backend replaces an argument that it has sent to the workers
            parallel = Parallel(return_as=return_as, batch_size=1)
            return parallel(delayed(_call_there)(self.function, item) for item in items)
        start: dict[str, Any] = {"initializer": _begin, "initargs": (self.function, os.getpid())}
        return Parallel(self.n_process, "loky", return_as, batch_size=1, **start)(
            delayed(_call_here)(item) for item in items
        )

    def alone(self, item: Any) -> Any:
        """Return the result of a call while no other call runs; None if it kills each process that tries it."""
        n_deaths = MOST_DEATHS if self.n_process else 1  # Dask repeats calls itself
        for _ in range(n_deaths):
            with suppress(self.death):
                ((_, result),) = self.run([item], "list")
                return result
        return None


def _killed_worker() -> type[Exception]:
    from distributed import KilledWorker

    error: type[Exception] = KilledWorker
    return error


def _begin(function: Callable[[Any], Any], parent: int) -> None:
    """Initialize a worker process: keep the function, ignore Ctrl-C, and exit when the process `parent` ends."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    _function = function


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _call_here(item: Item) -> tuple[Item, Any]:
    return item, _function(item)


def _call_there(function: Callable[[Item], Result], item: Item) -> tuple[Item, Result]:
    """Call this thread's own copy of a function, since a pipeline can read only one file at a time."""
    if getattr(_of_thread, "original", None) is not function:
        _of_thread.original, _of_thread.copy = function, deepcopy(function)
    return item, _of_thread.copy(item)


_of_thread: Any = local()
