"""Parallel function calls by joblib, in this process, in other processes, or on a cluster.

`joblib.parallel_config(backend=...)` chooses where calls run. Results come in the order of the calls, so that sums over
them do not depend on the number of workers, or on the failure of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from spacy_lpcfg.batches import in_batches

Result = TypeVar("Result")
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
