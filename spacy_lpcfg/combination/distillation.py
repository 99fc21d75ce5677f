"""Models that have learned from another: from trees that it gave to raw text.

Self-training with a better teacher (McClosky et al. 2006; Hinton et al. 2015, "Distilling the knowledge in a neural
network"): a student parses at its own cost, has much of the teacher's accuracy, and has seen many more words than the
treebank has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Protocol, TypeAlias, cast

from spacy_lpcfg.combination.combined import Combined
from spacy_lpcfg.combination.learner import Combination, MemberLearner, MirroredLearner, StraightLearner
from spacy_lpcfg.combination.members import Member, Mirrored, Straight
from spacy_lpcfg.combination.parsed_text import most_certain, parse_text
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.learning.base import MANY_TREES, OnStep, has_functions
from spacy_lpcfg.learning.lexicon.lexical import count_words
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, ReadingSettings, reading_of
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import join
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.parsing.model import ParsingModel, check_temperature
from spacy_lpcfg.stacking.learner import StackedLearner
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.trees.transforms import mirror, normalize_rooted
from spacy_lpcfg.trees.tree import Tree


class Teacher(Protocol):
    """A learner of any kind."""

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Member | Combined: ...


class GrammarLearner(ReadingSettings, Protocol):
    """A learner that takes a treebank as it was read."""

    def fit(
        self,
        trees: Iterable[Tree] | IndexedTreebank,
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> Grammar | Ensemble: ...


Student: TypeAlias = MemberLearner | Combination
"""A learner of a grammar, an ensemble, a network, a mirror image of these, or a combination."""

TAUGHT = 1.4
"""The temperature of a grammar that has learned from parsed text: in the trees of one teacher all is more regular."""


@dataclass(frozen=True)
class Distillation:
    """Learner that learns from trees, and from text as another learner's model parses it.

    teacher (Teacher): learner of what parses the text: a grammar, an ensemble, a network or a combination.
    student (Student): learner of the same kinds, from both; the members of a combination learn each by itself.
    text (iterable of sequence of str): sentences as words, in the treebank's tokens; read once for every `fit`.
    weight (int or None): how often a tree of the treebank counts, where one of the text counts once; None for as often
        as makes the treebank a third of all words, but at least once. Words are no more frequent for that.
    max_words (int): longer sentences are left out, as are those of one word.
    share (float): of the parsed sentences, those of which the teacher is most certain, by the mean posterior of a
        tree's brackets: its expected precision. 1 for all.
    n_jobs (int): threads that parse the text; the result is the same for any number.
    temperature (float or None): of what is learned; None for `TAUGHT` of a grammar or an ensemble, for that of its
        learner of a combination, and for the one that the span layer has found of a model with one.
    student_of_many (Student or None): in place of the student where the treebank has more than 7,000 trees; None for
        the same one.
    RAISES (ValueError): For a weight or length below 1, a share that is not above 0 and at most 1, or a temperature
        that is not finite and above 0.
    """

    teacher: Teacher
    student: Student
    text: Iterable[Sequence[str]]
    weight: int | None = None
    max_words: int = 40
    share: float = 1.0
    n_jobs: int = 1
    temperature: float | None = None
    student_of_many: Student | None = None

    def __post_init__(self) -> None:
        if (self.weight is not None and self.weight < 1) or self.max_words < 1:
            raise ValueError(f"Expected weight and max_words of at least 1, got {self.weight} and {self.max_words}.")
        if not 0 < self.share <= 1:
            raise ValueError(f"Expected a share above 0 and at most 1, got {self.share}.")
        if self.temperature is not None:
            check_temperature(self.temperature)
        has_functions(self.teacher, self.student, self.student_of_many or self.student)

    @property
    def functions(self) -> bool:
        return has_functions(self.teacher, self.student)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Learn from trees.

        trees (Iterable[Tree]): read once; raw or normalised.
        held_out (Iterable[Tree] or None): trees by which teacher and student choose the best step, if they go by steps.
        on_step (callable or None): called with the steps of the student, if that is one learner by EM.
        RETURNS (Grammar, Ensemble or Combined): a network is a combination of one.
        RAISES (ValueError): If there are none, or the text has no sentence that the teacher can parse.
        """
        text = iter(self.text)
        first = list(islice(text, 1))  # a file that is not there is told of before the teacher learns
        normalized = partial(normalize_rooted, functions=self.functions)
        golds = [tree for tree in map(normalized, trees) if tree is not None]
        kept = None if held_out is None else list(held_out)
        model = as_learned(self.teacher.fit(golds, held_out=kept))
        parsed = list(parse_text(model, chain(first, text), self.max_words, n_jobs=self.n_jobs))
        if not parsed:
            raise ValueError(
                f"Expected text with sentences of 2 to {self.max_words} words, got none that the teacher can parse."
            )
        certain = [each.tree for each in most_certain(parsed, self.share)]
        return self.learn(golds, certain, held_out=kept, on_step=on_step)

    def learn(
        self,
        golds: Sequence[Tree],
        parsed: Sequence[Tree],
        *,
        held_out: Sequence[Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """The student's model of normalised trees of both kinds; its classifier is of the treebank's alone."""
        weight = self.weight or max(1, round(sum(map(len, parsed)) / (2 * sum(map(len, golds)))))
        student = self.student_of_many if self.student_of_many and len(golds) > MANY_TREES else self.student
        model = as_learned(Lessons(golds, parsed, weight, held_out, on_step).teach(student))
        own = TAUGHT if isinstance(model, Grammar | Ensemble) else model.temperature
        return replace(model, temperature=own if self.temperature is None else self.temperature)


def as_learned(model: Member | Combined) -> Grammar | Ensemble | Stacked | Combined:
    """A network, or a mirror image, as a combination of one; anything else as it is."""
    return Combined((model,), (1.0,)) if isinstance(model, ISBN | Mirrored) else model


@dataclass(frozen=True, eq=False)
class Lessons:
    """What students learn from.

    golds, parsed (sequence of Tree): of the treebank and of the text, normalised, with their root labels.
    weight (int): how often a tree of the treebank counts.
    held_out (sequence of Tree or None): trees by which a student that goes by steps chooses the best one.
    on_step (callable or None): called with the steps of a student that is one learner by EM.
    """

    golds: Sequence[Tree]
    parsed: Sequence[Tree]
    weight: int
    held_out: Sequence[Tree] | None = None
    on_step: OnStep | None = None

    def teach(self, student: Student) -> Member | Combined:
        """What a student learns."""
        if isinstance(student, Combination):
            silent = replace(self, on_step=None)
            calls = ((silent, learner) for learner in student.learners)
            return student.combine(list(in_order(Lessons._member, calls, n_jobs=student.n_jobs)))
        return self._member(student)

    def _member(self, student: MemberLearner) -> Member:
        if not isinstance(student, MirroredLearner):
            return self._straight(student)
        golds, parsed = ([mirror(tree) for tree in trees] for trees in (self.golds, self.parsed))
        kept = None if self.held_out is None else [mirror(tree) for tree in self.held_out]
        return Mirrored(Lessons(golds, parsed, self.weight, kept, self.on_step)._straight(student.backwards))

    def _straight(self, student: StraightLearner) -> Straight:
        """A network sees the treebank as often as it would alone: it passes over all the fewer times.

        A span layer is of the treebank alone, read by models that have not learned from the text.
        """
        if isinstance(student, StackedLearner):
            model = self._straight(cast(StraightLearner, student.learner))
            return student.over(cast(Grammar | Ensemble, model), self.golds)
        if not isinstance(student, ISBNLearner):
            learner = cast(GrammarLearner, student)
            treebank = self._treebank(learner)
            return cast(Straight, learner.fit(treebank, held_out=self.held_out, on_step=self.on_step))
        repeats = [self.weight] * len(self.golds) + [1] * len(self.parsed)
        patient = replace(student, n_epochs=max(1, round(student.passes(len(self.golds)) / self.weight)))
        return patient.fit([*self.golds, *self.parsed], held_out=self.held_out, repeats=repeats)

    def _treebank(self, reading: ReadingSettings) -> IndexedTreebank:
        certain, uncertain = (
            read_skeletons(trees, reading_of(reading), n_jobs=reading.n_jobs) for trees in (self.golds, self.parsed)
        )
        nodes = join([certain] * self.weight + [uncertain])
        words = count_words(certain) + count_words(uncertain)
        return IndexedTreebank.of(nodes, reading.lexical, word_counts=words, n_classified=len(certain.roots))
