"""The E step on one shard (consecutive trees) of a treebank: posteriors of the latent states of the trees' nodes.

joblib sends a shard and the parameters to a worker, which returns sums over the shard's trees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.learning.latent._expectations import inside_outside
from spacy_lpcfg.learning.moments.estimation import group_sums
from spacy_lpcfg.learning.treebank.assembly import Part
from spacy_lpcfg.learning.treebank.skeletons import NONE


@dataclass(frozen=True, eq=False)
class Latent:
    """The parameters of a proper L-PCFG, for the rules and emissions of a `Split`; rows are zero-padded to m states.

    n_states (int32, (n_symbols,)): Number of states of each symbol.
    roots (float64, (n_symbols, m)): pi(a, h).
    tensors (float32, (n_entries,)): t(a -> b c, h2, h3 | a, h1), rule after rule.
    starts (int64, (n_rules + 1,)): Where each rule's tensor begins in `tensors`; the last is its length.
    emissions (float64, (n_pairs, m)): q(x | a, h).
    """

    n_states: np.ndarray
    roots: np.ndarray
    tensors: np.ndarray
    starts: np.ndarray
    emissions: np.ndarray


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts of latent states in a treebank: the sufficient statistics of EM, all of them sums over trees.

    rules (float32, (n_entries,)): Counts of every entry of the rules' tensors.
    words (float64, (n_pairs, m)): Counts of each emission.
    forms (float64, (n_pairs, m)): Counts of each emission, more general signatures included, see `EmissionEvents.all`.
    symbols (float64, (n_symbols, m)): Counts of nodes.
    roots (float64, (n_symbols, m)): Counts of roots.
    log_likelihood (float): Log-likelihood of the trees, in nats, under the parameters of the E step; nan for counts
        that no E step computed.
    """

    rules: np.ndarray
    words: np.ndarray
    forms: np.ndarray
    symbols: np.ndarray
    roots: np.ndarray
    log_likelihood: float = float("nan")

    @classmethod
    def sum(cls, parts: Iterable[Expected]) -> Expected:
        """Return the sum of the counts of one or more shards, added in order."""
        parts = iter(parts)
        total = {name: value + 0 for name, value in vars(next(parts)).items()}
        for part in parts:
            for name, value in vars(part).items():
                total[name] += value
        return cls(**total)

    def interpolate(self, other: Expected, share: float, scale: float) -> Expected:
        """Interpolate with other counts: `(1 - share) * self + share * scale * other`.

        The result has the log-likelihood of `other`.
        """
        mixed = {
            name: (1 - share) * mine + share * scale * getattr(other, name)
            for name, mine in vars(self).items()
            if name != "log_likelihood"
        }
        return Expected(**mixed, log_likelihood=other.log_likelihood)


@dataclass(frozen=True, eq=False)
class StatePosteriors:
    """Inside and outside vectors of the nodes of observed trees; rows are padded with zeros to m states.

    inside (float32, (n_nodes, m)): Inside vector of each node, scaled to sum 1.
    outside (float32, (n_nodes, m)): Outside vector of each node, scaled so that the elementwise product with the inside
        vector is the posterior distribution of its state; zeros for the nodes of trees that were not selected.
    rules (float32, (n_entries,)): Expected counts of the tensors' entries.
    log_likelihood (float): Log-likelihood of the selected trees, in nats.
    """

    inside: np.ndarray
    outside: np.ndarray
    rules: np.ndarray
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Shard:
    """Consecutive trees of a treebank in the form that the E step reads; n nodes, numbered from 0.

    symbol (int32, (n,)): The symbol of each node.
    parent, left, right (int32, (n,)): The parent, left child and right child of each node; -1 for none.
    rule (int32, (n,)): The rule of each inner node; -1 for leaves.
    order (int32, (n,)): The nodes in the order of inside values: by number of words, and within it by rule.
    pair (int64, (n_leaves,)), forms (csr_array, (n_pairs, n_leaves)): Emissions of the leaves, see `Part`.
    """

    symbol: np.ndarray
    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rule: np.ndarray
    order: np.ndarray
    pair: np.ndarray
    forms: csr_array

    @classmethod
    def of(cls, part: Part) -> Shard:
        nodes = part.nodes
        order = np.lexsort([part.rule, nodes.end - nodes.start]).astype(np.int32)
        return cls(nodes.symbol, nodes.parent, nodes.left, nodes.right, part.rule, order, part.pair, part.forms)

    @cached_property
    def roots(self) -> np.ndarray:
        return np.flatnonzero(self.parent == NONE)

    @cached_property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.left == NONE)

    def posteriors(self, latent: Latent, trees: np.ndarray | None = None) -> StatePosteriors:
        """Compute the inside and outside vectors of nodes, whose product is the posterior of each node's state.

        trees (int, (k,), or None): Positions of the selected trees, each once; None for all.
        RAISES (FloatingPointError): If one of these trees has probability 0.
        """
        order, roots = self.order, self.roots
        if trees is not None:
            order, roots = order[np.isin(np.searchsorted(roots, order), trees)], roots[trees]
        inside = np.zeros((len(self.symbol), latent.roots.shape[1]), dtype=np.float32)
        outside = np.zeros_like(inside)
        inside[self.leaves] = latent.emissions[self.pair]
        outside[roots] = latent.roots[self.symbol[roots]]
        counts = np.zeros_like(latent.tensors)
        table = self.parent, self.left, self.right, latent.n_states[self.symbol], latent.starts[self.rule]
        log_likelihood = inside_outside(order, *table, latent.tensors, inside, outside, counts)
        if not np.isfinite(log_likelihood):
            raise FloatingPointError(
                "Expected parameters under which each tree of the treebank has a probability, got some tree without: "
                "smooth the states' rules and words, so that no parameter is zero."
            )
        return StatePosteriors(inside, outside, counts * latent.tensors, log_likelihood)

    def sums(
        self, rules: np.ndarray, posteriors: np.ndarray, n_symbols: int, log_likelihood: float = float("nan")
    ) -> Expected:
        """Sum the state posteriors of the nodes to expected counts.

        rules (float32, (n_entries,)): Expected counts of the tensors' entries, passed through to the result.
        posteriors (float32, (n, m)): The distribution over states of each node.
        n_symbols (int): Number of symbols.
        log_likelihood (float): Log-likelihood of the trees, passed through to the result.
        """
        of_leaves, of_roots = posteriors[self.leaves], posteriors[self.roots]
        return Expected(
            rules=rules,
            words=group_sums(of_leaves, self.pair, self.forms.shape[0]),
            forms=self.forms @ of_leaves,
            symbols=group_sums(posteriors, self.symbol, n_symbols),
            roots=group_sums(of_roots, self.symbol[self.roots], n_symbols),
            log_likelihood=log_likelihood,
        )

    def expect(self, latent: Latent, trees: np.ndarray | None = None) -> Expected:
        """Compute the expected counts of the shard's trees; arguments and errors are those of `posteriors`."""
        of_shard = self.posteriors(latent, trees)
        states = of_shard.inside * of_shard.outside
        return self.sums(of_shard.rules, states, len(latent.n_states), of_shard.log_likelihood)
