"""The input of a parser: a sentence, with tags, constraints and evidence that are known before parsing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.parsing.evidence import EvidenceSource

Tags = Sequence[str | None]


@dataclass(frozen=True, eq=False)
class Query:
    """One sentence to parse, with everything that is known about it.

    words (sequence of str): The words in treebank spelling, at least one.
    tags (sequence of str or None): Given tags, None for a word without one; None to let the parser tag all words. Tags
        that the model does not know are ignored.
    tag_weight (float): Factor by which all tags but the given one become less likely: 0 takes tags as given, 1 ignores
        them, and values between make them a prior. Networks ignore tags unless it is 0.
    constraints (Constraints): Brackets that the tree must or must not have, and spans that no bracket may cross.
    listed_tags (sequence of sequence of str, or None): The tags that a tag dictionary lists for each word, an empty
        sequence for a word that it lacks; None to look them up in the tag dictionary of the parser, if it has one.
    evidence (EvidenceSource or None): Evidence for the words, such as `Evidence`; None to let the model compute it, if
        it can.
    RAISES (ValueError): If there are no words, if a word is not a string or is empty, if the numbers of words and tags
        differ, or if a constraint is not on a span of the words.
    """

    words: Sequence[str]
    tags: Tags | None = None
    tag_weight: float = 0.0
    constraints: Constraints = NO_CONSTRAINTS
    listed_tags: Sequence[Sequence[str]] | None = None
    evidence: EvidenceSource | None = None

    def __post_init__(self) -> None:
        if not self.words or (self.tags is not None and len(self.tags) != len(self.words)):
            raise ValueError(
                f"Expected at least one word, and a tag or None for each; got {len(self.words)} words and "
                f"{'no' if self.tags is None else len(self.tags)} tags."
            )
        if isinstance(self.words, str) or not all(isinstance(word, str) and word for word in self.words):
            raise ValueError(
                f"Expected a list of words, which are not empty, got {shown(self.words)}: split a sentence into words."
            )
        self.constraints.check(len(self.words))

    @classmethod
    def of(cls, words: Query | Sequence[str]) -> Query:
        """Return a query for bare words; return a query unchanged."""
        return words if isinstance(words, Query) else cls(words)

    @property
    def certain_tags(self) -> Tags | None:
        """The given tags, if the tree must have them; None without tags, or if they are a prior or are ignored."""
        return self.tags if self.tag_weight == 0 else None

    def part(self, start: int, end: int) -> Query:
        """Return the query for the words [start, end), with their tags and evidence, without constraints."""
        tags = None if self.tags is None else self.tags[start:end]
        listed = None if self.listed_tags is None else self.listed_tags[start:end]
        evidence = None if self.evidence is None else self.evidence.part(start, end)
        words = self.words[start:end]
        return Query(words, tags, self.tag_weight, listed_tags=listed, evidence=evidence)

    def free(self) -> Query:
        """Return the query without its constraints."""
        return replace(self, constraints=NO_CONSTRAINTS)
