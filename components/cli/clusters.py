"""`--scheduler` of commands that learn: a Dask cluster, on which sums over the treebank are made."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from spacy_lpcfg.extras import extra

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Of a Dask cluster to learn on, such as tcp://127.0.0.1:8786; its machines have trees at the same paths.",
    ),
]


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Within, joblib's calls run on the cluster of a scheduler, if there is one.

    RAISES (ImportError): Where Dask is not installed. (OSError): If nothing answers there.
    """
    if address is None:
        yield
        return
    client = extra("distributed", "--scheduler", name="cluster").Client
    from joblib import parallel_config

    with client(address), parallel_config(backend="dask"):
        yield
