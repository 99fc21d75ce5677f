"""One grammar that has learned from several: from trees that they gave to raw text.

Self-training with a better teacher (McClosky et al. 2006; Hinton et al. 2015, "Distilling the knowledge in a neural
network"): the student parses at the cost of one grammar, and has seen many more words than the treebank has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from spacy_lpcfg.chart.ensemble import parser_of
from spacy_lpcfg.chart.parser import Settings
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.assembly import Reading, Treebank
from spacy_lpcfg.learning.lexical import count_words
from spacy_lpcfg.learning.shards import read_skeletons
from spacy_lpcfg.learning.skeletons import join
from spacy_lpcfg.trees.parse import PARSED
from spacy_lpcfg.trees.transforms import escape_tokens, normalize_rooted
from spacy_lpcfg.trees.tree import Tree


class Teacher(Protocol):
    """A learner of any kind."""

    def fit(self, trees: Iterable[Tree]) -> Grammar | Ensemble: ...


class Student(Reading, Protocol):
    """A learner that takes a treebank as it was read."""

    def fit(self, trees: Iterable[Tree] | Treebank) -> Grammar | Ensemble: ...


@dataclass(frozen=True)
class Distillation:
    """Learner that learns from trees, and from text as another learner's grammar parses it.

    teacher (Teacher): learner of the grammar, or the ensemble, that parses the text.
    student (Student): learner of a grammar, or of an ensemble, from both.
    text (iterable of sequence of str): sentences as words, in the treebank's tokens; read once for every `fit`.
    weight (int or None): how often a tree of the treebank counts, where one of the text counts once; None for as often
        as makes the treebank a third of all words, but at least once. Words are no more frequent for that.
    most_words (int): longer sentences are left out, as are those of one word.
    RAISES (ValueError): For a weight or length below 1.
    """

    teacher: Teacher
    student: Student
    text: Iterable[Sequence[str]]
    weight: int | None = None
    most_words: int = 40

    def __post_init__(self) -> None:
        if (self.weight is not None and self.weight < 1) or self.most_words < 1:
            raise ValueError(f"Expected weight and most_words of at least 1, got {self.weight} and {self.most_words}.")

    def fit(self, trees: Iterable[Tree]) -> Grammar | Ensemble:
        """Learn from trees.

        trees (Iterable[Tree]): read once; raw or normalised.
        RAISES (ValueError): If there are none, or the text has no sentence that the teacher can parse.
        """
        golds = [tree for tree in map(normalize_rooted, trees) if tree is not None]
        parsed = list(parse_text(self.teacher.fit(golds), self.text, self.most_words))
        if not parsed:
            raise ValueError(
                f"Expected text with sentences of 2 to {self.most_words} words, got none that the teacher can parse."
            )
        return self.learn(golds, parsed)

    def learn(self, golds: Sequence[Tree], parsed: Sequence[Tree]) -> Grammar | Ensemble:
        """The student's grammar of normalised trees of both kinds; its classifier is of the treebank's alone."""
        reading = self.student
        certain, uncertain = (
            read_skeletons(trees, lang=reading.lang, markov=reading.markov, n_jobs=reading.n_jobs)
            for trees in (golds, parsed)
        )
        weight = self.weight or max(1, round(len(uncertain.leaves) / (2 * len(certain.leaves))))
        nodes = join([certain] * weight + [uncertain])
        words = count_words(certain) + count_words(uncertain)
        return self.student.fit(Treebank.of(nodes, reading.lexical, word_counts=words, n_classified=len(certain.roots)))


def parse_text(grammar: Grammar | Ensemble, text: Iterable[Sequence[str]], most_words: int) -> Iterator[Tree]:
    """The trees of those sentences that the grammar can parse, with its root label.

    text (iterable of sequence of str): sentences as words; most_words (int): of a sentence that is not left out.
    """
    parser = parser_of(grammar, settings=_FAST)
    for words in text:
        if 1 < len(words) <= most_words:
            parse = parser.parse(escape_tokens(words, known=grammar.lexicon.words))
            if parse.status == PARSED:
                yield Tree(grammar.root_label, (parse.tree,))


_FAST = Settings(tag_threshold=1e-3, boundary_threshold=0.005, cascade=1e-3)
