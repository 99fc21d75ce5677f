"""Moments of the projections, and their smoothing: step 2 of spectral learning (section 3.2 of Cohen et al. 2013).

Z is the projection of a node's outside tree, Y the projection of its inside tree (`projections.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.learning.treebank.skeletons import Skeletons


@dataclass(frozen=True, eq=False)
class RuleMoments:
    """Moments of one rule a -> b c over its n occurrences; i, j, k index the states of a, b and c.

    n (int): Number of occurrences.
    ijk (float64, (m_a, m_b, m_c)): E[Z_i Y_j Y_k].
    ij (float64, (m_a, m_b)), ik (float64, (m_a, m_c)): E[Z_i Y_j] and E[Z_i Y_k].
    jk (float64, (m_b, m_c)): E[Y_j Y_k].
    i (float64, (m_a,)), j (float64, (m_b,)), k (float64, (m_c,)): Means E[Z_i], E[Y_j] and E[Y_k].
    """

    n: int
    ijk: np.ndarray
    ij: np.ndarray
    ik: np.ndarray
    jk: np.ndarray
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray

    @classmethod
    def of(cls, z: np.ndarray, left: np.ndarray, right: np.ndarray) -> RuleMoments:
        """Compute the moments of a rule from the projections at its n occurrences.

        z (float64, (n, m_a)): Outside projections of the parent.
        left (float64, (n, m_b)), right (float64, (n, m_c)): Inside projections of the children.
        """
        n = len(z)
        pairs = (left[:, :, None] * right[:, None, :]).reshape(n, -1)
        return cls(
            n=n,
            ijk=(z.T @ pairs / n).reshape(z.shape[1], left.shape[1], right.shape[1]),
            ij=z.T @ left / n,
            ik=z.T @ right / n,
            jk=left.T @ right / n,
            i=z.mean(axis=0),
            j=left.mean(axis=0),
            k=right.mean(axis=0),
        )

    def pooled(self, other: RuleMoments) -> RuleMoments:
        """Return the moments over the occurrences of both `self` and `other`."""
        n = self.n + other.n
        means = (
            (self.n * getattr(self, name) + other.n * getattr(other, name)) / n
            for name in ("ijk", "ij", "ik", "jk", "i", "j", "k")
        )
        return RuleMoments(n, *means)

    def smoothed(self, outside_mean: np.ndarray, left_mean: np.ndarray, right_mean: np.ndarray, c: float) -> np.ndarray:
        """Return the smoothed third moment, float64 (m_a, m_b, m_c): `ijk`, backed off to products of lower moments.

        It is lambda E1 + (1 - lambda) (lambda E2 + (1 - lambda) (lambda E3 + (1 - lambda) E4)), where lambda is
        sqrt(n) / (C + sqrt(n)), and
        - E1 is `ijk`;
        - E2 is the mean of the three products of a second moment and a mean of the rule;
        - E3 is the product of the rule's three means;
        - E4 is the product of the symbols' three means.

        outside_mean (float64, (m_a,)): H^a, the mean of Z over all nodes of a.
        left_mean (float64, (m_b,)), right_mean (float64, (m_c,)): F^b and F^c, the means of Y over nodes of b and c.
        c (float): The constant C; 0 for no smoothing.
        """
        lam = np.sqrt(self.n) / (c + np.sqrt(self.n))
        e2 = (
            self.ij[:, :, None] * self.k + self.ik[:, None, :] * self.j[:, None] + self.i[:, None, None] * self.jk
        ) / 3
        e3 = _outer(self.i, self.j, self.k)
        e4 = _outer(outside_mean, left_mean, right_mean)
        return lam * self.ijk + (1 - lam) * (lam * e2 + (1 - lam) * (lam * e3 + (1 - lam) * e4))


def _outer(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    return i[:, None, None] * j[:, None] * k


@dataclass(frozen=True, eq=False)
class ProjectionSums:
    """Sums of the projections Y and Z over nodes.

    inside (float64, (n_symbols, m)): Sums of Y by symbol.
    outside (float64, (n_symbols, m)): Sums of Z by symbol.
    roots (float64, (n_symbols, m)): Sums of Y over roots, by symbol.
    words (float64, (n_pairs, m)): Sums of Z over leaves, by emission, weighted as in `EmissionEvents.all`.
    rules (dict[int, RuleMoments]): Moments of each rule that occurs, by the rule's id.
    """

    inside: np.ndarray
    outside: np.ndarray
    roots: np.ndarray
    words: np.ndarray
    rules: dict[int, RuleMoments]

    def __add__(self, other: ProjectionSums) -> ProjectionSums:
        rules = dict(self.rules)
        for rule, moments in other.rules.items():
            rules[rule] = rules[rule].pooled(moments) if rule in rules else moments
        return ProjectionSums(
            inside=self.inside + other.inside,
            outside=self.outside + other.outside,
            roots=self.roots + other.roots,
            words=self.words + other.words,
            rules=rules,
        )


def rule_moments(
    nodes: Skeletons, rule: np.ndarray, y: np.ndarray, z: np.ndarray, n_states: np.ndarray
) -> dict[int, RuleMoments]:
    """Compute the moments of each rule that occurs, as a dict by the rule's id.

    nodes (Skeletons): The nodes of trees.
    rule (int, (n_nodes,)): The rule of each inner node; -1 for leaves.
    y, z (float64, (n_nodes, m)): Inside projections Y and outside projections Z.
    n_states (int32, (n_symbols,)): Number of states of each symbol.
    """
    order = nodes.inner[np.argsort(rule[nodes.inner], kind="stable")]
    rules, starts = np.unique(rule[order], return_index=True)
    moments = {}
    for number, occurrences in zip(rules.tolist(), np.split(order, starts[1:]), strict=False):
        left, right = nodes.left[occurrences], nodes.right[occurrences]
        a, b, c = (n_states[nodes.symbol[side[0]]] for side in (occurrences, left, right))
        moments[number] = RuleMoments.of(z[occurrences, :a], y[left, :b], y[right, :c])
    return moments


def group_sums(values: np.ndarray, groups: np.ndarray, n_groups: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) sum of the rows of each group, float64 (n_groups, m); zeros for empty groups.

    values (float, (n, m)): The rows.
    groups (int, (n,)): The group of each row.
    n_groups (int): Number of groups.
    weights (float, (n,), or None): The weight of each row; None for weight 1.
    """
    weights = np.ones(len(values)) if weights is None else weights
    return csr_array((weights, (groups, np.arange(len(groups)))), shape=(n_groups, len(groups))) @ values


def groups_of(labels: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """Return, for each label, the indices of the elements with this label, in ascending order.

    labels (int, (n,)): Labels from 0 to n_groups - 1.
    n_groups (int): Number of labels.
    RETURNS (list of int64 (k,), (n_groups,)): The indices; empty arrays for labels that do not occur.
    """
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=n_groups))[:-1])


def group_means(values: np.ndarray, groups: np.ndarray, n_groups: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) mean of the rows of each group, float64 (n_groups, m); zeros for empty groups.

    The arguments are those of `group_sums`.
    """
    totals = np.bincount(groups, weights=weights, minlength=n_groups)
    return group_sums(values, groups, n_groups, weights) / np.where(totals > 0, totals, 1.0)[:, None]
