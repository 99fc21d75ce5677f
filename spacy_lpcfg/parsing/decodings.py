"""How one tree is chosen among those that a model finds: the names of decodings, the same for every model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.local_trees import LocalTrees

Decoding = Literal["well-formed", "mbr", "max-rule", "most-probable", "vote", "rerank"]
DECODINGS: tuple[Decoding, ...] = get_args(Decoding)
"""How one tree is chosen.

well-formed: the tree of `mbr` among those that look like the treebank's: local trees that it rarely has cost more.
mbr: the tree with the largest expected number of correct brackets (minimum Bayes risk, Goodman 1996).
max-rule: the tree with the largest sum, or in an ensemble product, of the marginals of its rules.
most-probable: the tree of `n_best(1)`.
vote: the brackets that more than half of the models of a combination have in their own trees.
rerank: of the trees that a grammar of a combination finds, the one that all its models find most probable.
"""

OF_NETWORK: tuple[Decoding, ...] = ("mbr", "most-probable")
OF_ANY_GRAMMAR: tuple[Decoding, ...] = ("mbr", "max-rule")
OF_PROPER_GRAMMAR: tuple[Decoding, ...] = (*OF_ANY_GRAMMAR, "most-probable")

WELL_FORMED: Decoding = "well-formed"

_WHY = {
    "well-formed": " Well-formed trees need a model that knows the local trees of its treebank, as grammars do that "
    "were learned from trees.",
    "most-probable": " The most probable tree needs one proper grammar (such as EM, Pivot and TreebankPCFG learn) or "
    "one network.",
    "vote": " Only the models of a combination can vote.",
    "rerank": " Reranking needs a combination with a proper grammar (such as EM, Pivot and TreebankPCFG learn) that "
    "reads from left to right.",
    "max-rule": " Only grammars have marginals of rules.",
}


def well_formed_first(decodings: Sequence[Decoding], local_trees: LocalTrees) -> tuple[Decoding, ...]:
    """Return decodings with "well-formed" at the head, where a default stands, if there are local trees to go by."""
    others = tuple(name for name in decodings if name != WELL_FORMED)
    return (WELL_FORMED, *others) if local_trees else others


def check_decoding(decoding: str, among: Sequence[str] = DECODINGS, model: str = "") -> None:
    """Check that a tree can be chosen so.

    among (sequence of str): the choices; all by default.
    model (str): whose choices they are, for the message.
    RAISES (ValueError): If it cannot.
    """
    if decoding not in among:
        raise ValueError(
            f"Expected decoding to be {', '.join(among)}{model}, got {shown(decoding)}.{_WHY.get(decoding, '')}"
        )
