"""Log-probabilities of local trees, those that a treebank does not have included.

The relative frequency of a local tree is smoothed by a bigram model of children, and that by the children alone, each
by absolute discounting (Ney, Essen and Kneser 1994): a local tree that the treebank lacks, but whose neighbouring
children it often has under this label, is likelier than one with neighbours that it lacks. With n for counts, d for the
discount, l for what the discount takes from all counts with the same context, and an edge before the first child and
after the last:

    P(children | label)  = (max(n(label, children) - d, 0)  + (l(label) + 1) * product of P(child | label, before))
                           / (n(label) + 1)
    P(child | label, before)  = (max(n(label, before, child) - d, 0)  + (l(label, before) + 1) * P(child | label))
                                / (n(label, before) + 1)
    P(child | label)  = (n(label, child) + e) / (sum over children of (n(label, child) + e))
"""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.parsing._well_formed import RuleScores
from spacy_lpcfg.trees.local_trees import LocalTrees

DISCOUNT = 0.8  # of each count
PRIOR = 1e-3  # of each child, beside its count


def rule_scores(local_trees: LocalTrees, weight: float) -> RuleScores:
    """Return the scores of all local trees: their smoothed log-probabilities times `weight`."""
    offsets, counts = local_trees.offsets, local_trees.counts.astype(float)
    unknown = len(local_trees.symbols)
    edge = unknown + 1
    lengths = np.diff(offsets)
    before = local_trees.rules.copy()
    before[offsets[:-1]] = edge
    labels = local_trees.rules[offsets[:-1]]
    triples = np.stack([np.repeat(labels, lengths), before, np.append(before[1:], np.int32(edge))], axis=1)
    pairs, of_rules = np.unique(triples, axis=0, return_inverse=True)
    of_rules = of_rules.reshape(-1)
    contexts, children, scores = _log_probabilities(pairs, np.bincount(of_rules, np.repeat(counts, lengths)), edge)

    totals, lost = (np.bincount(labels, n, edge) for n in (counts, np.minimum(counts, DISCOUNT)))
    backing_off = np.log((lost + 1) / (totals + 1))
    contexts[:, edge] += backing_off
    scores += np.where(pairs[:, 1] == edge, backing_off[pairs[:, 0]], 0)
    with np.errstate(divide="ignore"):
        discounted = np.log(np.maximum(counts - DISCOUNT, 0) / (totals[labels] + 1))
    whole = np.logaddexp(discounted, np.add.reduceat(scores[of_rules], offsets[:-1]))
    return RuleScores(
        local_trees.rules, offsets, weight * whole, pairs, weight * scores, weight * contexts, weight * children
    )


def _log_probabilities(pairs: np.ndarray, counts: np.ndarray, edge: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute ln P(child | label, child before).

    pairs (int32, (n, 3)): Label, child before and child, of each that the treebank has.
    counts (float64, (n,)): How often it has them.
    edge (int): Stands before the first child and after the last; the id before it is that of unknown symbols.
    RETURNS (tuple of float64 arrays): Two terms for pairs that the treebank lacks, of label and child before and of
        label and child, (edge, edge + 1); and the logarithm for each of `pairs`, (n,).
    """
    label, before, child = pairs.T
    totals, lost, of_child = (np.zeros((edge, edge + 1)) for _ in range(3))
    np.add.at(totals, (label, before), counts)
    np.add.at(lost, (label, before), np.minimum(counts, DISCOUNT))
    np.add.at(of_child, (label, child), counts)
    of_child += PRIOR
    of_child /= of_child.sum(axis=1, keepdims=True)
    lost += 1
    totals += 1
    discounted = np.maximum(counts - DISCOUNT, 0)
    p = (discounted + lost[label, before] * of_child[label, child]) / totals[label, before]
    return np.log(lost / totals), np.log(of_child), np.log(p)
