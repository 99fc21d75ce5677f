"""Read trees into one node table (`Skeletons`) in parallel, by files or by shards of a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.learning.limits import is_learnable, learnable, log_left_out
from spacy_lpcfg.learning.treebank.skeletons import AS_ENGLISH, Reading, Skeletons, join, skeletons
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.trees.errors import TreebankError
from spacy_lpcfg.trees.files import TreeFiles
from spacy_lpcfg.trees.reading import read_trees
from spacy_lpcfg.trees.tree import Tree

SHARD_SIZE = 5_000


def read_skeletons(
    trees: Iterable[Tree],
    reading: Reading = AS_ENGLISH,
    *,
    n_jobs: int | None = None,
) -> Skeletons:
    """Read the trees within `learning.limits` into one node table, the same for any number of jobs.

    trees (Iterable[Tree]): The trees. Several files of a `TreeFiles` are read by the workers; any other trees are read
        by this process, as a stream, and only converted by the workers.
    reading (Reading): Head rules, Markov order and function labels.
    n_jobs (int or None): Parallel jobs, as in joblib; None for the number of `joblib.parallel_config`, or 1.
    RAISES (TreebankError): If a file is malformed and `TreeFiles.on_error` is None.
    """
    if isinstance(trees, TreeFiles) and len(trees.paths) > 1:
        return join(list(_tables_of_files(trees, reading, n_jobs)))
    shards = ((shard, reading) for shard in in_batches(learnable(trees), SHARD_SIZE))
    return join(list(in_order(skeletons, shards, n_jobs=n_jobs)))


def _tables_of_files(files: TreeFiles, reading: Reading, n_jobs: int | None) -> Iterator[Skeletons]:
    form = {"dialect": files.dialect, "coarse_tags": files.coarse_tags}
    calls = ((path, files.on_error is not None, form, reading) for path in files.paths)
    tables, left_out = in_order(_read_file, calls, n_jobs=n_jobs), Counter[str]()
    for path, (table, n_trees, errors, dropped, too_large) in zip(files.paths, tables, strict=True):
        for error in errors:
            assert files.on_error is not None
            files.on_error(error)
        if files.on_dropped is not None:
            files.on_dropped(path, dropped)
        if files.on_read is not None:
            files.on_read(path, n_trees)
        left_out += too_large
        yield table
    log_left_out(left_out)


def _read_file(
    path: str, skips: bool, form: dict[str, Any], reading: Reading
) -> tuple[Skeletons, int, list[TreebankError], Counter[str], Counter[str]]:
    """Read a treebank file into a node table, with at most `SHARD_SIZE` trees in memory.

    skips (bool): Whether to skip broken trees instead of raising their errors.
    form (dict): Further keyword arguments of `read_trees`.
    RETURNS (tuple): The node table, the number of trees, the errors of skipped trees, the counts of elements that the
        dialect removes, and the counts of trees beyond each limit.
    """
    errors: list[TreebankError] = []
    dropped, left_out = Counter[str](), Counter[str]()
    trees = read_trees(path, on_error=errors.append if skips else None, dropped=dropped, **form)
    n_trees, tables = 0, []
    for shard in in_batches(trees, SHARD_SIZE):
        n_trees += len(shard)
        tables.append(skeletons((tree for tree in shard if is_learnable(tree, left_out)), reading))
    return join(tables), n_trees, errors, dropped, left_out
