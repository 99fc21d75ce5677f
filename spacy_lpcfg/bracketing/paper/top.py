"""The top split, which divides a sentence in two, by the rules of section 4.1 of Parikh, Cohen and Xing (2014)."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_lpcfg.bracketing.sentences import FINITE_VERB, NOUN, SEPARATOR, VERB, Plain, Token

VERBS = (VERB, FINITE_VERB)


def heuristic_split(sentence: Plain) -> int:
    """Return the word position before which the paper's rules split a sentence in two; 0 for less than two words.

    Positions count the words without punctuation. The sentence is split

    1. at the last comma, semicolon or colon with a verb before it, and a noun followed by a verb after it;
    2. otherwise before the first verb that is not a participle, as far as the tags tell;
    3. otherwise, or if one side would be empty, after the first word.
    """
    if len(sentence.positions) < 2:
        return 0
    verbs = finite_verbs(sentence)
    return comma_split(sentence) or (verbs[0] if verbs and verbs[0] > 0 else 1)


def comma_split(sentence: Plain) -> int:
    """Return the word position before which rule 1 of `heuristic_split` splits; 0 if the rule does not apply."""
    at_comma = _last_comma(sentence.tokens)
    split = sum(position < at_comma for position in sentence.positions) if at_comma else 0
    return split if split < len(sentence.positions) else 0


def finite_verbs(sentence: Plain) -> list[int]:
    """Return the positions, among the words without punctuation, of verbs that are not participles."""
    tokens = sentence.tokens
    return [k for k, position in enumerate(sentence.positions) if tokens[position].kind == FINITE_VERB]


def _last_comma(tokens: Sequence[Token]) -> int:
    """Return the token index of the comma, semicolon or colon at which rule 1 splits; 0 if the rule does not apply."""
    kinds = [token.kind for token in tokens]
    if SEPARATOR not in kinds:
        return 0
    first_verb = next((position for position, kind in enumerate(kinds) if kind in VERBS), len(kinds))
    sees_verb = sees_clause = False
    for position in range(len(kinds) - 1, first_verb, -1):
        if kinds[position] == SEPARATOR and sees_clause:
            return position
        sees_verb |= kinds[position] in VERBS
        sees_clause |= sees_verb and kinds[position] == NOUN
    return 0
