"""Learners that read a treebank and return a Grammar, and the parts from which to write another learner.

- `treebank/` turns trees into arrays of nodes, and `lexicon/` turns words into terminals.
- `latent/` has the expected counts of latent states, for learners that use EM.
- `moments/` has the projections of nodes, for learners that use the method of moments.
- `treebank/assembly.py` makes the grammar from the parameters of either kind of learner.
- `adaptation/` adapts a learned grammar to new trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy_lpcfg.lazy import lazy_names

if TYPE_CHECKING:
    from spacy_lpcfg.learning.base import Learner as Learner
    from spacy_lpcfg.learning.base import Step as Step
    from spacy_lpcfg.learning.em import EM as EM
    from spacy_lpcfg.learning.em import EMFit as EMFit
    from spacy_lpcfg.learning.em import EMLearner as EMLearner
    from spacy_lpcfg.learning.induction import Induction as Induction
    from spacy_lpcfg.learning.latent.statistics import Split as Split
    from spacy_lpcfg.learning.latent.statistics import StateSmoothing as StateSmoothing
    from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings as LexicalSettings
    from spacy_lpcfg.learning.pivot import Pivot as Pivot
    from spacy_lpcfg.learning.spectral import Spectral as Spectral
    from spacy_lpcfg.learning.split_merge import SplitMerge as SplitMerge
    from spacy_lpcfg.learning.stepwise import StepwiseEM as StepwiseEM
    from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank as IndexedTreebank
    from spacy_lpcfg.learning.treebank.assembly import Parameters as Parameters
    from spacy_lpcfg.learning.treebank.assembly import build_grammar as build_grammar
    from spacy_lpcfg.learning.treebank.settings import TreebankSettings as TreebankSettings
    from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG as TreebankPCFG
    from spacy_lpcfg.learning.tuning import Smoothing as Smoothing

if not TYPE_CHECKING:  # else mypy would accept any name
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "base": ["Learner", "Step"],
            "em": ["EM", "EMFit", "EMLearner"],
            "induction": ["Induction"],
            "latent.statistics": ["Split", "StateSmoothing"],
            "lexicon.lexical": ["LexicalSettings"],
            "pivot": ["Pivot"],
            "spectral": ["Spectral"],
            "split_merge": ["SplitMerge"],
            "stepwise": ["StepwiseEM"],
            "treebank.assembly": ["IndexedTreebank", "Parameters", "build_grammar"],
            "treebank.settings": ["TreebankSettings"],
            "treebank_pcfg": ["TreebankPCFG"],
            "tuning": ["Smoothing"],
        },
    )
