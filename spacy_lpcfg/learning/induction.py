"""Grammar induction without a treebank: an L-PCFG learns from a bracketer's trees, reparses them, and learns again.

A bracketer scores a span by its ends and its context; a grammar also models how spans combine to larger ones. So the
grammar's trees are better than the trees that it learned from. Kim et al. (2019) train a recurrent network grammar on
the trees of an induced grammar in the same way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from spacy_lpcfg.chart.parser import grammar_parser
from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.transforms import normalize_rooted
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Induction:
    """Learner of a pivot grammar from unlabelled automatic trees, such as a bracketer predicts (`bracketed_tree`).

    The grammar's latent states take the place of categories.

    n_states (int): The maximum number of latent states of a symbol.
    n_rounds (int): Rounds of learning. The first learns from the given trees, each later one from the trees into which
        the last grammar parses the same words and tags.
    seed (int): Seed of all random choices.
    lang, lexical, functions, n_jobs: As in `TreebankSettings`.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    n_rounds: int = 2
    seed: int = 0
    lang: str = "en"
    lexical: LexicalSettings = LexicalSettings()
    functions: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        COUNT(n_rounds=self.n_rounds)
        self._pivot()  # which checks the other settings

    def _pivot(self) -> Pivot:
        return Pivot(**{name: value for name, value in vars(self).items() if name != "n_rounds"})

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn a grammar from trees; arguments and errors are those of `Learner.fit`."""
        learner, golds = self._pivot(), None if held_out is None else list(held_out)
        treebank = list(filter(None, map(partial(normalize_rooted, functions=self.functions), trees)))
        grammar = learner.fit(treebank, held_out=golds, on_step=on_step)
        for _ in range(1, self.n_rounds):
            parser = grammar_parser(grammar)
            treebank = [parser.parse(Query(tree.words, tree.tags)).tree for tree in treebank]
            grammar = learner.fit(treebank, held_out=golds, on_step=on_step)
        return grammar
