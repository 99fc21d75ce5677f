"""The top bracket: where a sentence falls in two. By the paper's rule, by a learned one, or by the tree itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.sentences import FINITE_VERB, NOUN, SEPARATOR, UNIVERSAL_IDS, VERB, Plain, Token, plain
from spacy_lpcfg.bracketing.symbols import N_SYMBOLS

_VERBS = (VERB, FINITE_VERB)
_SUBJECTS = tuple(UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN", "PRON"))
_LEAST_CUE = -1.0


def top_split(words: Sequence[str], tags: Sequence[str]) -> int | None:
    """The paper's top bracket of a sentence, among its words without punctuation; None for less than two of them.

    RAISES (ValueError): If there are not as many tags as words.
    """
    return heuristic_split(plain(words, tags)) or None


def heuristic_split(sentence: Plain) -> int:
    """The paper's rule (section 4.1), among the words without punctuation; 0 for a sentence of less than two words.

    1. At the last comma, semicolon or colon that has a verb before it, and a noun and a verb after that one after it.
    2. Otherwise before the first verb that is no participle, as far as the tags tell.
    3. Otherwise, and where these leave nothing on one side, after the first word.
    """
    if len(sentence.places) < 2:
        return 0
    verbs = finite_verbs(sentence)
    return comma_split(sentence) or (verbs[0] if verbs and verbs[0] > 0 else 1)


def comma_split(sentence: Plain) -> int:
    """Rule 1 of `heuristic_split`; 0 where it does not apply."""
    at_comma = _last_comma(sentence.tokens)
    split = sum(place < at_comma for place in sentence.places) if at_comma else 0
    return split if split < len(sentence.places) else 0


def finite_verbs(sentence: Plain) -> list[int]:
    """Places of the verbs that are no participles, among the words."""
    tokens = sentence.tokens
    return [k for k, place in enumerate(sentence.places) if tokens[place].kind == FINITE_VERB]


def _last_comma(tokens: Sequence[Token]) -> int:
    """Place of the comma of rule 1, or 0."""
    kinds = [token.kind for token in tokens]
    if SEPARATOR not in kinds:
        return 0
    first_verb = next((place for place, kind in enumerate(kinds) if kind in _VERBS), len(kinds))
    sees_verb = sees_clause = False
    for place in range(len(kinds) - 1, first_verb, -1):
        if kinds[place] == SEPARATOR and sees_clause:
            return place
        sees_verb |= kinds[place] in _VERBS
        sees_clause |= sees_verb and kinds[place] == NOUN
    return 0


class TopScores(NamedTuple):
    """A learned rule: of several verbs, before which one does the sentence fall in two?

    values (float32, (2 * N_SYMBOLS,)): what speaks for a verb by the symbol before it, and by whether there is
        punctuation between them: logarithm of how much more often such a verb is its sentence's only one.
    first (float): what speaks for the first verb beside that.
    """

    values: np.ndarray
    first: float

    def split(self, sentence: Plain, symbols: bytes) -> int:
        """The top bracket; 0 for one that is left to the scores of spans, since there is no verb to go by."""
        verbs = finite_verbs(sentence)
        at_comma = self._clause(sentence, symbols, verbs)
        if at_comma:
            return at_comma
        verbs = [verb for verb in verbs if verb > 0]
        if len(verbs) < 2:
            return verbs[0] if verbs else 0
        scores = [float(self.values[cue(sentence, symbols, verb)]) for verb in verbs]
        scores[0] += self.first
        return verbs[scores.index(max(scores))]

    def _clause(self, sentence: Plain, symbols: bytes, verbs: Sequence[int]) -> int:
        """The last comma, semicolon or colon after a verb, and before a noun or pronoun that has its own verb; or 0.

        That is the next finite verb after it, unless what stands before that is rare before a sentence's only verb,
        as is a relative pronoun. Differs from the paper's first rule in this, and in counting pronouns.
        """
        for split in reversed(_separated(sentence)):
            subject = next((k for k in range(split, len(sentence.places)) if sentence.universal[k] in _SUBJECTS), None)
            if subject is None or not any(is_verb(sentence, k) for k in range(split)):
                continue
            verb = next((verb for verb in verbs if verb > subject), None)
            if verb is not None and self.values[cue(sentence, symbols, verb)] >= _LEAST_CUE:
                return split
        return 0


def is_verb(sentence: Plain, k: int) -> bool:
    """Whether a word is a verb of any form."""
    return sentence.tokens[sentence.places[k]].kind in _VERBS


def _separated(sentence: Plain) -> list[int]:
    """The words, not the first one, before which a comma, semicolon or colon stands."""
    places, tokens = sentence.places, sentence.tokens
    return [
        k
        for k in range(1, len(places))
        if places[k] > places[k - 1] + 1
        and any(token.kind == SEPARATOR for token in tokens[places[k - 1] + 1 : places[k]])
    ]


def cue(sentence: Plain, symbols: bytes, verb: int) -> int:
    """What stands before a verb: its place in `TopScores.values`."""
    return 2 * symbols[verb - 1] + (sentence.segments[verb] != sentence.segments[verb - 1])


def learn_top(sentences: Iterable[tuple[Plain, bytes]], *, first: float = 2.0, prior: float = 2.0) -> TopScores:
    """Learn from sentences and their symbols: the only verb of a sentence against the verbs of those with more.

    first (float): see `TopScores`.
    prior (float): pseudo-counts of each of the two, distributed as the other.
    """
    only, several = np.zeros(2 * N_SYMBOLS), np.zeros(2 * N_SYMBOLS)
    for sentence, symbols in sentences:
        verbs = finite_verbs(sentence)
        if len(verbs) > 1:
            np.add.at(several, [cue(sentence, symbols, verb) for verb in verbs if verb > 0], 1)
        elif verbs and verbs[0] > 0 and not comma_split(sentence):
            only[cue(sentence, symbols, verbs[0])] += 1
    shares = [(counts + 0.1) / (counts + 0.1).sum() for counts in (only, several)]
    chances = [
        (counts + prior * other) / (counts.sum() + prior)
        for counts, other in zip((only, several), shares[::-1], strict=True)
    ]
    return TopScores(np.log(chances[0] / chances[1]).astype(np.float32), first)


def oracle_split(n: int, gold: Iterable[tuple[int, int]]) -> int:
    """For experiments: the top bracket by the tree itself, among n words; 0 for less than two.

    gold (iterable of (int, int)): spans of the tree, over words without punctuation. It is where fewest of them are
    cut; of several such places the one that makes most of the two halves spans of the tree, and of these the first.
    """
    spans = {(start, end) for start, end in gold if 1 < end - start < n}

    def quality(split: int) -> tuple[int, int]:
        cut = sum(start < split < end for start, end in spans)
        return -cut, ((0, split) in spans) + ((split, n) in spans)

    return max(range(1, n), key=quality, default=0)
