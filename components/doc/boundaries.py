"""Phrase boundaries of Docs, where a speaker may pause: `token._.boundary`."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from spacy_lpcfg.components.doc.sentences import sentence_of
from spacy_lpcfg.components.doc.tree_group import head_rules_of
from spacy_lpcfg.components.doc.view import doc_constituency, span_constituency
from spacy_lpcfg.queries.boundaries import Boundary, boundaries


def doc_boundaries(doc: Doc) -> list[Boundary]:
    """Return the phrase boundary after each token of a Doc, see `spacy_lpcfg.queries.boundaries`.

    RETURNS (list of Boundary, (n_tokens,)): The boundaries; all their numbers are 0 after white space, and where there
        is no boundary.
    RAISES (ValueError): If the Doc has no trees.
    """
    by_token = [Boundary()] * len(doc)
    rules = head_rules_of(doc)
    for root in doc_constituency(doc):
        for token, boundary in zip(root.leaves, boundaries(root.tree, rules), strict=True):
            by_token[token.i] = boundary
    return by_token


def token_boundary(token: Token) -> Boundary:
    """Return the phrase boundary after a token: `token._.boundary`.

    For all tokens of a Doc call `doc_boundaries`, which computes each sentence only once.

    RETURNS (Boundary): The boundary; all its numbers are 0 after white space, and where there is no boundary.
    RAISES (ValueError): If the Doc has no trees.
    """
    root = span_constituency(sentence_of(token))
    leaves = root.leaves if root else ()
    if root is None or token not in leaves:
        return Boundary()
    return boundaries(root.tree, head_rules_of(token.doc))[leaves.index(token)]
