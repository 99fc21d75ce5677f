"""Trees to node tables in parallel: shards of the stream are mapped by joblib's backend, then joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from spacy_lpcfg.learning.skeletons import Skeletons, join, skeletons
from spacy_lpcfg.trees.tree import Tree

SHARD_SIZE = 5_000


def read_skeletons(trees: Iterable[Tree], *, lang: str = "en", markov: int = 0, n_jobs: int = 1) -> Skeletons:
    """The node table of a stream of trees; the same for any number of jobs.

    n_jobs (int): as of joblib, whose `parallel_config` chooses where they run.
    """
    from joblib import Parallel, delayed

    shards = Parallel(n_jobs=n_jobs)(
        delayed(skeletons)(shard, lang=lang, markov=markov) for shard in _shards(trees, SHARD_SIZE)
    )
    return join(shards)


def _shards(trees: Iterable[Tree], size: int) -> Iterator[list[Tree]]:
    stream = iter(trees)
    while shard := list(islice(stream, size)):
        yield shard
