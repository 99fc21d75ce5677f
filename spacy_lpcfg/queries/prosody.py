"""Prosodic trees of sentences by Gee and Grosjean's phi algorithm, and the salience of the boundaries in them.

Gee and Grosjean (1983), "Performance structures: A psycholinguistic and linguistic appraisal", Cognitive Psychology 15,
in the form that Bachenko and Fitzpatrick (1990), "A computational grammar of discourse-neutral prosodic phrasing in
English", Computational Linguistics 16(3), give it: their rules (24) and (34), the length rules of section 2.2.2, and
the indices of section 3.2. Phonological phrases are merged in this order:

1. those within one noun, prepositional, adjective or adverb phrase that has no verb;
2. each verb V, between X and Y, with one neighbour: (XV)Y if X and V have fewer phonological words than Y, else X(VY)
   (verb balancing);
3. the result with the verb's other neighbour (verb adjacency);
4. the phrases between two pauses or coordinators, from left to right;
5. these parts of the sentence, from left to right.

The index of a phonological phrase is its number of phonological words. The index of a merged phrase is one more than
the sum of the indices of its two parts; a single word that follows a phrase with a verb in step 4 does not raise it.
The salience of a boundary is the index of the smallest phrase that has words on both sides of it.

The paper leaves open what is decided here: verbs that follow each other directly are merged before step 2, as in its
examples (30), unless a clause ends between them; step 2 merges no X and V between which a clause ends; a verb with
nothing else to its right waits for step 3; and steps 1 to 4 cross no pause or coordinator (its section 2.2.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class PhonologicalPhrase(NamedTuple):
    """A phonological phrase: the properties that decide with which neighbour it is merged.

    n_words (int): The number of its phonological words, at least 1.
    is_verbal (bool): Whether it has a main verb.
    is_first (bool): Whether it begins the sentence, follows a pause, or begins with a coordinator.
    is_after_clause (bool): Whether a clause ends before it.
    """

    n_words: int
    is_verbal: bool
    is_first: bool
    is_after_clause: bool


class _Phrase(NamedTuple):
    """A merged phrase: a range [start, end) of phonological phrases, with the properties of `PhonologicalPhrase`.

    strength (int): The index of the merged phrase.
    waits_for_right (bool): Whether step 2 merged a verb with its left neighbour, so that step 3 takes the right one.
    """

    start: int
    end: int
    strength: int
    n_words: int
    is_verbal: bool
    is_after_clause: bool
    waits_for_right: bool = False


def saliences(phrases: Sequence[PhonologicalPhrase], constituents: Iterable[tuple[int, int]]) -> list[int]:
    """Return the salience of the boundary after each phonological phrase; for the last one, the index of the sentence.

    phrases (sequence of PhonologicalPhrase, (n_phrases,)): The phonological phrases of a sentence, at least one;
        `is_first` holds for the first one.
    constituents (iterable of (int, int)): Ranges [start, end) of phonological phrases that are a noun, prepositional,
        adjective or adverb phrase, in pre-order. Constituents with a verb, or over a pause or coordinator, are ignored.
    RETURNS (list of int, (n_phrases,)): The saliences.
    """
    tree = _ProsodicTree(len(phrases))
    single = [
        _Phrase(i, i + 1, phrase.n_words, phrase.n_words, phrase.is_verbal, phrase.is_after_clause)
        for i, phrase in enumerate(phrases)
    ]
    inside = [
        (start, end)
        for start, end in constituents
        if not any(phrase.is_verbal for phrase in phrases[start:end])
        and not any(phrase.is_first for phrase in phrases[start + 1 : end])
    ]
    merged = tree.merge_constituents(single, inside)
    firsts = [i for i, phrase in enumerate(phrases) if phrase.is_first]
    parts = [
        tree.merge_part([phrase for phrase in merged if start <= phrase.start < end])
        for start, end in zip(firsts, [*firsts[1:], len(phrases)], strict=True)
    ]
    tree.saliences[-1] = tree.merge_all(parts).strength
    return tree.saliences


class _ProsodicTree:
    """A builder of the prosodic tree of a sentence: each merge sets the salience of one boundary."""

    def __init__(self, n_phrases: int) -> None:
        self.saliences = [0] * n_phrases

    def merge(self, left: _Phrase, right: _Phrase, *, keep_index: bool = False) -> _Phrase:
        """Merge two adjacent phrases, and set the salience of the boundary between them to the index of the result.

        keep_index (bool): Whether the result has the index of `left`, instead of the sum of both indices plus 1.
        """
        strength = left.strength if keep_index else left.strength + right.strength + 1
        self.saliences[right.start - 1] = strength
        is_verbal = left.is_verbal or right.is_verbal
        n_words = left.n_words + right.n_words
        return _Phrase(left.start, right.end, strength, n_words, is_verbal, left.is_after_clause)

    def merge_all(self, phrases: Sequence[_Phrase]) -> _Phrase:
        """Merge phrases from left to right."""
        whole, *others = phrases
        for other in others:
            whole = self.merge(whole, other)
        return whole

    def merge_constituents(self, phrases: list[_Phrase], ranges: Sequence[tuple[int, int]]) -> list[_Phrase]:
        """Merge the phrases within each constituent, given as ranges, inner constituents first (step 1)."""
        for start, end in reversed(ranges):
            inside = [phrase for phrase in phrases if start <= phrase.start < end]
            at = phrases.index(inside[0])
            phrases = [*phrases[:at], self.merge_all(inside), *phrases[at + len(inside) :]]
        return phrases

    def merge_part(self, phrases: Sequence[_Phrase]) -> _Phrase:
        """Merge the phrases between two pauses or coordinators (steps 2 to 4)."""
        whole, *others = self._apply_adjacency(self._balance(list(self._merge_verbs(phrases))))
        for other in others:
            is_short = whole.is_verbal and not other.is_verbal and other.n_words == 1
            whole = self.merge(whole, other, keep_index=is_short)
        return whole

    def _merge_verbs(self, phrases: Sequence[_Phrase]) -> Iterator[_Phrase]:
        """Merge verbs that follow each other directly; yield them and the other phrases in order."""
        before: _Phrase | None = None
        for phrase in phrases:
            if before is not None and before.is_verbal and phrase.is_verbal and not phrase.is_after_clause:
                before = self.merge(before, phrase)
                continue
            if before is not None:
                yield before
            before = phrase
        if before is not None:
            yield before

    def _balance(self, phrases: list[_Phrase]) -> list[_Phrase]:
        """Merge each verb with one neighbour by the rule of verb balancing (step 2)."""
        done: list[_Phrase] = []
        waiting = phrases[::-1]
        while waiting:
            phrase = waiting.pop()
            can_go_left = bool(done) and not phrase.is_after_clause
            if not phrase.is_verbal or not waiting or waiting[-1].is_verbal:
                done.append(phrase)
            elif can_go_left and done[-1].n_words + phrase.n_words < waiting[-1].n_words:
                done[-1] = self.merge(done[-1], phrase)._replace(waits_for_right=True)
            else:
                done.append(self.merge(phrase, waiting.pop()))
        return done

    def _apply_adjacency(self, phrases: Sequence[_Phrase]) -> list[_Phrase]:
        """Merge each phrase that has a verb with its other neighbour by the rule of verb adjacency (step 3)."""
        done: list[_Phrase] = []
        for phrase in phrases:
            if done and (done[-1].waits_for_right or (phrase.is_verbal and not phrase.waits_for_right)):
                done[-1] = self.merge(done[-1], phrase)
            else:
                done.append(phrase)
        return done
