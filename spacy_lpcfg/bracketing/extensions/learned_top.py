"""Learned rule for the top split: the finite verb, or clause boundary, before which a sentence is divided in two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing.extensions.symbols import N_SYMBOLS
from spacy_lpcfg.bracketing.paper.top import VERBS, comma_split, finite_verbs
from spacy_lpcfg.bracketing.sentences import SEPARATOR, UNIVERSAL_IDS, Plain

_SUBJECTS = tuple(UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN", "PRON"))
_LEAST_CUE = -1.0
_PRIOR = 2.0  # pseudo-count by which each of the two distributions of cues is smoothed with the other one


class TopScores(NamedTuple):
    """A learned rule for the top split: divide a sentence at a clause boundary, or before the highest-scoring verb.

    values (float32, (2 * N_SYMBOLS,)): Log-likelihood ratio of each cue, in nats:
        ln P(cue | only finite verb of its sentence) - ln P(cue | one of several verbs). The cue of a verb is the
        symbol before it, and whether punctuation is between them; the function `cue` returns its index.
    first (float): Bonus that is added to the score of the first verb.
    """

    values: np.ndarray
    first: float

    def split(self, sentence: Plain, symbols: bytes) -> int:
        """Return the word position before which to split a sentence; 0 if no finite verb follows the first word.

        sentence (Plain): The sentence without punctuation; positions count its words.
        symbols (bytes): The symbols of its words, from `Symbols.encode`.
        """
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
        """Return the position of the word after the last clause boundary at a comma, semicolon or colon; 0 if none.

        A mark is a clause boundary if
        - there is a verb before it;
        - after it there is a subject (the next noun or pronoun), and after the subject a finite verb;
        - the cue of this verb scores `_LEAST_CUE` or more (cues such as relative pronouns score less).
        Differs from rule 1 of `heuristic_split` in this score, and in that pronouns can be subjects.
        """
        for split in reversed(_separated(sentence)):
            subject = next(
                (k for k in range(split, len(sentence.positions)) if sentence.universal[k] in _SUBJECTS), None
            )
            if subject is None or not any(is_verb(sentence, k) for k in range(split)):
                continue
            verb = next((verb for verb in verbs if verb > subject), None)
            if verb is not None and self.values[cue(sentence, symbols, verb)] >= _LEAST_CUE:
                return split
        return 0


def is_verb(sentence: Plain, k: int) -> bool:
    """Return whether the word at position k is a verb of any form."""
    return sentence.tokens[sentence.positions[k]].kind in VERBS


def _separated(sentence: Plain) -> list[int]:
    """Return the positions of words, except for the first, that follow a comma, semicolon or colon."""
    positions, tokens = sentence.positions, sentence.tokens
    return [
        k
        for k in range(1, len(positions))
        if positions[k] > positions[k - 1] + 1
        and any(token.kind == SEPARATOR for token in tokens[positions[k - 1] + 1 : positions[k]])
    ]


def cue(sentence: Plain, symbols: bytes, verb: int) -> int:
    """Return the cue of a verb as an index into `TopScores.values`.

    A cue is the symbol of the word before the verb, and whether there is punctuation between the two.

    sentence (Plain): The sentence without punctuation.
    symbols (bytes): The symbols of its words, from `Symbols.encode`.
    verb (int): Position of the verb among the words, above 0.
    """
    return 2 * symbols[verb - 1] + (sentence.segments[verb] != sentence.segments[verb - 1])


def learn_top(sentences: Iterable[tuple[Plain, bytes]], *, first: float = 2.0) -> TopScores:
    """Learn `TopScores`: the log-odds of each cue (see `cue`) to stand before the only verb of a sentence.

    Cues of the only finite verb of a sentence are compared with cues of the verbs in sentences with several.

    sentences (iterable of (Plain, bytes)): Sentences, and the symbols of their words, from `Symbols.encode`.
    first (float): Bonus of the first verb, see `TopScores`.
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
        (counts + _PRIOR * other) / (counts.sum() + _PRIOR)
        for counts, other in zip((only, several), shares[::-1], strict=True)
    ]
    return TopScores(np.log(chances[0] / chances[1]).astype(np.float32), first)
