"""The table of decodings: how one tree is chosen among those that a model finds, and which models can do it.

From this table follow the choices and the help of `spacy-lpcfg parse --decoding`, what components and models accept,
the text of errors, and the table of decodings in the documentation. Commands read it before they do anything, so that
nothing slow is imported at the top: a function of the table imports what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from spacy_lpcfg.checks import shown

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Posteriors
    from spacy_lpcfg.trees.local_trees import LocalTrees
    from spacy_lpcfg.trees.tree import Span

MBR = "mbr"
"""The decoding that all models have."""


class Decodable(Protocol):
    """Interface of a model whose decodings are listed and checked."""

    @property
    def has_rule_marginals(self) -> bool:
        """Whether its parser computes marginals of rules."""

    @property
    def has_n_best(self) -> bool:
        """Whether its parser finds the n most probable trees."""

    @property
    def local_trees(self) -> LocalTrees:
        """The local trees of its treebank."""

    @property
    def bracket_cost(self) -> float:
        """The cost of a bracket, to subtract from its posterior; the parser of one grammar or network has its own."""


class TreeDecoder(Protocol):
    """Chooses a tree by the posteriors of a model of any kind."""

    def tree(
        self, words: Sequence[str], posteriors: Posteriors, required: Sequence[Span] = ()
    ) -> tuple[list[Span], list[str]]:
        """Return the brackets of a tree, in pre-order, and its tags.

        words (sequence of str): Of the sentence.
        posteriors (Posteriors): Of the brackets that the constraints allow, at least one over all words, and of tags.
        required (sequence of (start, end, label)): Under constraints, brackets of `posteriors` that are certain: those
            that were asked for, and others that the model is certain of. Empty without constraints.
        """


@dataclass(frozen=True)
class Decoding:
    """A way to choose one tree.

    name (str): As settings and `--decoding` have it.
    summary (str): Which tree it chooses, as the end of a sentence; for the help of commands, and for the documentation.
    needs (str): What it needs of a model, as a sentence; "" if all models have it.
    is_for (callable): Returns whether a model has what it needs.
    decoder (callable or None): Returns what chooses a tree by the posteriors of a model, given the model. None if
        the model's own parser chooses the tree.
    """

    name: str
    summary: str
    needs: str
    is_for: Callable[[Decodable], bool]
    decoder: Callable[[Decodable], TreeDecoder] | None = None


def _well_formed(model: Decodable) -> TreeDecoder:
    from spacy_lpcfg.parsing.well_formed import WellFormedDecoder

    return WellFormedDecoder(model.local_trees, cost=model.bracket_cost)


DECODINGS = {
    decoding.name: decoding
    for decoding in (
        Decoding(
            "well-formed",
            "the tree of mbr among those that look like the treebank's: local trees that it rarely has cost more",
            "Well-formed trees need a model that knows the local trees of its treebank, as grammars do that were "
            "learned from trees.",
            lambda model: bool(model.local_trees),
            _well_formed,
        ),
        Decoding(
            MBR,
            "the tree with the largest sum of its brackets' posteriors, each less a cost (minimum Bayes risk)",
            "",
            lambda model: True,
        ),
        Decoding(
            "max-rule",
            "the tree with the largest sum, or in an ensemble product, of the marginals of its rules",
            "Only grammars have marginals of rules.",
            lambda model: model.has_rule_marginals,
        ),
        Decoding(
            "most-probable",
            "the tree of n_best(1)",
            "The most probable tree needs one proper grammar (such as EM, Pivot and TreebankPCFG learn) or an ISBN.",
            lambda model: model.has_n_best,
        ),
    )
}
"""All decodings by their names. The first one that a model has is its default, unless the model says otherwise."""


def decodings_of(model: Decodable) -> tuple[str, ...]:
    """Return the names of the decodings that a model has, in the order of the table."""
    return tuple(decoding.name for decoding in DECODINGS.values() if decoding.is_for(model))


def check_decoding(name: str, among: Iterable[str] | None = None) -> None:
    """Raise ValueError if a decoding is unknown, or is none of a model's; the message says what it needs of a model.

    among (iterable of str or None): The names of the model's decodings; None for all that there are.
    """
    names = tuple(DECODINGS if among is None else among)
    if name not in names:
        model = "" if among is None else " for this model"
        needs = f" {DECODINGS[name].needs}" if name in DECODINGS else ""
        raise ValueError(f"Expected decoding to be one of {', '.join(names)}{model}, got {shown(name)}.{needs}")
