"""Learner of the treebank PCFG: relative frequencies of rules, with one latent state for each symbol."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, build_grammar
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class TreebankPCFG(TreebankSettings):
    """Learner of a proper PCFG from relative frequencies, without latent states.

    It has the settings of `TreebankSettings`.
    """

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn a grammar from trees.

        trees (Iterable[Tree] or IndexedTreebank): Read once; raw or normalised.
        held_out, on_step: Ignored, since there are no steps.
        RAISES (ValueError): If there are no trees.
        """
        treebank = IndexedTreebank.read(trees, self)
        n_symbols = len(treebank.nodes.symbols)
        parameters = Parameters(
            n_states=np.ones(n_symbols, dtype=np.int32),
            root_vectors=np.ones((n_symbols, 1)),
            tensors=treebank.counts.rule_weights,
            emissions=treebank.emissions,
            means=np.ones((n_symbols, 1)),
            is_proper=True,
        )
        return build_grammar(treebank, parameters)
