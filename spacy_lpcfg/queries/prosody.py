"""The prosodic tree of a sentence by Gee and Grosjean's phi algorithm, and how salient its boundaries are.

Gee and Grosjean (1983), "Performance structures: A psycholinguistic and linguistic appraisal", Cognitive Psychology 15,
in the form that Bachenko and Fitzpatrick (1990), "A computational grammar of discourse-neutral prosodic phrasing in
English", Computational Linguistics 16(3), give it: their rules (24) and (34), the length rules of section 2.2.2, and
the indices of section 3.2. Phonological phrases are merged, in this order,

1. within noun, prepositional, adjective and adverb phrases that have no verb;
2. around each verb, to (XV)Y if X and V have fewer phonological words than Y, and otherwise to X(VY);
3. with the verb's other neighbour;
4. with what follows a verb and its neighbours;
5. from left to right.

The index of a merged phrase is one more than the sum of the indices of its two parts; that of a phonological phrase is
its number of phonological words. A single word that follows in step 4 does not raise the index. The salience of a
boundary is the index of the phrase that it divides.

The paper leaves open what is decided here: verbs that follow each other directly are merged before step 2, as in its
examples (30), unless a clause ends between them; step 2 merges no X and V between which a clause ends; a verb with
nothing else to its right waits for step 3; and no step but the last crosses a pause or a coordinator (its section
2.2.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class PhonologicalPhrase(NamedTuple):
    """A phonological phrase.

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
    """Phonological phrases [start, end) that are merged, with their index, `strength`, and number of words."""

    start: int
    end: int
    strength: int
    n_words: int
    is_verbal: bool
    is_after_clause: bool
    waits_for_right: bool = False


def saliences(phrases: Sequence[PhonologicalPhrase], constituents: Iterable[tuple[int, int]]) -> list[int]:
    """Return the salience of the boundary after each phonological phrase, and after the last the index of the sentence.

    phrases (sequence of PhonologicalPhrase): Those of a sentence.
    constituents (iterable of (int, int)): Ranges [start, end) of phonological phrases that are a noun, prepositional,
        adjective or adverb phrase, in pre-order. Those with a verb, or over a pause, are passed over.
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
    items = tree.constituents(single, inside)
    firsts = [i for i, phrase in enumerate(phrases) if phrase.is_first]
    parts = [
        tree.clause([item for item in items if start <= item.start < end])
        for start, end in zip(firsts, [*firsts[1:], len(phrases)], strict=True)
    ]
    tree.saliences[-1] = tree.bundle(parts).strength
    return tree.saliences


class _ProsodicTree:
    """The saliences of boundaries while phrases are merged."""

    def __init__(self, n_phrases: int) -> None:
        self.saliences = [0] * n_phrases

    def merge(self, left: _Phrase, right: _Phrase, *, is_short: bool = False) -> _Phrase:
        strength = left.strength if is_short else left.strength + right.strength + 1
        self.saliences[right.start - 1] = strength
        is_verbal = left.is_verbal or right.is_verbal
        n_words = left.n_words + right.n_words
        return _Phrase(left.start, right.end, strength, n_words, is_verbal, left.is_after_clause)

    def bundle(self, phrases: Sequence[_Phrase]) -> _Phrase:
        """Merge phrases from left to right."""
        whole, *others = phrases
        for other in others:
            whole = self.merge(whole, other)
        return whole

    def constituents(self, phrases: list[_Phrase], ranges: Sequence[tuple[int, int]]) -> list[_Phrase]:
        """Merge the phrases within each range, inner ranges first."""
        for start, end in reversed(ranges):
            inside = [phrase for phrase in phrases if start <= phrase.start < end]
            at = phrases.index(inside[0])
            phrases = [*phrases[:at], self.bundle(inside), *phrases[at + len(inside) :]]
        return phrases

    def clause(self, phrases: Sequence[_Phrase]) -> _Phrase:
        """Merge the phrases between two pauses, by steps 2 to 5."""
        whole: _Phrase | None = None
        for phrase in self._adjacent(self._balanced(list(self._verbs(phrases)))):
            if whole is None:
                whole = phrase
            else:
                is_short = whole.is_verbal and not phrase.is_verbal and phrase.n_words == 1
                whole = self.merge(whole, phrase, is_short=is_short)
        assert whole is not None
        return whole

    def _verbs(self, phrases: Sequence[_Phrase]) -> Iterator[_Phrase]:
        """Yield the phrases, with verbs that follow each other merged."""
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

    def _balanced(self, phrases: list[_Phrase]) -> list[_Phrase]:
        """Merge each verb with a neighbour by the verb balancing rule."""
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

    def _adjacent(self, phrases: Sequence[_Phrase]) -> list[_Phrase]:
        """Merge the phrases that have a verb with the neighbour that is left, by the verb adjacency rule."""
        done: list[_Phrase] = []
        for phrase in phrases:
            if done and (done[-1].waits_for_right or (phrase.is_verbal and not phrase.waits_for_right)):
                done[-1] = self.merge(done[-1], phrase)
            else:
                done.append(phrase)
        return done
