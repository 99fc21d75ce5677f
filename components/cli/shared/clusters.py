"""`--scheduler` of commands: a Dask cluster, on which sums over a treebank are made, and files are parsed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spacy_lpcfg.extras import extra


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a scheduler; yield the client.

    RAISES (ImportError): Where Dask is not installed. (OSError): If nothing answers there.
    """
    with extra("distributed", "--scheduler", name="cluster").Client(address) as client:
        yield client


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Run joblib's calls in the block on a Dask cluster if a scheduler is given; errors as in `connected`."""
    if address is None:
        yield
        return
    from joblib import parallel_config

    with connected(address), parallel_config(backend="dask"):
        yield
