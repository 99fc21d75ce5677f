"""`--scheduler` of commands: a Dask cluster, on which sums over a treebank are made, and files are parsed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from spacy_lpcfg.extras import extra


@contextmanager
def on_cluster(address: str | None, sent: Sequence[Any] = ()) -> Iterator[None]:
    """Run joblib's calls in the block on a Dask cluster if a scheduler is given.

    sent (sequence): Arguments of the calls that are sent to each worker, and not with each call.
    RAISES (ImportError): Where Dask is not installed. (OSError): If nothing answers there, or the scheduler goes.
    """
    if address is None:
        yield
        return
    from concurrent.futures import CancelledError

    from joblib import parallel_config

    client = extra("distributed", "--scheduler", "cluster").Client
    try:
        with client(address), parallel_config(backend="dask", scatter=list(sent)):
            yield
    except CancelledError as error:
        raise ConnectionError("the scheduler of the cluster has gone: start it and this command again") from error
