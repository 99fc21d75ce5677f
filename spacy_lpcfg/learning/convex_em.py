"""EM for mixtures whose components are known, so that the likelihood is concave in what is sought.

Steps 2 and 3 of Cohen and Collins (2014): t(h1, h2, h3 | a -> b c) of equation (1) and section 6.2, t(h' | h) of
equation (3), and s(g | h) of the remark below theorem 2. Probabilities of features are given as ratios
r(f | h) / p(f) = p(h | f) / p(h): p(f) is the same for all states and cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

_CHUNK = 4096  # observations at a time, to bound memory


@dataclass(frozen=True)
class ConvexEM:
    """When to stop.

    max_iterations (int): iterations at most.
    tolerance (float): stop when the log-likelihood of an observation grows by less.
    """

    max_iterations: int = 5
    tolerance: float = 1e-4

    def maximize(self, step: Callable[[np.ndarray], tuple[np.ndarray, float]], start: np.ndarray) -> np.ndarray:
        """Iterate a step from `start`.

        step (callable): from parameters to better ones and the objective of those it was given.
        """
        current, last = start, -np.inf
        for _ in range(self.max_iterations):
            current, objective = step(current)
            if objective - last < self.tolerance:
                break
            last = objective
        return current


def rule_weights(
    counts: np.ndarray,
    outside: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    start: np.ndarray,
    *,
    prior: float,
    settings: ConvexEM,
) -> np.ndarray:
    """t(h1, h2, h3 | a -> b c) that maximises equation (1), the sum over observations (g, f2, f3) of one rule.

    With several features the observations are those of every choice of one g, f2 and f3 (section 6.2).

    counts (float64, (n,)): how often each was seen.
    outside (float64, (n, m_a)): s(g | h1, a) / p(g | a) of each observation.
    left, right (float64, (n, m_b), (n, m_c)): r(f2 | h2, b) / p(f2 | b) and r(f3 | h3, c) / p(f3 | c).
    start (float64, (m_a, m_b, m_c)): sums to one; what is zero stays zero.
    prior (float): pseudo-observations distributed as `start`; the objective stays concave.
    RETURNS (float64, (m_a, m_b, m_c)): sums to one.
    """
    n, m_a = counts.sum(), len(start)
    pseudo = prior * start.reshape(m_a, -1)
    chunks = [slice(first, first + _CHUNK) for first in range(0, len(counts), _CHUNK)]

    def step(t: np.ndarray) -> tuple[np.ndarray, float]:
        credit, objective = np.zeros_like(t), np.sum(pseudo * np.log(t, out=np.zeros_like(t), where=t > 0))
        for rows in chunks:
            pairs = (left[rows, :, None] * right[rows, None, :]).reshape(len(counts[rows]), -1)
            likelihood = np.einsum("nj,nj->n", outside[rows] @ t, pairs)
            credit += (outside[rows] * (counts[rows] / likelihood)[:, None]).T @ pairs
            objective += counts[rows] @ np.log(likelihood)
        return (t * credit + pseudo) / (n + prior), objective / n

    return settings.maximize(step, start.reshape(m_a, -1)).reshape(start.shape)


def transition(counts: csr_array, inside: np.ndarray, outside: np.ndarray, settings: ConvexEM) -> np.ndarray:
    """t(h' | h) that maximises equation (3), sum over f, g of Q log sum over h, h' of r(h | f) t(h' | h) s(g | h').

    counts (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): r(h | f). outside (float64, (G, m')): s(g | h') / p(g).
    RETURNS (float64, (m, m')): rows sum to one.
    """
    q = coo_array(counts)
    before, after = inside[q.row], outside[q.col]
    n = q.data.sum()

    def step(t: np.ndarray) -> tuple[np.ndarray, float]:
        likelihood = np.einsum("nj,nj->n", before @ t, after)
        better = t * (before.T @ (after * (q.data / likelihood)[:, None]))
        return better / better.sum(axis=1, keepdims=True), float(q.data @ np.log(likelihood)) / n

    m, m2 = inside.shape[1], outside.shape[1]
    return settings.maximize(step, np.full((m, m2), 1 / m2))


def conditionals(counts: csr_array, inside: np.ndarray, settings: ConvexEM) -> np.ndarray:
    """s(g | h) that maximises the sum over f, g of Q log sum over h of r(h | f) s(g | h) (remark below theorem 2).

    counts (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): r(h | f).
    RETURNS (float64, (G, m)): columns sum to one.
    """
    q = coo_array(counts)
    before, n = inside[q.row], q.data.sum()

    def step(s: np.ndarray) -> tuple[np.ndarray, float]:
        likelihood = np.einsum("nj,nj->n", before, s[q.col])
        credit = csr_array((q.data / likelihood, (q.row, q.col)), shape=q.shape).T @ inside
        better = s * credit
        return better / better.sum(axis=0), float(q.data @ np.log(likelihood)) / n

    start = counts.T @ inside
    return settings.maximize(step, start / start.sum(axis=0))
