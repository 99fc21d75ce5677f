"""Several grammars over one treebank as one parser (Petrov 2010, "Products of random latent variable grammars").

The grammars share their symbols, rules and lexicon, and so the coarse forest of a sentence; only the latent marginals
are computed by each. Differs from the paper: marginals are added up, not multiplied, which needs no floor for zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.chart._fine import FineGrammar, Marginals
from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.parser import Parser, Settings
from spacy_lpcfg.grammar.grammar import Grammar

_SHARED = ("symbols", "n_preterminals", "rules", "rule_weights", "root_weights", "root_label")
_SHARED_LEXICON = ("terminals", "offsets", "symbols", "weights", "rare_words", "rare_factors")


class EnsembleParser(Parser):
    """Parses sentences by the mean of several grammars' marginals; any number of threads may share one.

    grammars (sequence of Grammar): learned from the same trees, with the same settings of the lexicon and of
        binarisation; by any learners.
    settings (Settings): pruning and decoding.
    RAISES (ValueError): If there are no grammars, or they do not share symbols, rules and lexicon.
    """

    def __init__(self, grammars: Sequence[Grammar], *, settings: Settings = Settings()) -> None:
        if not grammars:
            raise ValueError("Expected at least one grammar, got none.")
        for grammar in grammars[1:]:
            _check_shared(grammars[0], grammar)
        super().__init__(grammars[0], settings=settings)
        self._are_proper = all(grammar.is_proper for grammar in grammars)
        self._members = [FineGrammar(grammar) for grammar in grammars]

    def marginals(self, forest: Forest) -> MeanMarginals:
        """Means of the marginals of a forest under the grammars."""
        return MeanMarginals([Marginals(member, forest) for member in self._members], self._are_proper)


class MeanMarginals:
    """Means of several grammars' marginals of one forest, each grammar's divided by its own total.

    marginals (sequence of Marginals): of the same forest; those whose total is nothing do not count.
    are_proper (bool): whether all totals are probabilities.
    """

    def __init__(self, marginals: Sequence[Marginals], are_proper: bool) -> None:
        self._all = marginals
        self._counted = [one for one in marginals if one.total and np.isfinite(one.edges()).all()]
        self._are_proper = are_proper

    @property
    def total(self) -> float:
        """0 if no grammar has a tree in the forest, else 1."""
        return float(bool(self._counted))

    @property
    def log_probability(self) -> float:
        """Natural log of the mean of the grammars' probabilities; nan unless all are proper."""
        if not (self._are_proper and self._counted):
            return float("nan")
        logs = [one.log_probability for one in self._counted]
        return float(np.logaddexp.reduce(logs) - np.log(len(self._all)))

    def edges(self) -> np.ndarray:
        """float64 (n_edges,)."""
        return np.mean([one.edges() for one in self._counted or self._all], axis=0)

    def items(self) -> np.ndarray:
        """float64 (n_items,)."""
        return np.mean([one.items() for one in self._counted or self._all], axis=0)


def _check_shared(one: Grammar, other: Grammar) -> None:
    pairs = [(name, getattr(one, name), getattr(other, name)) for name in _SHARED]
    pairs += [(f"lexicon.{name}", getattr(one.lexicon, name), getattr(other.lexicon, name)) for name in _SHARED_LEXICON]
    for name, mine, others in pairs:
        if not np.array_equal(mine, others):
            raise ValueError(
                f"Expected grammars that share their symbols, rules and lexicon, got some that differ in their {name}: "
                "learn them from the same trees, with the same settings of the lexicon and of binarisation."
            )
