"""Learners and ready grammars as registered objects, for the config of a pipeline.

Only the settings that one would tune are arguments here; `spacy_lpcfg.learning` has them all, and a
registered function of your own can return a learner with any of them.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import (
    EM,
    Clusters,
    LexicalSettings,
    Pivot,
    Smoothing,
    Spectral,
    StateSmoothing,
    TreebankPCFG,
)
from spacy_lpcfg.learning.convex_em import ConvexEM
from spacy_lpcfg.trees import Tree


@runtime_checkable
class Learner(Protocol):
    """What makes a grammar of a treebank; it holds settings, and learning does not change it."""

    def fit(self, trees: Iterable[Tree]) -> Grammar: ...


def make_spectral(
    n_states: int = Spectral.n_states,
    seed: int = Spectral.seed,
    n_jobs: int = Spectral.n_jobs,
    c: float = Smoothing.c,
    nu: float = Smoothing.nu,
    most_lexical: float = Smoothing.most_lexical,
    kappa: float | None = Spectral.kappa,
    tokens_per_state: float = Spectral.tokens_per_state,
    rare: int = LexicalSettings.rare,
    lang: str = Spectral.lang,
    markov: int = Spectral.markov,
) -> Learner:
    """The learner `spacy-lpcfg.Spectral.v1`.

    c, nu, most_lexical (float): as of `spacy_lpcfg.learning.Smoothing`
    rare (int): as of `spacy_lpcfg.learning.LexicalSettings`
    others: as of `spacy_lpcfg.learning.Spectral`
    """
    return Spectral(
        n_states=n_states,
        seed=seed,
        n_jobs=n_jobs,
        smoothing=Smoothing(c=c, nu=nu, most_lexical=most_lexical),
        lexical=LexicalSettings(rare=rare),
        kappa=kappa,
        tokens_per_state=tokens_per_state,
        lang=lang,
        markov=markov,
    )


def make_pivot(
    n_states: int = Pivot.n_states,
    seed: int = Pivot.seed,
    n_jobs: int = Pivot.n_jobs,
    matching: str = Pivot.matching,
    shrink: float = Pivot.shrink,
    prior: float = Pivot.prior,
    max_iterations: int = ConvexEM.max_iterations,
    kappa: float | None = Pivot.kappa,
    tokens_per_state: float = Pivot.tokens_per_state,
    dropout: float = Pivot.dropout,
    noise: float = Pivot.noise,
    rare: int = LexicalSettings.rare,
    lang: str = Pivot.lang,
    markov: int = Pivot.markov,
) -> Learner:
    """The learner `spacy-lpcfg.Pivot.v1`.

    max_iterations (int): as of `spacy_lpcfg.learning.convex_em.ConvexEM`
    rare (int): as of `spacy_lpcfg.learning.LexicalSettings`
    others: as of `spacy_lpcfg.learning.Pivot`
    """
    return Pivot(
        n_states=n_states,
        seed=seed,
        n_jobs=n_jobs,
        matching=matching,
        shrink=shrink,
        prior=prior,
        em=ConvexEM(max_iterations=max_iterations),
        lexical=LexicalSettings(rare=rare),
        kappa=kappa,
        tokens_per_state=tokens_per_state,
        dropout=dropout,
        noise=noise,
        lang=lang,
        markov=markov,
    )


def make_em(
    n_states: int = EM.n_states,
    n_iterations: int = EM.n_iterations,
    seed: int = EM.seed,
    n_jobs: int = EM.n_jobs,
    rules: float = StateSmoothing.rules,
    words: float = StateSmoothing.words,
    rare_words: float = StateSmoothing.rare_words,
    rare_rules: float = StateSmoothing.rare_rules,
    tokens_per_state: float = EM.tokens_per_state,
    noise: float = EM.noise,
    rare: int = LexicalSettings.rare,
    lang: str = EM.lang,
    markov: int = EM.markov,
) -> Learner:
    """The learner `spacy-lpcfg.EM.v1`.

    rules, words, rare_words, rare_rules (float): as of `spacy_lpcfg.learning.StateSmoothing`
    rare (int): as of `spacy_lpcfg.learning.LexicalSettings`
    others: as of `spacy_lpcfg.learning.EM`
    """
    return EM(
        n_states=n_states,
        n_iterations=n_iterations,
        seed=seed,
        n_jobs=n_jobs,
        smoothing=StateSmoothing(rules=rules, words=words, rare_words=rare_words, rare_rules=rare_rules),
        lexical=LexicalSettings(rare=rare),
        tokens_per_state=tokens_per_state,
        noise=noise,
        lang=lang,
        markov=markov,
    )


def make_clusters(
    n_states: int = Clusters.n_states,
    n_iterations: int = Clusters.n_iterations,
    seed: int = Clusters.seed,
    n_jobs: int = Clusters.n_jobs,
    rules: float = StateSmoothing.rules,
    words: float = StateSmoothing.words,
    rare_words: float = StateSmoothing.rare_words,
    rare_rules: float = StateSmoothing.rare_rules,
    kappa: float | None = Clusters.kappa,
    tokens_per_state: float = Clusters.tokens_per_state,
    agreement: float = Clusters.agreement,
    dropout: float = Clusters.dropout,
    noise: float = Clusters.noise,
    rare: int = LexicalSettings.rare,
    lang: str = Clusters.lang,
    markov: int = Clusters.markov,
) -> Learner:
    """The learner `spacy-lpcfg.Clusters.v1`.

    rules, words, rare_words, rare_rules (float): as of `spacy_lpcfg.learning.StateSmoothing`
    rare (int): as of `spacy_lpcfg.learning.LexicalSettings`
    others: as of `spacy_lpcfg.learning.Clusters`
    """
    return Clusters(
        n_states=n_states,
        n_iterations=n_iterations,
        seed=seed,
        n_jobs=n_jobs,
        smoothing=StateSmoothing(rules=rules, words=words, rare_words=rare_words, rare_rules=rare_rules),
        lexical=LexicalSettings(rare=rare),
        kappa=kappa,
        tokens_per_state=tokens_per_state,
        agreement=agreement,
        dropout=dropout,
        noise=noise,
        lang=lang,
        markov=markov,
    )


def make_treebank_pcfg(
    rare: int = LexicalSettings.rare,
    lang: str = TreebankPCFG.lang,
    markov: int = TreebankPCFG.markov,
    n_jobs: int = TreebankPCFG.n_jobs,
) -> Learner:
    """The learner `spacy-lpcfg.TreebankPCFG.v1`.

    rare (int): as of `spacy_lpcfg.learning.LexicalSettings`
    others: as of `spacy_lpcfg.learning.TreebankPCFG`
    """
    lexical = LexicalSettings(rare=rare)
    return TreebankPCFG(lexical=lexical, lang=lang, markov=markov, n_jobs=n_jobs)


def read_grammar(path: Path) -> Callable[[], Grammar]:
    """The reader `spacy-lpcfg.read_grammar.v1`.

    path (Path): a file written by `Grammar.to_disk`
    RETURNS (callable): gives the grammar; raises GrammarError for anything else
    """
    return partial(Grammar.from_disk, path)
