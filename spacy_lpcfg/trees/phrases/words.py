"""The words of a sentence without its punctuation, with queries about their relations."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spacy_lpcfg.trees.dependency_sentences import DependencySentence

STRANDED = "case:stranded"
"""The relation of an adposition whose noun phrase is elsewhere, as in "What is it for"."""
SUBJECTS = frozenset(("nsubj", "csubj", "expl"))
UNMARKED = frozenset(("nmod:desc", "nmod:unmarked", "nmod:tmod", "nmod:npmod"))
"""Relations of nouns that depend on others without an adposition."""
_AUXILIARIES = frozenset(("aux", "cop"))
_VERBS = frozenset(("VERB", "AUX"))
_WH_TAGS = frozenset(("WDT", "WP", "WP$", "WRB"))
_WH_FEATURE = re.compile(r"PronType=(?:[A-Za-z,]*,)?(?:Int|Rel)\b")
_BEFORE_WH = frozenset(("det", "nmod", "advmod", "amod"))


@dataclass(frozen=True)
class Words:
    """The words of a sentence without its punctuation; a word is identified by its position among them.

    sentence (DependencySentence): The words with their dependencies, which are projective and have one root.
    below (list of list of int): The dependents of each word, from left to right.
    bracketed (frozenset of int): The words whose phrases stand in parentheses in the text.
    after_marks (frozenset of int): The words with punctuation right before them.
    is_question (bool): Whether there is a question mark in the sentence.
    """

    sentence: DependencySentence
    below: list[list[int]]
    bracketed: frozenset[int]
    after_marks: frozenset[int]
    is_question: bool

    def relation(self, word: int) -> str:
        """Return the relation of a word without its subtype: "acl" for "acl:relcl"."""
        return self.sentence.relations[word].partition(":")[0]

    def full_relation(self, word: int) -> str:
        return self.sentence.relations[word]

    def part(self, word: int) -> str:
        """Return the universal part of speech of a word."""
        return self.sentence.parts_of_speech[word]

    def tag(self, word: int) -> str:
        """Return the language-specific tag (XPOS) of a word; "" if there is none."""
        return self.sentence.tags[word] or ""

    def has(self, word: int, *relations: str) -> bool:
        """Return whether a word has a dependent with one of the relations."""
        return any(self.relation(child) in relations for child in self.below[word])

    def conjuncts(self, word: int) -> list[int]:
        return [child for child in self.below[word] if self.relation(child) == "conj"]

    def is_bare_conjunct(self, word: int) -> bool:
        """Return whether a word has no dependents but conjunctions (cc)."""
        return all(self.relation(child) == "cc" for child in self.below[word])

    def is_name(self, word: int) -> bool:
        """Return whether a word is a name right after the noun that it names, as Ann in "my friend Ann"."""
        if self.relation(word) != "appos" or self.part(word) != "PROPN":
            return False
        is_flat = all(self.relation(child) in ("flat", "compound") for child in self.below[word])
        return is_flat and min([word, *self.below[word]]) not in self.after_marks

    def is_date_part(self, word: int, head: int) -> bool:
        """Return whether a word depends on a number without an adposition, as in "31 October" and "4 pm"."""
        return self.full_relation(word) in UNMARKED and self.part(head) == "NUM"

    def is_end_of_range(self, word: int, head: int) -> bool:
        """Return whether a word is the second number of a range, as in "2 to 3"."""
        relations = [self.relation(child) for child in self.below[word]]
        return self.part(word) == self.part(head) == "NUM" and relations == ["case"]

    def has_subject(self, word: int) -> bool:
        return self.has(word, *SUBJECTS)

    def is_verb(self, word: int) -> bool:
        return self.part(word) in _VERBS

    def is_clause(self, word: int) -> bool:
        """Return whether a word heads a clause: as a verb, or as a predicate with a subject or a copula."""
        if self.relation(word) == "amod":
            return False
        return self.is_verb(word) or self.has(word, "nsubj", "csubj", "cop", "aux")

    def is_infinitive_mark(self, word: int) -> bool:
        """Return whether a word marks an infinitive, as English "to" and German "zu"."""
        return self.relation(word) == "mark" and (self.part(word) == "PART" or self.tag(word) == "TO")

    def makes_verb_phrase(self, word: int) -> bool:
        """Return whether a word adds a verb phrase around its head: an auxiliary, a copula, or infinitival "to"."""
        return self.relation(word) in _AUXILIARIES or self.is_infinitive_mark(word)

    def has_verb_phrase(self, word: int) -> bool:
        return any(map(self.makes_verb_phrase, self.below[word]))

    def is_wh(self, word: int) -> bool:
        """Return whether a word, or a modifier before it in its phrase, is relative or interrogative."""
        stack = [word]
        while stack:
            top = stack.pop()
            if self.tag(top) in _WH_TAGS or _WH_FEATURE.search(self.sentence.features[top]):
                return True
            if not self.is_clause(top):
                stack += [child for child in self.below[top] if child < top and self.relation(child) in _BEFORE_WH]
        return False

    def has_link(self, word: int) -> bool:
        """Return whether a clause begins with a subordinating conjunction, or a relative or interrogative phrase."""
        return any(
            not self.makes_verb_phrase(child) if self.relation(child) == "mark" else self.is_wh(child)
            for child in self.below[word]
            if child < word
        )
