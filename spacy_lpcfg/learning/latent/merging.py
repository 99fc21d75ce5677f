"""Merging of latent states with the least loss of likelihood (Petrov et al. 2006, section 2.2).

The likelihood that is lost when states i and j of a symbol are merged is estimated at every node as if they were merged
at this node alone. Let I and O be the node's inside and outside vectors, scaled to I . O = 1, and p_i + p_j = 1 the
shares of the two states' counts. The tree's probability is multiplied by

    1 - I_i O_i - I_j O_j + (p_i I_i + p_j I_j) (O_i + O_j)  =  1 - (I_i - I_j) (p_j O_i - p_i O_j).

The loss is the sum of the negative logarithms of these factors; it is exact where no tree has the symbol twice. The
merged state has the vectors p_i I_i + p_j I_j and O_i + O_j.

Differs from the paper: any two states of a symbol may be merged, not only the two halves of a split state, and a merged
state may be merged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.learning.latent.state_flows import flow
from spacy_lpcfg.learning.latent.statistics import Expected, Split, StatePosteriors, StateSmoothing
from spacy_lpcfg.learning.moments.estimation import groups_of

BLOCK = 4_096  # nodes at once, so that the arrays fit a cache
_MIN_FACTOR = 1e-6  # of a tree's probability; against rounding errors


class Merge(NamedTuple):
    """One merge of two states of a symbol, in a sequence of merges.

    loss (float): Log-likelihood, in nats, that this merge loses after the merges before it.
    into, gone (int): The two states; `gone` is merged into `into`.
    """

    loss: float
    into: int
    gone: int


def greedy_merges(inside: np.ndarray, outside: np.ndarray, counts: np.ndarray) -> list[Merge]:
    """Merge all m states of a symbol into one, each time the two states with the smallest loss.

    inside, outside (float32, (n, m)): Inside and outside vectors of the symbol's n nodes, with inner product 1 for
        each.
    counts (float64, (m,)): Expected counts of the states.
    RETURNS (list of Merge, (m - 1,)): The merges in order; [] for one state.
    """
    inside, outside, counts = inside.copy(), outside.copy(), np.maximum(counts, np.finfo(np.float32).tiny)
    m, steps = len(counts), []
    losses = np.full((m, m), np.inf)
    for i in range(m - 1):
        losses[i, i + 1 :] = merge_losses(inside, outside, counts, i, np.arange(i + 1, m))
    remaining = np.arange(m)
    for _ in range(m - 1):
        i, j = divmod(int(losses.argmin()), m)
        (loss,) = merge_losses(inside, outside, counts, i, np.array([j]))  # other merges may have changed it a little
        steps.append(Merge(float(loss), i, j))
        _merge(inside, outside, counts, i, j)
        remaining = remaining[remaining != j]
        others = remaining[remaining != i]
        losses[[i, j]] = losses[:, [i, j]] = np.inf
        losses[np.minimum(i, others), np.maximum(i, others)] = merge_losses(inside, outside, counts, i, others)
    return steps


def merge_losses(
    inside: np.ndarray, outside: np.ndarray, counts: np.ndarray, state: int, others: np.ndarray
) -> np.ndarray:
    """Return the loss of log-likelihood, in nats, if `state` is merged with each of the states `others`, float64 (k,).

    inside, outside (float32, (n, m)), counts (float64, (m,)): As for `greedy_merges`.
    state (int): A state of the symbol.
    others (int, (k,)): Other states of the symbol.
    """
    share = (counts[others] / (counts[state] + counts[others])).astype(np.float32)  # p_j; p_i is the rest
    losses = np.zeros(len(others))
    for start in range(0, len(inside), BLOCK):
        i, o = inside[start : start + BLOCK], outside[start : start + BLOCK]
        lost = (i[:, [state]] - i[:, others]) * (share * o[:, [state]] - (1 - share) * o[:, others])
        losses -= np.log(np.maximum(1 - lost, _MIN_FACTOR)).sum(axis=0, dtype=np.float64)
    return losses


def _merge(inside: np.ndarray, outside: np.ndarray, counts: np.ndarray, i: int, j: int) -> None:
    """Merge state j into state i, in place, and rescale the outside vectors so that inner products are 1 again."""
    share = counts[j] / (counts[i] + counts[j])
    lost = (inside[:, i] - inside[:, j]) * (share * outside[:, i] - (1 - share) * outside[:, j])
    inside[:, i] += share * (inside[:, j] - inside[:, i])
    outside[:, i] += outside[:, j]
    outside /= np.maximum(1 - lost, _MIN_FACTOR)[:, None]
    counts[i] += counts[j]


def merge_states(
    split: Split, expected: Expected, smoothing: StateSmoothing, n_merges: int, n_jobs: int | None = None
) -> tuple[Split, Expected]:
    """Merge the states of a treebank's symbols with the smallest losses of log-likelihood.

    split (Split): The treebank and its states before the merges.
    expected (Expected): Counts whose smoothed relative frequencies are the parameters before the merges.
    smoothing (StateSmoothing): Smoothing of these parameters.
    n_merges (int): Number of merges over all symbols; if fewer are possible, all of them are done.
    n_jobs (int or None): Parallel jobs of the E step, see `Split.expect`.
    RETURNS (Split, Expected): The treebank with the states after the merges, and their expected counts.
    """
    posteriors = split.posteriors(split.maximize(expected, smoothing), n_jobs)
    expected_counts = split.sums(posteriors)
    return flow(split, expected_counts, _cheapest_merges(split, posteriors, expected_counts.symbols, n_merges))


def _cheapest_merges(split: Split, posteriors: StatePosteriors, counts: np.ndarray, n_merges: int) -> list[np.ndarray]:
    """Return the flow matrix of each symbol (`merge_flow`) for the `n_merges` merges with the smallest losses.

    posteriors (StatePosteriors): Inside and outside vectors of all nodes.
    counts (float64, (n_symbols, m)): Expected counts of the states.
    """
    nodes = split.treebank.nodes
    of_symbols = [
        greedy_merges(posteriors.inside[group, :m], posteriors.outside[group, :m], counts[a, :m])
        for a, (group, m) in enumerate(zip(groups_of(nodes.symbol, len(split.n_states)), split.n_states, strict=True))
    ]
    return [
        merge_flow(m, symbol_merges)
        for m, symbol_merges in zip(split.n_states, _cheapest(of_symbols, n_merges), strict=True)
    ]


def _cheapest(of_symbols: Sequence[Sequence[Merge]], n_merges: int) -> list[Sequence[Merge]]:
    """Return the merges of each symbol that are among the `n_merges` with the smallest losses over all symbols.

    A merge is ranked by its own loss or, if larger, the loss of a merge of its symbol before it, which must be done
    first.
    """
    losses = [np.maximum.accumulate([merge.loss for merge in merges]) for merges in of_symbols]
    symbols = np.repeat(np.arange(len(losses)), [len(loss) for loss in losses])
    order = np.argsort(np.concatenate([np.empty(0), *losses]), kind="stable")
    n_chosen = np.bincount(symbols[order[:n_merges]], minlength=len(losses))
    return [merges[:n] for merges, n in zip(of_symbols, n_chosen, strict=True)]


def merge_flow(m: int, merges: Sequence[Merge]) -> np.ndarray:
    """Return the flow matrix (`state_flows.py`) of merges of m states, with a single 1 in each row.

    m (int): Number of states before the merges.
    merges (sequence of Merge): The merges, in order.
    RETURNS (float32, (m, m - len(merges))): The flow matrix.
    """
    state = np.arange(m)
    for _, into, gone in merges:
        state[state == gone] = into
    new = np.unique(state, return_inverse=True)[1].reshape(-1)
    return np.eye(m - len(merges), dtype=np.float32)[new]
