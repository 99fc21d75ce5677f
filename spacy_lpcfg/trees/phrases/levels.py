"""Levels of attachment: which projection of a head, such as its noun phrase or its clause, a dependent joins."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from spacy_lpcfg.trees.phrases.words import SUBJECTS, Words


class Level(IntEnum):
    """The projections of a head, innermost first.

    BASE: A verb phrase, an adjective phrase, or a noun phrase without modifiers after the noun.
    PHRASE: A noun phrase with modifiers after the noun.
    CASE: A phrase with an adposition.
    VERBAL: A verb phrase with auxiliaries, with a copula, or with a mark of infinitives.
    CLAUSE: A clause with its subject.
    LINK: A clause with its subordinating conjunction, or its relative or interrogative phrase.
    OUTSIDE: A phrase after its coordinating conjunction; this is no phrase of its own.
    """

    BASE = 0
    PHRASE = 1
    CASE = 2
    VERBAL = 3
    CLAUSE = 4
    LINK = 5
    OUTSIDE = 6


_IN_BASE_NP = frozenset(("flat", "compound", "fixed", "goeswith", "nummod", "det", "clf"))
_OF_PREDICATES = frozenset(
    ("obj", "iobj", "obl", "advmod", "advcl", "ccomp", "xcomp", "discourse", "vocative", "parataxis", "orphan")
)
_LOOSELY_JOINED = frozenset(("parataxis", "discourse", "vocative", "dislocated", "list"))
_ADVERBIAL = frozenset(("advmod", "advcl", "obl"))
_FULL_CLAUSES = frozenset(("root", "ccomp", "parataxis"))
_NOT_NOMINAL = frozenset(("ADJ", "ADV", "INTJ", "ADP", "PART", "SCONJ"))


def levels(words: Words, head: int, side: Sequence[int]) -> list[Level]:
    """Return the level of attachment of each dependent on one side of a head: which projection of the head it joins.

    From the head outwards levels never decrease, so that phrases are contiguous. An adverbial before a verb joins
    the clause, unless a dependent farther out joins a smaller projection, such as the verb phrase.

    words (Words): The sentence.
    head (int): The position of the head.
    side (sequence of int): The positions of the dependents on the side, the nearest first.
    RETURNS (list of Level): The level of each dependent in `side`.
    """
    natural = [_level(words, child, head) for child in side]
    farther_out = Level.CLAUSE
    for i in reversed(range(len(side))):
        if natural[i] == Level.BASE and _is_before_verb(words, side[i], head):
            natural[i] = farther_out
        farther_out = min(natural[i], Level.CLAUSE)
    lowest = Level.BASE
    for i, level in enumerate(natural):
        if level == Level.LINK and _has_subject_before(words, side[i], side[i + 1 :]):
            level = Level.CLAUSE  # no conjunction, but an adverb, such as Chinese 也
        if level == Level.LINK and side[i] > head and any(other <= Level.CASE for other in natural[i + 1 :]):
            level = Level.BASE  # a part of the verb, such as Chinese 为
        natural[i] = lowest = max(lowest, level)
    return natural


def _is_before_verb(words: Words, child: int, head: int) -> bool:
    """Return whether a dependent is an adverbial that stands before a verb and may join the verb's clause.

    A bare adverb before a subordinate verb without subject and auxiliary may not, as in "by quickly leaving".
    """
    if child > head or words.relation(child) not in _ADVERBIAL or not (words.is_verb(head) and words.is_clause(head)):
        return False
    is_alone = not (words.has_subject(head) or words.has_verb_phrase(head) or words.relation(head) in _FULL_CLAUSES)
    return not (is_alone and words.relation(child) == "advmod" and not words.below[child])


def _has_subject_before(words: Words, mark: int, farther_out: Sequence[int]) -> bool:
    """Return whether a subordinating conjunction comes after the subject of its clause."""
    relations = [words.relation(child) for child in farther_out if child < mark]
    return words.relation(mark) == "mark" and "cop" not in relations and not SUBJECTS.isdisjoint(relations)


def _level(words: Words, child: int, head: int) -> Level:
    """Return the level of a dependent, without regard to the other dependents on its side."""
    relation, is_clause = words.relation(child), words.is_clause(head)
    if relation == "conj":
        return _conjunct_level(words, child, head)
    if relation == "cc":
        if words.full_relation(child) == "cc:preconj" and words.conjuncts(head):
            return min(_conjunct_level(words, conjunct, head) for conjunct in words.conjuncts(head))
        return Level.OUTSIDE if words.relation(head) == "conj" else Level.CLAUSE if is_clause else Level.PHRASE
    if relation == "reparandum" and not is_clause:
        return Level.OUTSIDE
    if words.makes_verb_phrase(child):
        return Level.VERBAL
    if relation == "mark":
        return Level.LINK if is_clause else Level.CASE
    if is_clause and child < head and words.is_wh(child):
        return Level.LINK
    if is_clause and relation in ("nsubj", "csubj") and child > head and words.has(head, "expl"):
        return Level.BASE if words.is_verb(head) else Level.VERBAL
    if is_clause and (relation in SUBJECTS or relation in _LOOSELY_JOINED):
        return Level.CLAUSE
    if words.is_verb(head):
        return Level.BASE
    return _nominal_level(words, child, head)


def _nominal_level(words: Words, child: int, head: int) -> Level:
    """Return the level of a dependent of a head that is no verb."""
    relation, is_nominal = words.relation(child), words.part(head) not in _NOT_NOMINAL
    if relation == "case":
        return Level.BASE if words.tag(child) == "POS" else Level.CASE
    if relation in _OF_PREDICATES and words.is_clause(head):
        if child > head:
            return Level.VERBAL if is_nominal or relation in ("advmod", "advcl") else Level.BASE
        is_outer = is_nominal or words.part(child) == "PART"
        if _has_auxiliary(words, head, child + 1, head) or (is_outer and _has_auxiliary(words, head, 0, child)):
            return Level.VERBAL
        return Level.BASE
    if child > head and relation in ("acl", "advcl") and words.is_wh(head):
        return Level.PHRASE  # the clause of a free relative, as in "what we said"
    if child > head and relation == "advcl" and words.part(head) == "ADV" and words.has(head, "advmod"):
        return Level.PHRASE  # as in "as long as it rains"
    if words.is_name(child) or words.is_date_part(child, head) or words.is_end_of_range(child, head):
        return Level.BASE
    if not is_nominal or child < head or relation in _IN_BASE_NP or (relation == "amod" and not words.below[child]):
        return Level.BASE
    return Level.PHRASE


def _has_auxiliary(words: Words, head: int, start: int, end: int) -> bool:
    """Return whether an auxiliary, a copula or "to" among the words [start, end) depends on a head."""
    return any(start <= child < end and words.makes_verb_phrase(child) for child in words.below[head])


def _conjunct_level(words: Words, conjunct: int, head: int) -> Level:
    """Return the level at which a conjunct is coordinated with the first conjunct, its head."""
    conjuncts = words.conjuncts(head)
    are_bare = all(map(words.is_bare_conjunct, conjuncts))
    if are_bare and words.part(head) == "ADJ":
        return Level.BASE
    if words.is_clause(conjunct):
        if words.has_subject(conjunct):
            return Level.LINK if words.has_link(head) and words.has_link(conjunct) else Level.CLAUSE
        is_whole = words.has_verb_phrase(conjunct) or not words.is_clause(head)
        return Level.VERBAL if is_whole else Level.BASE
    if words.has(conjunct, "case") and words.has(head, "case"):
        return Level.CASE
    is_list = len(words.below[head]) == len(conjuncts) and words.part(head) != "NUM"
    has_conjunction = any(words.has(other, "cc") for other in conjuncts)
    is_flat = are_bare and has_conjunction and (is_list or len(conjuncts) == 1)
    return Level.BASE if is_flat else Level.PHRASE
