"""The learners as registered objects, for `[components.lpcfg_parser.learner]` of a config."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.trees import Tree


@runtime_checkable
class Learner(Protocol):
    """What makes a grammar of a treebank; holds its settings, is not changed by learning."""

    def fit(self, trees: Iterable[Tree]) -> Grammar: ...


def make_spectral(n_states: int = 16, seed: int = 0, n_jobs: int = 1) -> Learner:
    """The learner `spacy-lpcfg.Spectral.v1`; settings as for `spacy_lpcfg.learning.Spectral`."""
    return Spectral(n_states=n_states, seed=seed, n_jobs=n_jobs)


def make_treebank_pcfg() -> Learner:
    """The learner `spacy-lpcfg.TreebankPCFG.v1`; see `spacy_lpcfg.learning.TreebankPCFG`."""
    return TreebankPCFG()


def read_grammar(path: Path) -> Grammar:
    """The reader `spacy-lpcfg.read_grammar.v1`: a grammar saved by `Grammar.to_disk`.

    Raises GrammarError for anything else.
    """
    return Grammar.from_disk(path)
