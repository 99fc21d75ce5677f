"""The treebank PCFG: relative frequencies, one state a symbol."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters, TreebankSettings, build_grammar
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class TreebankPCFG:
    """Learner of a PCFG by relative frequencies; a proper grammar.

    lexical (LexicalSettings): Terminals and smoothing of the emissions.
    lang (str): Language, table or file of the head rules, see `head_rules`.
    rules (RuleSettings): How rules are made and stored.
    functions (bool): Whether categories keep their functions, as in NP-SBJ.
    n_jobs (int or None): Processes that read the trees; None for those of `joblib.parallel_config`, or 1.
    """

    lexical: LexicalSettings = LexicalSettings()
    lang: str = "en"
    rules: RuleSettings = RuleSettings()
    n_jobs: int | None = None
    functions: bool = False

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn from trees.

        trees (Iterable[Tree] or IndexedTreebank): Read once; raw or normalised.
        held_out, on_step: ignored: there are no steps, and nothing to stop early.
        RAISES (ValueError): If there are no trees.
        """
        reading = TreebankSettings(self.lang, self.functions, self.lexical, self.rules, self.n_jobs)
        treebank = IndexedTreebank.read(trees, reading)
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
