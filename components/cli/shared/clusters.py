"""The option `--scheduler` of commands, which learn or parse on a Dask cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from spacy_lpcfg.extras import extra


@contextmanager
def on_cluster(address: str | None, sent: Sequence[Any] = ()) -> Iterator[None]:
    """Run joblib's calls in the block on a Dask cluster; do nothing without an address.

    address (str or None): The address of the Dask scheduler.
    sent (sequence): Large arguments of the calls, which are sent to the workers once instead of with each call.
    RAISES (ImportError): If Dask is not installed.
    RAISES (OSError): If no scheduler answers at the address, or the connection to it is lost.
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
