"""Sums over a treebank, made where joblib's backend says: in this process, in others, or on a cluster.

`joblib.parallel_config(backend=...)` chooses where calls run. What they give comes back in the order of the calls, so
that sums are always taken in one order, and neither the number of workers nor the death of one changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

Result = TypeVar("Result")
_AT_ONCE = 32  # calls of each worker at a time, where all have to come back before the next ones go


def in_order(
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    prefer: str | None = None,
) -> Iterator[Result]:
    """What a function gives for each of many arguments, in their order.

    function (callable): of a module, so that it can be sent; run again where the process that ran it has died.
    calls (iterable of tuple): arguments; few of them are taken ahead of what has come back.
    n_jobs (int or None): as in joblib; None for those of `joblib.parallel_config`, or 1.
    prefer (str or None): "threads" where no backend was chosen; None for processes.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    # In one tuple: Dask's backend would leave single arrays with one worker, and they would be lost with it.
    tasks = (delayed(_call)((function, arguments)) for arguments in calls)
    try:
        parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    except ValueError:  # Ray and Spark give lists only
        with Parallel(n_jobs=n_jobs, prefer=prefer) as parallel:
            while some := list(islice(tasks, _AT_ONCE * effective_n_jobs(n_jobs))):
                yield from parallel(some)
    else:
        yield from parallel(tasks)


def _call(call: tuple[Callable[..., Result], tuple[Any, ...]]) -> Result:
    function, arguments = call
    return function(*arguments)
