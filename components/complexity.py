"""How complex the sentences of a Doc are: `doc._.complexity`, and of a sentence `sent._.complexity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

from spacy_lpcfg.components.constituents import Constituent
from spacy_lpcfg.components.extensions import register_getters
from spacy_lpcfg.components.surprisal import surprisal_of

if TYPE_CHECKING:
    from spacy_lpcfg.queries.complexity import Complexity, Record


def sentence_complexity(doclike: Doc | Span, *, with_surprisal: bool = True) -> Complexity:
    """How complex the sentences of a Doc are, or the constituent that a Span is.

    doclike (Doc or Span): With trees.
    with_surprisal (bool): Whether to tell surprisals, which are computed where they are not known yet.
    RAISES (ValueError): If it has no trees.
    """
    # patterns of trees, which parsing does without
    from spacy_lpcfg.components.tree_matcher import constituency_of
    from spacy_lpcfg.queries.complexity import complexity

    roots = [*constituency_of(doclike)]
    bits = [_surprisals(root) for root in roots] if with_surprisal else []
    return complexity((root.tree for root in roots), surprisals=bits)


def doc_complexity(doclike: Doc | Span) -> Record:
    """Counts, indices, depths and surprisal of a Doc or a sentence, by their names in `queries.complexity`."""
    return sentence_complexity(doclike).document


def _surprisals(root: Constituent) -> list[float]:
    """Those of the words; none where the Doc has none, and nobody knows them."""
    try:
        return [surprisal_of(token) for token in root.leaves]
    except ValueError:
        return []


def register_complexity() -> None:
    """Register `_.complexity` of Docs and Spans, see `register_getters`."""
    register_getters({kind: {"complexity": doc_complexity} for kind in (Doc, Span)})
