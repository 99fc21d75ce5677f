"""Grammars without a treebank: an L-PCFG learns from the trees of a bracketer, parses them, and learns again.

A bracketer's scores know a span by its ends and what stands around it; a grammar also knows how spans make larger ones.
So its trees are better than those that it learned from. Kim et al. (2019) let a recurrent network grammar
learn from the trees of an induced grammar in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from spacy_lpcfg.bracketing.bracketer import Brackets
from spacy_lpcfg.chart.parser import grammar_parser
from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings, signatures_of
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees.tree import Tree

SENTENCE, BRACKET = "S", "X"


def bracketed_tree(words: Sequence[str], tags: Sequence[str], brackets: Brackets) -> Tree:
    """Return the tree of a sentence and its brackets: S over the whole sentence, X over every other bracket.

    RAISES (ValueError): If there are no words, or not as many tags.
    """
    inner = [(start, end, BRACKET) for start, end in brackets.spans if (start, end) != (0, len(words))]
    return Tree.from_spans(words, tags, [(0, len(words), SENTENCE), *inner])


@dataclass(frozen=True)
class Induction:
    """Learner of a grammar from trees that nobody annotated, such as those of `bracketed_tree`.

    learner (Pivot or TreebankPCFG): Learner of the grammar, whose latent states take the place of categories.
    n_rounds (int): Rounds of learning; from the second on, from the trees by which the last grammar parses the given
        tags.
    RAISES (ValueError): For less than one round.
    """

    learner: Pivot | TreebankPCFG = field(default_factory=Pivot)
    n_rounds: int = 2

    def __post_init__(self) -> None:
        COUNT(n_rounds=self.n_rounds)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar:
        """Learn from trees; `Learner.fit` has the same arguments and errors."""
        treebank, golds = list(trees), None if held_out is None else list(held_out)
        grammar = self.learner.fit(treebank, held_out=golds, on_step=on_step)
        for _ in range(1, self.n_rounds):
            parser = grammar_parser(grammar)
            treebank = [parser.parse(Query(tree.words, tree.tags)).tree for tree in treebank]
            grammar = self.learner.fit(treebank, held_out=golds, on_step=on_step)
        return grammar


@dataclass(frozen=True, kw_only=True)
class PivotInduction:
    """Settings of `Induction` by a pivot grammar, for configs and commands.

    n_states (int): The maximum number of latent states of a symbol.
    n_rounds (int): As in `Induction`.
    seed (int): Seed of all that is random.
    lang (str): Language, table or file of the head rules, see `head_rules`.
    lexical (LexicalSettings or None): Settings of the terminals; None for the defaults, with the signatures of unknown
        words that suit `lang`.
    functions (bool): Whether categories have their functions, as NP-SBJ.
    n_jobs (int or None): As in `Pivot`.
    """

    n_states: int = 16
    n_rounds: int = 2
    seed: int = 0
    lang: str = "en"
    lexical: LexicalSettings | None = None
    functions: bool = False
    n_jobs: int | None = None

    def learner(self) -> Induction:
        """Return the learner that these settings make."""
        of_grammar = {name: value for name, value in vars(self).items() if name != "n_rounds"}
        of_grammar["lexical"] = self.lexical or LexicalSettings(signatures=signatures_of(self.lang))
        return Induction(Pivot(**of_grammar), self.n_rounds)
