"""EM for mixtures of known components, whose likelihood is concave in the parameters that are estimated.

The functions estimate parameters of Cohen and Collins (2014):

- `rule_weights`: t(h1, h2, h3 | a -> b c) of equation (1) and section 6.2;
- `transition`: t(h' | h) of equation (3);
- `conditionals`: s(g | h) of the remark below theorem 2.

Probabilities of features are given as ratios r(f | h) / p(f) = p(h | f) / p(h): p(f) is the same for all states and
cancels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csr_array

from spacy_lpcfg.checks import COUNT


@dataclass(frozen=True)
class ConvexEM:
    """When to stop convex EM (EM whose likelihood is concave).

    max_iterations (int): The maximum number of iterations.
    tolerance (float): Stop when the log-likelihood per observation, in nats, grows by less than this; -inf never stops.
    RAISES (ValueError): If `max_iterations` is below 1, or the tolerance is nan.
    """

    max_iterations: int = 5
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        COUNT(max_iterations=self.max_iterations)
        if self.tolerance != self.tolerance:
            raise ValueError(f"Expected a tolerance that is a number, got {self.tolerance}.")

    def maximize(self, step: Callable[[np.ndarray], tuple[np.ndarray, float]], start: np.ndarray) -> np.ndarray:
        """Iterate EM steps until the stopping rule applies, and return the last parameters.

        step (callable): Maps parameters to (updated parameters, objective per observation at the old parameters).
        start (array): The initial parameters.
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
    features: np.ndarray,
    ratios: Sequence[np.ndarray],
    start: np.ndarray,
    *,
    prior: float,
    settings: ConvexEM,
) -> np.ndarray:
    """Return the t(h1, h2, h3 | a -> b c) of one rule that maximises equation (1), a sum over observations (g, f2, f3).

    g is an outside feature of the parent, f2 and f3 are inside features of the left and the right child.

    With several features for each tree, every choice of one g, f2 and f3 is an observation (section 6.2). Observations
    are grouped by the feature of the side with the fewest distinct features, so that each group takes two small matrix
    products.

    counts (float64, (n,)): Occurrences of each observation.
    features (int64, (n, 3)): g, f2 and f3 of each observation, as rows of `ratios`.
    ratios (three of float64, (F_i, m_i)): For every feature s(g | h1, a) / p(g | a), r(f2 | h2, b) / p(f2 | b) and
        r(f3 | h3, c) / p(f3 | c).
    start (float64, (m_a, m_b, m_c)): Initial parameters, which sum to 1; zeros stay zero.
    prior (float): Number of pseudo-observations distributed as `start`; the objective stays concave.
    settings (ConvexEM): The stopping rule.
    RETURNS (float64, (m_a, m_b, m_c)): The parameters t, which sum to 1.
    """
    axes = sorted(range(3), key=lambda side: len(np.unique(features[:, side])))
    order = np.argsort(features[:, axes[0]], kind="stable")
    counts, (shared, *others) = counts[order], features[order][:, axes].T
    of_groups, begins = np.unique(shared, return_index=True)
    groups = [slice(begin, end) for begin, end in pairwise([*begins, len(counts)])]
    u = ratios[axes[0]][of_groups]
    y, z = (ratios[side][column] for side, column in zip(axes[1:], others, strict=True))
    first = start.transpose(axes)
    n, pseudo = counts.sum(), prior * first.reshape(len(first), -1)
    products = np.empty_like(z)

    def step(t: np.ndarray) -> tuple[np.ndarray, float]:
        of_group = (u @ t).reshape(len(groups), y.shape[1], z.shape[1])
        for weights, rows in zip(of_group, groups, strict=True):
            np.matmul(y[rows], weights, out=products[rows])
        likelihood = np.einsum("nj,nj->n", products, z)
        np.multiply(z, (counts / likelihood)[:, None], out=products)
        for weights, rows in zip(of_group, groups, strict=True):
            np.matmul(y[rows].T, products[rows], out=weights)
        credit = u.T @ of_group.reshape(len(groups), -1)
        objective = counts @ np.log(likelihood) + np.sum(pseudo * np.log(t, out=np.zeros_like(t), where=t > 0))
        return (t * credit + pseudo) / (n + prior), objective / n

    maximized = settings.maximize(step, first.reshape(len(first), -1)).reshape(first.shape)
    return maximized.transpose(np.argsort(axes))


def transition(counts: csr_array, inside: np.ndarray, outside: np.ndarray, settings: ConvexEM) -> np.ndarray:
    """Return the t(h' | h) that maximises equation (3) of Cohen and Collins (2014), with convex EM.

    The equation is the sum over f, g of Q[f, g] log(sum over h, h' of r(h | f) t(h' | h) s(g | h')).

    counts (csr_array, (F, G)): Q, up to a factor.
    inside (float64, (F, m)): r(h | f).
    outside (float64, (G, m')): s(g | h') / p(g).
    settings (ConvexEM): The stopping rule.
    RETURNS (float64, (m, m')): t(h' | h); rows sum to 1.
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
    """Estimate s(g | h), the distribution of features g in each latent state h, by convex EM.

    It maximises the objective below theorem 2 of Cohen and Collins (2014): the sum over f, g of
    Q[f, g] log(sum over h of r(h | f) s(g | h)). f and g are features of two sides, such as the inside and the
    outside pivot features of a node.

    counts (csr_array, (F, G)): Q, how often f and g occur together, up to a factor.
    inside (float64, (F, m)): r(h | f), the posterior of the states given f; held fixed.
    settings (ConvexEM): The stopping rule.
    RETURNS (float64, (G, m)): s(g | h); columns sum to 1.
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
