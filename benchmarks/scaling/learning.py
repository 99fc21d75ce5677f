"""Learning time and memory against the number of trees: a curve of `scaling.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import measure, peers
from benchmarks.accuracy.growth import Plot, PowerLaw, Result, Series
from benchmarks.speed.drawn_trees import DrawnTrees
from spacy_lpcfg.bracketing import SpectralBracketer
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import EM, Pivot, Spectral, SplitMerge, TreebankPCFG
from spacy_lpcfg.trees import Tree, read_trees, write_trees

LEARNERS: dict[str, Any] = {
    "pcfg": TreebankPCFG(),
    "spectral": Spectral(),
    "pivot": Pivot(),
    "em": EM(),
    "split-merge": SplitMerge(),
    "isbn": ISBNLearner(),
    "bracketer": SpectralBracketer(),
}
"""With the settings that they have by default; all see each tree a number of times that does not depend on how many
there are, so that theory has them linear in time, and a peer that learns by EM as well."""
CONSTANT_MEMORY = {"bracketer"}  # it reads the text anew and keeps a sample; all others keep arrays of all trees
PEER_SIZES = (500, 1_000, 2_000)
N_FITTED = 3  # of the largest sizes, for the growth: the smaller ones are of what every run costs

Cost = Callable[[int], measure.Measured]


@dataclass(frozen=True)
class Limits:
    """Limits on the predicted cost of a run; costs above them are extrapolated from smaller runs.

    seconds (float): CPU seconds.
    mb (float): MB of memory at its peak.
    idle_mb (float): MB that a process has before it learns.
    """

    seconds: float
    mb: float
    idle_mb: float


def learning_curves(
    trees: DrawnTrees, names: Sequence[str], sizes: Sequence[int], seconds: float, mb: float, peer: str | None
) -> Result:
    """The curves of learners by their names, and that of another parser's learning command."""
    limits = Limits(seconds, mb, measure.in_child(int).peak_mb)
    rows = []
    for name in names:
        rows += curve(name, partial(own_cost, trees, LEARNERS[name]), sizes, limits)
    if peer:
        rows += curve("peer", partial(peer_cost, trees, peer), PEER_SIZES, limits)
    return Result(
        {
            f"Learning from trees drawn from the PCFG of {trees.treebank}": rows,
            f"Growth of learning; {limits.idle_mb:.0f} MB before any": growth_rows(rows, limits),
        },
        {
            "learning-time": Plot("trees", "CPU seconds", series(rows, "CPU s", 0.0, ())),
            "learning-memory": Plot(
                "trees", f"peak MB, less {limits.idle_mb:.0f}", series(rows, "peak MB", limits.idle_mb, CONSTANT_MEMORY)
            ),
        },
    )


def own_cost(trees: DrawnTrees, learner: Any, n_trees: int) -> measure.Measured:
    """Return what a learner's fit to so many drawn trees costs, reading included."""
    return measure.in_child(learn, learner, trees.shards(n_trees), n_trees)


def learn(learner: Any, paths: list[Path], n_trees: int) -> None:
    """Learn from the first trees of files, which are read as a stream."""
    if isinstance(learner, SpectralBracketer):
        learner.fit(lambda: islice(read_tagged(paths), n_trees))
    else:
        learner.fit(islice(read_trees(paths), n_trees))


def peer_cost(trees: DrawnTrees, command: str, n_trees: int) -> measure.Measured:
    """Return what a command's learning from so many drawn trees costs, all of its processes together."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trees")
        drawn = islice(read_trees(trees.shards(n_trees)), n_trees)
        write_trees(path, (Tree("ROOT", (tree,)) for tree in drawn))
        seconds, mb = measure.in_child(run_peer, command, path, Path(folder, "output")).result
        return measure.Measured(None, seconds, mb)


def run_peer(command: str, trees: Path, output: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of a peer's learning; in a process that has no other children."""
    return peers.run(command, trees=trees, output=output), peers.children_mb()


def curve(name: str, cost: Cost, sizes: Sequence[int], limits: Limits) -> list[measure.Row]:
    """Measured rows up to the first size that is predicted to cost too much, and extrapolated ones from there."""
    rows: list[measure.Row] = []
    for n_trees in sizes:
        if not all(row["source"] == "measured" for row in rows) or _is_dear(rows, n_trees, limits):
            rows.append(extrapolated(rows, n_trees, limits))
            continue
        found = cost(n_trees)
        measure.progress(f"{name}: {n_trees} trees in {found.seconds:.1f} CPU s, {found.peak_mb:.0f} MB")
        rows.append(_row(name, n_trees, found.seconds, found.peak_mb, "measured"))
    return rows


def _is_dear(rows: list[measure.Row], n_trees: int, limits: Limits) -> bool:
    if not rows:
        return False
    expected = extrapolated(rows, n_trees, limits)
    return expected["CPU s"] > limits.seconds or expected["peak MB"] > limits.mb


def extrapolated(rows: list[measure.Row], n_trees: int, limits: Limits) -> measure.Row:
    """Extrapolate to another size by straight lines through the two largest measured ones, as both grow in theory.

    A power law would carry on what comes to an end, such as the words that the classifier learns from.
    """
    measured = [row for row in rows if row["source"] == "measured"]
    idle = {"trees": 0, "CPU s": 0.0, "peak MB": limits.idle_mb}
    one, other = [idle, *measured][-2:]
    beyond = (n_trees - other["trees"]) / (other["trees"] - one["trees"])
    seconds, mb = (other[key] + beyond * max(other[key] - one[key], 0.0) for key in ("CPU s", "peak MB"))
    return _row(other["learner"], n_trees, seconds, mb, "extrapolated")


def laws(rows: list[measure.Row], limits: Limits) -> tuple[PowerLaw, PowerLaw]:
    """Power laws of CPU seconds, and of MB beyond those of a process that learns nothing."""
    largest = [row for row in rows if row["source"] == "measured"][-N_FITTED:]
    trees = [row["trees"] for row in largest]
    beyond_idle = [max(row["peak MB"] - limits.idle_mb, 1.0) for row in largest]
    return PowerLaw.fit(trees, [row["CPU s"] for row in largest]), PowerLaw.fit(trees, beyond_idle)


def _row(name: str, n_trees: int, seconds: float, mb: float, source: str) -> measure.Row:
    return {
        "learner": name,
        "trees": n_trees,
        "CPU s": seconds,
        "ms / tree": 1e3 * seconds / n_trees,
        "peak MB": mb,
        "source": source,
    }


def growth_rows(rows: list[measure.Row], limits: Limits) -> list[measure.Row]:
    """Exponents of the largest measured sizes beside those of theory."""
    growth = []
    for name, of_learner in by_learner(rows).items():
        seconds, mb = laws(of_learner, limits)
        growth.append(
            {
                "learner": name,
                "measured up to": max(row["trees"] for row in of_learner if row["source"] == "measured"),
                "CPU s ~ trees ^": seconds.exponent,
                "theory": 1,
                "MB ~ trees ^": mb.exponent,
                "theory of MB": int(name not in CONSTANT_MEMORY),
            }
        )
    return growth


def by_learner(rows: list[measure.Row]) -> dict[str, list[measure.Row]]:
    return {name: [row for row in rows if row["learner"] == name] for name in dict.fromkeys(r["learner"] for r in rows)}


def series(rows: list[measure.Row], quantity: str, less: float, constant: Collection[str]) -> dict[str, Series]:
    """The curves of a quantity, less a part of it that is always there."""
    curves = {}
    for name, of_learner in by_learner(rows).items():
        points: dict[str, list[tuple[float, float]]] = {"measured": [], "extrapolated": []}
        for row in of_learner:
            points[row["source"]].append((row["trees"], max(row[quantity] - less, 1e-3)))
        theory = 0.0 if name in constant else 1.0
        curves[name] = Series(points["measured"], points["extrapolated"], theory)
    return curves
