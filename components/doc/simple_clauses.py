"""Sentences of Docs split into clauses that stand alone: `doc._.simple_clauses` and `sent._.simple_clauses`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span, Token

if TYPE_CHECKING:
    from spacy_lpcfg.queries import ClauseWord, EditRule

_ATTACHED = re.compile(r"[.,;:!?%)\]}]|n['’]t|['’](s|m|re|ve|d|ll)?", re.IGNORECASE)  # to the word before
_OPENING = ("(", "[", "{", "$", "#", "“", "‘")


class ClauseToken(NamedTuple):
    """A word of a clause that stands alone.

    text (str): The word as it is written in the clause.
    token (Token or None): The token of the Doc; None for a word that was added.
    is_copy (bool): Whether the token was copied, so that an earlier clause has it already.
    """

    text: str
    token: Token | None
    is_copy: bool


class SimpleClause(NamedTuple):
    """A clause that stands alone, made from a sentence.

    text (str): The clause as a sentence.
    relation (str): "main", "relative", "participle", "apposition", "parataxis", or its conjunction, such as "because".
    probability (float or None): The lowest posterior probability of the brackets that the splitting rules matched; for
        a sentence that was not split, the probability of its outermost bracket. None if unknown.
    words (tuple of ClauseToken): The words of the clause.
    sent (Span): The sentence that the clause was split from.
    """

    text: str
    relation: str
    probability: float | None
    words: tuple[ClauseToken, ...]
    sent: Span


def doc_simple_clauses(doclike: Doc | Span, rules: Sequence[EditRule] | None = None) -> tuple[SimpleClause, ...]:
    """Split the sentences of a Doc into clauses that stand alone: `doc._.simple_clauses`.

    doclike (Doc or Span): A Doc with trees; or a constituent of one, such as a sentence.
    rules (sequence of EditRule or None): Rules that split sentences; None for the rules of the package, for English.
    RETURNS (tuple of SimpleClause): The clauses of each sentence, in the order of the sentences.
    RAISES (ValueError): If the Doc has no trees, the Span is not a constituent, or the rules do not stop.
    RAISES (RuleError): If a rule cannot be carried out.
    """
    # rules of trees, which parsing does without
    from spacy_lpcfg.components.doc.tree_matcher import constituency_of
    from spacy_lpcfg.queries import split_clauses

    roots = [*constituency_of(doclike)]
    tokens = [token for root in roots for token in root.leaves]
    clauses = split_clauses([root.tree for root in roots], rules, [root.scores for root in roots])
    return tuple(
        SimpleClause(
            "".join(_text(words)), clause.relation, clause.probability, words, root.span.doc[root.start : root.end]
        )
        for root, of_root in zip(roots, clauses, strict=True)
        for clause in of_root
        for words in [tuple(_tokens(clause.words, tokens))]
    )


def _tokens(words: Sequence[ClauseWord], tokens: Sequence[Token]) -> Iterator[ClauseToken]:
    for text, position, is_copy in words:
        yield ClauseToken(text, None if position is None else tokens[position], is_copy)


def _text(words: Sequence[ClauseToken]) -> Iterator[str]:
    """Yield the words, and the white space between them: as in the Doc for neighbouring tokens, otherwise by rules."""
    for word, after in zip(words, [*words[1:], None], strict=True):
        yield word.text
        if after is None:
            return
        if word.token is not None and after.token is not None and after.token.i == word.token.i + 1:
            yield word.token.whitespace_
        elif not _ATTACHED.fullmatch(after.text) and word.text not in _OPENING:
            yield " "
