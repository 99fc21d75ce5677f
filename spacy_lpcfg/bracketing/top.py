"""The top bracket: where a sentence falls in two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy_lpcfg.bracketing.sentences import FINITE_VERB, NOUN, SEPARATOR, VERB, Plain, Token

_VERBS = (VERB, FINITE_VERB)


def heuristic_split(sentence: Plain) -> int:
    """The paper's rule (section 4.1), among the words without punctuation; 0 for a sentence of less than two words.

    1. At the last comma, semicolon or colon that has a verb before it, and a noun and a verb after that one after it.
    2. Otherwise before the first verb that is no participle, as far as the tags tell.
    3. Otherwise, and where these leave nothing on one side, after the first word.
    """
    n = len(sentence.places)
    if n < 2:
        return 0
    at_comma = _last_comma(sentence.tokens)
    split = sum(place < at_comma for place in sentence.places)
    if not 0 < split < n:
        kinds = [sentence.tokens[place].kind for place in sentence.places]
        split = kinds.index(FINITE_VERB) if FINITE_VERB in kinds else 0
    return split if 0 < split < n else 1


def _last_comma(tokens: Sequence[Token]) -> int:
    """Place of the comma of rule 1, or 0."""
    kinds = [token.kind for token in tokens]
    first_verb = next((place for place, kind in enumerate(kinds) if kind in _VERBS), len(kinds))
    sees_verb = sees_clause = False
    for place in range(len(kinds) - 1, first_verb, -1):
        if kinds[place] == SEPARATOR and sees_clause:
            return place
        sees_verb |= kinds[place] in _VERBS
        sees_clause |= sees_verb and kinds[place] == NOUN
    return 0


def oracle_split(n: int, gold: Iterable[tuple[int, int]]) -> int:
    """For experiments: the top bracket by the tree itself, among n words; 0 for less than two.

    gold (iterable of (int, int)): spans of the tree, over words without punctuation. The split is after the widest
    span that begins the sentence or before the widest one that ends it, whichever is wider; after the first word
    if there are none.
    """
    spans = [span for span in gold if 0 < span[1] - span[0] < n and (span[0] == 0 or span[1] == n)]
    if n < 2 or not spans:
        return min(1, max(n - 1, 0))
    start, end = max(spans, key=lambda span: (span[1] - span[0], span[0]))
    return end if start == 0 else start
