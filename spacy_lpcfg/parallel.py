"""Parallel function calls by joblib, in this process, in other processes, or on a cluster.

`joblib.parallel_config(backend=...)` chooses where calls run. Results come in the order of the calls, so that sums over
them do not depend on the number of workers, or on the failure of one.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from threading import Thread
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

    function (callable): A function of a module or a class, so that it can be pickled; repeated if its worker dies.
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
        yield from parallel(tasks)


def _call(call: tuple[Callable[..., Result], tuple[Any, ...]]) -> Result:
    function, arguments = call
    return function(*arguments)


# Processes of this machine, which are sent a large function once -----------------------------------


def in_processes(function: Callable[[Item], Result], items: Iterable[Item], n_process: int) -> Iterator[Result]:
    """Call a function for each item in worker processes, and yield the results in the order of the items.

    function (callable): Pickled once for each process.
    items (iterable): Read lazily, some items for each process ahead.
    RAISES (concurrent.futures.process.BrokenProcessPool): If a process dies. Other errors are those of the function.
    """
    yield from _processes(n_process, function, "generator")(_tasks(_call_function, items))


def as_completed(
    function: Callable[[Item], Result], items: Iterable[Item], n_process: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Call a function in worker processes, and yield each item with its result as soon as the result is there.

    If a process dies, all calls that were running are repeated one by one, so that it is known which of them it died
    in.

    function (callable): Pickled once for each process; it must not raise.
    items (iterable): Hashable and distinct.
    YIELDS (tuple): The item and its result; None for an item in whose calls `MOST_DEATHS` processes have died.
    """
    from concurrent.futures.process import BrokenProcessPool

    waiting = iter(items)
    is_finished = False
    while not is_finished:
        running: dict[Item, None] = {}
        results = _processes(n_process, function, "generator_unordered")(_tasks(_item_and_result, waiting, running))
        try:
            for item, result in results:
                del running[item]
                yield item, result
            is_finished = True
        except BrokenProcessPool:
            yield from ((item, _alone(function, item)) for item in running)


def _alone(function: Callable[[Item], Result], item: Item) -> Result | None:
    """Return the result of a call in a process that has no other one to do; None if each process dies of it."""
    from concurrent.futures.process import BrokenProcessPool

    for _ in range(MOST_DEATHS):
        with suppress(BrokenProcessPool):
            (result,) = _processes(2, function, "list")(_tasks(_call_function, [item]))  # 1 would call it in this one
            return result
    return None


def _processes(n_process: int, function: Callable[[Item], Result], return_as: str) -> Any:
    from joblib import Parallel

    return Parallel(n_process, "loky", return_as, batch_size=1, initializer=_begin, initargs=(function, os.getpid()))


def _tasks(
    call: Callable[[Item], Any], items: Iterable[Item], running: dict[Item, None] | None = None
) -> Iterator[Any]:
    """Yield a task of joblib for each item, which is added to `running`."""
    from joblib import delayed

    for item in items:
        if running is not None:
            running[item] = None
        yield delayed(call)(item)


def _begin(function: Callable[[Any], Any], parent: int) -> None:
    """Make a process a worker, which leaves Ctrl-C to the main process and ends with it."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    _function = function


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _call_function(item: Any) -> Any:
    return _function(item)


def _item_and_result(item: Item) -> tuple[Item, Any]:
    return item, _function(item)
