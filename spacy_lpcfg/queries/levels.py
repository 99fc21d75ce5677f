"""Levels of the prosodic boundaries between words, from chunks and dependencies (Abney 1992).

Abney (1992), "Prosodic structure, performance structure and phrase structure", Speech and Natural Language: Proceedings
    of a Workshop, section 3. The level is 3 between clauses and 2 between chunks. It is lower where a verb or noun
    licenses the phrase that follows it, between a subject and its verb, and where a weak word leans on its neighbour.

Decided here, where the paper leaves it open or has it otherwise:

- SBAR and the S in it are one clause. A relative clause is restrictive unless a punctuation mark stands before it.
- A preposition or conjunction before a clause is phonologically weak. A weak word leans on the verb before it if it is
  an object pronoun or a particle, and otherwise on the word after it.
- No dependency weakens a boundary at a pause.
"""

from __future__ import annotations

from spacy_lpcfg.queries.chunks import COORDINATORS, Chunk, ClauseTree, Gap, is_dependent

_INVERTED = frozenset({"SQ", "SINV"})
_PRONOUNS = frozenset({"PRP", "EX", "PRON"})
_PARTICLES = frozenset({"RP"})
_RELATIVES = frozenset({"WDT", "WP", "WP$", "WRB"})
_WEAK = _PRONOUNS | _PARTICLES | _RELATIVES | COORDINATORS | {"ADP", "IN", "MD", "PART", "SCONJ", "TO"}
_NOMINAL = frozenset({"NP", "WHNP", "NX", "NAC"})


def boundary_levels(sentence: ClauseTree) -> list[int]:
    """Return the level, 0 to 3, of the boundary after each word but the last, list of int (n_words - 1,)."""
    clauses = [node for node in sentence.nodes if node.is_clause]
    inner = {child for node in clauses if node.label in ("SBAR", "SBARQ") for child in node.children}
    starts = {node.start for node in clauses if node not in inner}
    return [_level(sentence, i, i + 1 in starts) for i in range(len(sentence.gaps))]


def _level(sentence: ClauseTree, i: int, begins_clause: bool) -> int:
    """Return the level of the boundary after word `i`, which is followed by a new clause if `begins_clause`."""
    left, right, gap = sentence.chunks[i], sentence.chunks[i + 1], sentence.gaps[i]
    ends_clause = i + 1 in sentence.clause_ends
    unweakened = 3 if begins_clause or ends_clause else 2
    if gap.is_pause:
        return unweakened
    if left is right or (_leans_right(sentence, left) and not ends_clause):
        return 0
    if gap.node.is_clause:
        return 1 if _is_subject_and_verb(sentence, i) else unweakened
    if not is_dependent(gap.node, gap.child) or not _is_adjacent(sentence, i, gap.node.head):
        return unweakened
    if gap.node.label == "VP":
        return 0 if _leans_left(sentence, right) else 1
    return unweakened - _is_of_noun(sentence, gap)


def _is_of_noun(sentence: ClauseTree, gap: Gap) -> bool:
    """Return whether a gap separates a noun from an of-phrase or a clause that follows in its noun phrase."""
    child = gap.node.children[gap.child]
    is_of = child.label == "PP" and sentence.words[child.start].lower() == "of"
    return gap.node.label in _NOMINAL and (is_of or child.is_clause)


def _is_subject_and_verb(sentence: ClauseTree, i: int) -> bool:
    """Return whether word `i` heads a subject, and its verb phrase follows, perhaps after an adverb."""
    children, at = sentence.gaps[i].node.children, sentence.gaps[i].child
    subject, verb = children[at - 1], children[at]
    is_verb = verb.label == "VP" or (verb.label == "ADVP" and sentence.chunks[verb.start].is_verbal)
    return is_verb and subject.label in _NOMINAL and subject.head == i


def _is_adjacent(sentence: ClauseTree, i: int, governor: int) -> bool:
    """Return whether the governor is word `i`, or is word `i - 1` and word `i` leans on it."""
    return governor == i or (governor == i - 1 and _leans_left(sentence, sentence.chunks[i]))


def _leans_left(sentence: ClauseTree, chunk: Chunk) -> bool:
    return chunk.governor is not None and _is_one(sentence, chunk, _PRONOUNS | _PARTICLES)


def _leans_right(sentence: ClauseTree, chunk: Chunk) -> bool:
    is_inverted = chunk.is_verbal and sentence.gaps[chunk.end - 1].node.label in _INVERTED
    is_weak = _is_one(sentence, chunk, _WEAK) or (is_inverted and chunk.end - chunk.start == 1)
    return is_weak and not _leans_left(sentence, chunk)


def _is_one(sentence: ClauseTree, chunk: Chunk, tags: frozenset[str]) -> bool:
    """Return whether a chunk is a single word whose tag is in `tags`."""
    return chunk.end - chunk.start == 1 and sentence.tags[chunk.start] in tags
