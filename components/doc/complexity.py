"""Syntactic complexity of Docs and sentences: `doc._.complexity` and `sent._.complexity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

from spacy_lpcfg.components.doc.surprisal import surprisal_of
from spacy_lpcfg.components.doc.view import Constituent

if TYPE_CHECKING:
    from spacy_lpcfg.queries.complexity import Complexity, Record


def sentence_complexity(doclike: Doc | Span, *, with_surprisal: bool = True) -> Complexity:
    """Measure the syntactic complexity of each sentence of a Doc, or of a Span that is a constituent.

    doclike (Doc or Span): A Doc with trees, or a Span of one.
    with_surprisal (bool): Whether to include surprisal, which is computed if it is not stored yet; it is left out if no
        component can compute it.
    RETURNS (Complexity): The measures of each sentence (or of the Span) that has words, and of all together.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    # patterns of trees, which parsing does without
    from spacy_lpcfg.components.doc.tree_matcher import constituency_of
    from spacy_lpcfg.queries.complexity import complexity

    roots = [*constituency_of(doclike)]
    bits = [_surprisals(root) for root in roots] if with_surprisal else []
    return complexity((root.tree for root in roots), surprisals=bits)


def doc_complexity(doclike: Doc | Span) -> Record:
    """Return the syntactic complexity of a Doc, sentence or other constituent: `doc._.complexity`.

    RETURNS (dict of str to number or None): Counts, indices, depths and mean surprisal in bits, by the names in
        `COLUMNS` of `spacy_lpcfg.queries.complexity`.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    return sentence_complexity(doclike).document


def _surprisals(root: Constituent) -> list[float]:
    """Return the surprisals of the words in bits; [] if the Doc has none and no component can compute them."""
    try:
        return [surprisal_of(token) for token in root.leaves]
    except ValueError:
        return []
