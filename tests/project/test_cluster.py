"""Learning and parsing on a cluster: the same grammars and trees as here, whatever becomes of a worker."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import spacy
from commands import run, written
from joblib import parallel_config
from killing import first_writer_killed
from paths import ROOT

from spacy_lpcfg.bracketing import CCA, SpectralBracketer
from spacy_lpcfg.bracketing.sentences import chunks
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.learning import EM, Pivot, Spectral, SplitMerge, TreebankPCFG
from spacy_lpcfg.parallel import as_completed
from spacy_lpcfg.trees import TreeFiles, read_trees, write_trees

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask", reason="the extra `cluster` is not installed")
distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SAMPLE = ROOT / "assets" / "sample"
N_FILES = 3
LEARNERS = [
    TreebankPCFG(),
    Spectral(n_states=3),
    Pivot(n_states=3, n_iterations=1),
    SplitMerge(n_states=2, n_iterations=1),
]


class Killer(distributed.WorkerPlugin):
    """Kills the worker that is first to begin with its fourth task, when the three files have been read.

    flag (Path): A file that is there once this has happened.
    """

    def __init__(self, flag: Path) -> None:
        self.flag = flag
        self.n_calls = 0

    def transition(self, key: Any, start: str, finish: str, *args: Any, **settings: Any) -> None:
        self.n_calls += finish == "executing" and str(key).startswith("batch_of_")
        if self.n_calls > N_FILES and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def n_executed(dask_worker: Any) -> int:
    """Return the number of tasks that a worker has done."""
    return dask_worker.state.executed_count


def n_tasks_since(before: dict[str, int], client: Any) -> int:
    """Return the number of tasks done since workers, by their addresses, had done so many."""
    return sum(n - before.get(worker, 0) for worker, n in client.run(n_executed).items())


def local_cluster(**settings: Any) -> Any:
    """Start a cluster on this machine, whose scheduler takes any free port, also for the pages that it serves."""
    return distributed.LocalCluster(dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, **settings)


@contextmanager
def new_client() -> Iterator[Any]:
    """Start a client of a scheduler and two workers, processes on this machine."""
    cluster = local_cluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1")
    with cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture(scope="module")
def client():
    with new_client() as client:
        yield client


@pytest.fixture
def client_to_lose():
    """A client of its own cluster, for a test that kills a worker: on a busy machine none may come in its place."""
    with new_client() as client:
        yield client


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> TreeFiles:
    """The first sample trees in three files, of which one is compressed."""
    folder = tmp_path_factory.mktemp("shards")
    trees = read_trees(SAMPLE / "train.mrg")
    for name, n in (("a.mrg", 40), ("b.mrg.gz", 25), ("c.mrg", 35)):
        write_trees(folder / name, islice(trees, n))
    return TreeFiles.of(folder)


@pytest.fixture
def small_shards(monkeypatch):
    """Several shards of as few trees."""
    monkeypatch.setattr("spacy_lpcfg.learning.treebank.assembly.PART_SIZE", 30)


def arrays(value: Any, name: str = "") -> dict[str, Any]:
    """All that a model is made of, by where it stands in it."""
    if is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, dict):
        parts = value
    else:
        return {name: value}
    return {key: part for own in parts for key, part in arrays(parts[own], f"{name}.{own}").items()}


def assert_same(found: Any, expected: Any) -> None:
    found, expected = arrays(found), arrays(expected)
    assert set(found) == set(expected)
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-9, err_msg=name)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            assert found[name] == value, name


def learned_there(learner: Any, files: TreeFiles) -> Any:
    with parallel_config(backend="dask"):
        return learner.fit(files)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_cluster_learns_the_same_grammar(learner, files, client, small_shards):
    before = client.run(n_executed)
    assert_same(learned_there(learner, files), learner.fit(list(files)))
    assert n_tasks_since(before, client) >= N_FILES + (not isinstance(learner, TreebankPCFG))


def test_cluster_learns_the_same_brackets(files, client, monkeypatch, tmp_path):
    """By the library, of several parts of the text, and by the command."""
    before, learner = client.run(n_executed), SpectralBracketer.variant("paper")
    expected = learner.fit(partial(read_tagged, files.paths)).metric.distances
    command = ("learn", "bracketer", *files.paths, "--set", "variant=paper", "-o", tmp_path / "there")
    run(*command, "--scheduler", client.scheduler.address)
    assert n_tasks_since(before, client) >= 1  # of 200,000 tokens
    there = spacy.load(tmp_path / "there").get_pipe("spectral_bracketer").learned
    np.testing.assert_allclose(there.metric.distances, expected, rtol=1e-9)
    monkeypatch.setattr("spacy_lpcfg.bracketing.learner.chunks", partial(chunks, n_tokens=1_000))
    learner = SpectralBracketer.variant("paper", embedding=CCA(size=20))
    expected, before = learner.fit(partial(read_tagged, files.paths)), client.run(n_executed)
    with parallel_config(backend="dask"):
        found = learner.fit(partial(read_tagged, files.paths))
    assert n_tasks_since(before, client) >= len(list(chunks(read_tagged(files.paths), n_tokens=1_000))) > 1
    np.testing.assert_allclose(found.metric.distances, expected.metric.distances, rtol=1e-9)


def test_cluster_learns_the_same_grammar_though_a_worker_is_killed(files, client_to_lose, small_shards, tmp_path):
    learner = EM(n_states=3, n_iterations=6)
    expected = learner.fit(list(files))
    flag = tmp_path / "killed"
    client_to_lose.register_plugin(Killer(flag), name=str(flag))
    assert_same(learned_there(learner, files), expected)
    assert flag.exists()


def test_cluster_is_used_by_the_command(files, client, tmp_path):
    folder, before = Path(files.paths[0]).parent, client.run(n_executed)
    command = ("learn", "parser", folder, "--method", "pcfg", "-o")
    run(*command, tmp_path / "there", "--scheduler", client.scheduler.address)
    assert n_tasks_since(before, client) >= N_FILES
    run(*command, tmp_path / "here")
    here, there = (spacy.load(tmp_path / name).get_pipe("lpcfg_parser").learned for name in ("here", "there"))
    assert there.to_bytes() == here.to_bytes()


def test_cluster_that_does_not_answer_is_an_error(files, tmp_path):
    with socket.socket() as taken, dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        taken.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        command = ("learn", "parser", *files.paths, "--scheduler", address, "-o", tmp_path / "model")
        assert address in run(*command, code=1).stderr


# Parsing -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Files of text, of which one is compressed."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = [f"{' '.join(tree.words)}\n" for tree in islice(read_trees(SAMPLE / "train.mrg"), 600)]
    for number in range(6):
        text = "".join(lines[100 * number : 100 * number + 100]).encode()
        name, data = (f"{number}.txt.gz", gzip.compress(text)) if number == 3 else (f"{number}.txt", text)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def parsed_here(corpus, pcfg_model, tmp_path_factory) -> dict[str, str]:
    """The files of the corpus as one process parses them."""
    folder = tmp_path_factory.mktemp("here")
    run("parse", pcfg_model, corpus, "--format", "jsonl", "-o", folder)
    return written(folder)


def test_cluster_parses_the_same(corpus, parsed_here, pcfg_model, client, tmp_path):
    before = client.run(n_executed)
    there = ("--scheduler", client.scheduler.address)
    command = ("parse", pcfg_model, corpus, "--format", "jsonl", *there, "-o", tmp_path)
    run(*command)
    assert written(tmp_path) == parsed_here
    assert n_tasks_since(before, client) == len(parsed_here) == 6
    assert "6 of 6 files are there already" in run(*command).stderr


def test_cluster_parses_the_same_though_a_worker_is_killed(corpus, parsed_here, pcfg_model, client_to_lose, tmp_path):
    there = ("--scheduler", client_to_lose.scheduler.address)
    with first_writer_killed(tmp_path) as killed:
        run("parse", pcfg_model, corpus, "--format", "jsonl", *there, "-o", tmp_path)
    assert killed.is_set()
    assert written(tmp_path) == parsed_here


def test_cluster_of_threads_parses_the_same(corpus, parsed_here, pcfg_model, tmp_path):
    """Each thread has a pipeline of its own."""
    with local_cluster(n_workers=1, threads_per_worker=3, processes=False) as cluster:
        address = cluster.scheduler_address
        run("parse", pcfg_model, corpus, "--format", "jsonl", "--scheduler", address, "-o", tmp_path)
    assert written(tmp_path) == parsed_here


def test_cluster_parses_all_files_but_broken_ones(pcfg_model, client, tmp_path):
    for name, text in (("a.txt", b"It rained.\n"), ("b.txt", b"\xff\n"), ("c.txt", b"It left.\n")):
        (tmp_path / name).write_bytes(text)
    there = ("--scheduler", client.scheduler.address)
    error = run("parse", pcfg_model, tmp_path, *there, "-o", tmp_path / "out", code=1).stderr
    assert f"{tmp_path / 'b.txt'}:1: Expected UTF-8" in error
    assert "1 of 3 files could not be parsed" in error
    assert written(tmp_path / "out").keys() == {"a.mrg", "c.mrg"}


class Tenfold:
    """A function that leaves a file wherever it arrives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{uuid4()}").touch()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tenfold:
        return self

    def __call__(self, item: int) -> int:
        return 10 * item


def test_cluster_is_sent_a_model_a_few_times_and_not_with_each_call(client, tmp_path):
    tenfold = Tenfold(tmp_path)
    with parallel_config(backend="dask", scatter=[tenfold]):
        assert dict(as_completed(tenfold, range(40), None)) == {i: 10 * i for i in range(40)}
    arrived = Counter(path.name.split("-")[0] for path in tmp_path.iterdir())
    del arrived[str(os.getpid())]
    assert 1 <= max(arrived.values()) <= 2  # in each worker that had a call


def first_at_once(may_end: Path, item: int) -> None:
    """Return at once from the first call, and from the others when a file is there, or after a minute."""
    end = time.monotonic() + 60
    while item and not may_end.exists() and time.monotonic() < end:
        time.sleep(0.01)


def cancelled_midway(address: str, call: Callable[[int], None]) -> None:
    with on_cluster(address, [call]):
        results, client = as_completed(call, range(40), None), distributed.default_client()
        next(results)
        client.cancel([distributed.Future(key, client) for key in list(client.futures)])
        list(results)


def test_cluster_whose_scheduler_goes_is_an_error(client, tmp_path):
    """Its calls are cancelled then, as they are here."""
    with pytest.raises(ConnectionError, match="start it and this command again"):
        cancelled_midway(client.scheduler.address, partial(first_at_once, tmp_path / "may_end"))
    (tmp_path / "may_end").touch()
