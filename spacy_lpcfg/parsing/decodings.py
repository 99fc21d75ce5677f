"""The table of decodings: how one tree is chosen among those that a model finds, and which models can do it.

From this table follow the choices and the help of `spacy-lpcfg parse --decoding`, what components and models accept,
the text of errors, and the table of decodings in the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from spacy_lpcfg.checks import shown

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


@dataclass(frozen=True)
class Decoding:
    """A way to choose one tree, which the parsers of models carry out.

    name (str): As settings and `--decoding` have it.
    summary (str): Which tree it chooses, as the end of a sentence; for the help of commands, and for the documentation.
    needs (str): What it needs of a model, as a sentence; "" if all models have it.
    is_for (callable): Returns whether a model has what it needs.
    """

    name: str
    summary: str
    needs: str
    is_for: Callable[[Decodable], bool]


DECODINGS = {
    decoding.name: decoding
    for decoding in (
        Decoding(
            MBR,
            "the tree with the largest sum of its brackets' posteriors, each less a cost (minimum Bayes risk)",
            "",
            lambda model: True,
        ),
        Decoding(
            "max-rule",
            "the tree with the largest sum of the marginals of its rules",
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
"""All decodings by their names. The first one is the default of every model."""


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
