"""Learn several grammars of one treebank that decide together.

Grammars help each other as far as they err differently: those of several learners more than those of one, and those
of features with noise more than those of all features (Narayan and Cohen 2015, "Diversity in spectral learning").
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spacy_lpcfg.blocks import Members, make_tuples
from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.ensemble import COMBINATIONS, Ensemble
from spacy_lpcfg.learning.base import MANY_TREES, OnStep, renumbered
from spacy_lpcfg.learning.clusters import Clusters
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, reading_of
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.trees.tree import Tree

# Settings of the learners of diverse ensembles, where they differ from the learners' defaults.
DIVERSE: dict[str, Any] = {"n_states": 24, "tokens_per_state": 20.0}
PIVOTS: dict[str, Any] = {"n_iterations": 0, "features": Features(dropout=0.3)}
CLUSTERS: dict[str, Any] = {"features": Features(dropout=0.1)}


@dataclass(frozen=True)
class Ensembles:
    """Learner of an ensemble: one grammar of every learner and seed.

    learners (sequence of learners, or mapping of names to such): Learners of one grammar each that have a `seed`, such
        as `Pivot`; with the same settings of the lexicon, lang, rules and functions.
    n_seeds (int or None): Grammars of each learner; their seeds count from the learner's own. None for 2, or 1 if there
        are more than 7,000 trees, which leave less to chance and take longer.
    combine (str): "product" or "sum", as in `Ensemble`.
    RAISES (ValueError): If there is nothing to learn, on another way to combine, or for learners that read a treebank
        differently.
    """

    learners: Members[Any]
    n_seeds: int | None = 1
    combine: str = "product"

    def __post_init__(self) -> None:
        make_tuples(self, "learners")
        if not self.learners or (self.n_seeds is not None and self.n_seeds < 1):
            raise ValueError(
                f"Expected at least one learner and one seed, got {len(self.learners)} and {self.n_seeds}."
            )
        for learner in self.learners:
            if not all(hasattr(learner, name) for name in ("seed", "lexical", "lang", "rules")):
                raise ValueError(
                    "Expected learners of grammars with a seed (Spectral, Pivot, Clusters, SplitMerge or EM), got "
                    f"{type(learner).__name__}."
                )
        if self.combine not in COMBINATIONS:
            raise ValueError(f"Expected combine to be one of {COMBINATIONS}, got {shown(self.combine)}.")
        readings = {(learner.lexical, reading_of(learner)) for learner in self.learners}
        if len(readings) > 1:
            raise ValueError(
                f"Expected learners with the same settings of the lexicon, lang, rules and functions, got {readings}: "
                "grammars that decide together share their rules and words."
            )

    @classmethod
    def diverse(cls, n_grammars: int | None = 8, *, seed: int = 0, **settings: Any) -> "Ensembles":
        """Return the learner of an ensemble, half by `Pivot` and half by `Clusters`, from features with noise.

        The pivot grammars do without EM, which would make all more alike; and more states are worth more to several
        grammars than to one.

        n_grammars (int or None): An even number; None for 4, or 2 if there are more than 7,000 trees.
        seed (int): Seed of the first grammar of each learner.
        settings: of both learners, in place of `DIVERSE` and their defaults.
        RAISES (ValueError): If the number is odd or below 2.
        """
        if n_grammars is not None and (n_grammars < 2 or n_grammars % 2):
            raise ValueError(f"Expected an even number of grammars, at least 2, got {n_grammars}.")
        of_both = {"seed": seed, **DIVERSE, **settings}
        return cls(
            (Pivot(**PIVOTS, **of_both), Clusters(**CLUSTERS, **of_both)), n_seeds=n_grammars and n_grammars // 2
        )

    @property
    def lexical(self) -> LexicalSettings:
        return self.learners[0].lexical

    @property
    def lang(self) -> str:
        return self.learners[0].lang

    @property
    def rules(self) -> RuleSettings:
        rules: RuleSettings = self.learners[0].rules
        return rules

    @property
    def functions(self) -> bool:
        return reading_of(self.learners[0]).functions

    @property
    def n_jobs(self) -> int | None:
        return self.learners[0].n_jobs

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> Ensemble:
        """Learn from trees.

        trees (Iterable[Tree] or IndexedTreebank): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Trees by which each learner that goes by steps chooses the best one.
        weights (sequence of float or None): How much each tree counts; None if all count alike.
        on_step (callable or None): Called with the steps of each grammar that is learned by EM.
        RAISES (ValueError): If there are no trees, or not one weight for each.
        """
        treebank = IndexedTreebank.read(trees, self, weights)
        n_seeds = self.n_seeds or (1 if len(treebank.nodes.roots) > MANY_TREES else 2)
        learners = [replace(learner, seed=learner.seed + i) for learner in self.learners for i in range(n_seeds)]
        golds = None if held_out is None else list(held_out)
        grammars = (
            learner.fit(treebank, held_out=golds, on_step=renumbered(on_step, i)) for i, learner in enumerate(learners)
        )
        return Ensemble(tuple(grammars), self.combine)
