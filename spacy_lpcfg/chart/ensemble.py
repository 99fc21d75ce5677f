"""A parser by an ensemble of grammars.

The grammars share their rules, and so the coarse forest of a sentence; only the latent marginals are computed by each
grammar. Those of the first grammar prune the forest, so that the other grammars take a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.parser import Parser, state_bytes
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.parsing.kinds import add_kind


class EnsembleParser(Parser):
    """A parser that combines the marginals of several grammars; it may be shared by threads.

    ensemble (Ensemble): The grammars.
    settings (ChartSettings): Pruning and decoding.
    RAISES (ValueError): If ensembles do not have the decoding.
    """

    kind = "an ensemble, which has no one distribution over trees"
    answers = frozenset()

    def __init__(self, ensemble: Ensemble, *, settings: ChartSettings = ChartSettings()) -> None:
        ensemble.check_decoding(settings.decoding)
        super().__init__(ensemble.grammars[0], settings=settings)
        self._ensemble = ensemble
        self._others = [FineGrammar(grammar) for grammar in ensemble.grammars[1:]]
        self._state_bytes = np.sum([state_bytes(grammar) for grammar in ensemble.grammars], axis=0)

    @property
    def is_proper(self) -> bool:
        """Whether all grammars are proper."""
        return self._ensemble.is_proper

    def marginals(self, forest: Forest) -> CombinedMarginals:  # type: ignore[override]  # has no vectors, and draws nothing
        """Prune a forest by the first grammar and return its marginals under all grammars."""
        first = Marginals(self._fine, forest)
        pruned, values = forest, _finite(first)
        if values:
            ((of_edges, of_items),) = values
            pruned, items, edges = forest.pruned(of_edges, self.settings.cascade)
            values = [(of_edges[edges], of_items[items])]
        others = [Marginals(member, pruned) for member in self._others]
        values += [pair for one in others for pair in _finite(one)]
        logs = [one.log_probability for one in (first, *others)]
        return CombinedMarginals(pruned, values, logs, self._ensemble.combine == "product")


class CombinedMarginals:
    """Normalized marginals of one forest under several grammars.

    forest (Forest): The forest.
    marginals (sequence of (float64 (n_edges,), float64 (n_items,))): Marginals of edges and items under each grammar.
    log_probabilities (sequence of float): Log-probability of the sentence under each grammar, in nats.
    is_product (bool): Whether edges are scored by the geometric mean of their marginals, else by the arithmetic mean.
    """

    def __init__(
        self,
        forest: Forest,
        marginals: Sequence[tuple[np.ndarray, np.ndarray]],
        log_probabilities: Sequence[float],
        is_product: bool,
    ) -> None:
        self.forest = forest
        self._marginals = marginals
        self._log_probabilities = log_probabilities
        self._is_product = is_product

    @property
    def total(self) -> float:
        """1 if any grammar has a tree in the forest, else 0."""
        return float(bool(self._marginals))

    @property
    def log_probability(self) -> float:
        """The logarithm of the sentence's mean probability, in nats."""
        return float(np.logaddexp.reduce(self._log_probabilities) - np.log(len(self._log_probabilities)))

    def edges(self) -> np.ndarray:
        """Return the scores of the edges, float64 (n_edges,)."""
        edges = np.array([edges for edges, _ in self._marginals] or np.zeros((1, self.forest.n_edges)))
        if not self._is_product:
            return edges.mean(axis=0)
        return np.exp(np.log(np.maximum(np.abs(edges), _LEAST)).mean(axis=0))

    def items(self) -> np.ndarray:
        """Return the means of the items' marginals, float64 (n_items,)."""
        return np.mean([items for _, items in self._marginals] or np.zeros((1, self.forest.n_items)), axis=0)


_LEAST = 1e-7  # floor of marginals in a product, so that no single grammar rules out an edge


def _finite(marginals: Marginals) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return marginals of edges and items as a pair; nothing if there is no tree or a value is not finite."""
    if not marginals.total:
        return []
    edges, items = marginals.edges(), marginals.items()
    return [(edges, items)] if np.isfinite(edges).all() and np.isfinite(items).all() else []


def ensemble_parser(ensemble: Ensemble, decoding: str, *, chart: ChartSettings = ChartSettings()) -> EnsembleParser:
    """Return the parser that `Ensemble.parser` makes; `decoding` goes before that of the settings."""
    return EnsembleParser(ensemble, settings=replace(chart, decoding=decoding))


add_kind(Ensemble.kind, Ensemble.from_bytes, ensemble_parser)
