"""Learners, each from a treebank to a Grammar, and the parts from which to write another one.

Trees become arrays of nodes in `treebank/`, and words terminals in `lexicon/`. Learners by EM count latent states
(`latent/`), those by the method of moments project nodes (`moments/`); `treebank/assembly.py` makes a grammar of both
kinds of parameters. `adaptation/` goes on from a grammar with new trees.
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
