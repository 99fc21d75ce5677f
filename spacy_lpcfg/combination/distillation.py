"""Models that have learned from another: from trees that it gave to raw text.

Self-training with a better teacher (McClosky et al. 2006; Hinton et al. 2015, "Distilling the knowledge in a neural
network"): a student parses at its own cost, has much of the teacher's accuracy, and has seen many more words than the
treebank has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from spacy_lpcfg.chart.ensemble import parser_of as chart_parser_of
from spacy_lpcfg.chart.nearest import nearest_parse
from spacy_lpcfg.chart.parser import Settings
from spacy_lpcfg.combination.combined import Combined, Learned, known_words
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.combination.members import Member, Mirrored
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.isbn.parser import BeamSettings
from spacy_lpcfg.learning.assembly import Reading, Treebank
from spacy_lpcfg.learning.lexical import count_words
from spacy_lpcfg.learning.shards import read_skeletons
from spacy_lpcfg.learning.skeletons import join
from spacy_lpcfg.trees.parse import PARSED, Parse
from spacy_lpcfg.trees.transforms import escape_tokens, mirror, normalize_rooted
from spacy_lpcfg.trees.tree import Tree


class Teacher(Protocol):
    """A learner of any kind."""

    def fit(self, trees: Iterable[Tree]) -> Member | Combined: ...


class GrammarLearner(Reading, Protocol):
    """A learner that takes a treebank as it was read."""

    def fit(self, trees: Iterable[Tree] | Treebank) -> Grammar | Ensemble: ...


Student: TypeAlias = GrammarLearner | ISBNLearner | MirroredLearner | Combination


@dataclass(frozen=True)
class Distillation:
    """Learner that learns from trees, and from text as another learner's model parses it.

    teacher (Teacher): learner of what parses the text: a grammar, an ensemble, a network or a combination.
    student (Student): learner of the same kinds, from both; the members of a combination learn each by itself.
    text (iterable of sequence of str): sentences as words, in the treebank's tokens; read once for every `fit`.
    weight (int or None): how often a tree of the treebank counts, where one of the text counts once; None for as often
        as makes the treebank a third of all words, but at least once. Words are no more frequent for that.
    most_words (int): longer sentences are left out, as are those of one word.
    share (float): of the parsed sentences, those of which the teacher is most certain, by the mean posterior of a
        tree's brackets: its expected precision. 1 for all.
    n_jobs (int): threads that parse the text; the result is the same for any number.
    RAISES (ValueError): For a weight or length below 1, or a share that is not above 0 and at most 1.
    """

    teacher: Teacher
    student: Student
    text: Iterable[Sequence[str]]
    weight: int | None = None
    most_words: int = 40
    share: float = 1.0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        if (self.weight is not None and self.weight < 1) or self.most_words < 1:
            raise ValueError(f"Expected weight and most_words of at least 1, got {self.weight} and {self.most_words}.")
        if not 0 < self.share <= 1:
            raise ValueError(f"Expected a share above 0 and at most 1, got {self.share}.")

    def fit(self, trees: Iterable[Tree]) -> Member | Combined:
        """Learn from trees.

        trees (Iterable[Tree]): read once; raw or normalised.
        RAISES (ValueError): If there are none, or the text has no sentence that the teacher can parse.
        """
        golds = [tree for tree in map(normalize_rooted, trees) if tree is not None]
        model = self.teacher.fit(golds)
        parsed = list(parse_text(model, self.text, self.most_words, n_jobs=self.n_jobs))
        if not parsed:
            raise ValueError(
                f"Expected text with sentences of 2 to {self.most_words} words, got none that the teacher can parse."
            )
        return self.learn(golds, [each.tree for each in most_certain(parsed, self.share)])

    def learn(self, golds: Sequence[Tree], parsed: Sequence[Tree]) -> Member | Combined:
        """The student's model of normalised trees of both kinds; its classifier is of the treebank's alone."""
        weight = self.weight or max(1, round(sum(map(len, parsed)) / (2 * sum(map(len, golds)))))
        return Lessons(golds, parsed, weight).teach(self.student)


class ScoredTree(NamedTuple):
    """A tree with the treebank's root label, and the mean posterior of its brackets."""

    tree: Tree
    certainty: float


def parse_text(
    model: Member | Combined, text: Iterable[Sequence[str]], most_words: int, *, n_jobs: int = 1
) -> Iterator[ScoredTree]:
    """The trees of those sentences that a model can parse.

    Those of a combination are the nearest of its first grammar, so that students have no rules to learn that the
    treebank lacks.

    text (iterable of sequence of str): sentences as words; most_words (int): of a sentence that is not left out.
    n_jobs (int): threads, as of joblib.
    """
    from joblib import Parallel, delayed

    learned = Combined((model,), (1.0,)) if isinstance(model, ISBN | Mirrored) else model
    parse, known, root_label = _parse_by(learned), known_words(learned), learned.root_label
    kept = (escape_tokens(words, known=known) for words in text if 1 < len(words) <= most_words)
    for found in Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(map(delayed(parse), kept)):
        if found is not None and found.status == PARSED and len(found.spans):
            yield ScoredTree(Tree(root_label, (found.tree,)), float(found.span_scores.mean()))


def _parse_by(learned: Learned) -> Callable[[Sequence[str]], Parse | None]:
    """How a model parses text: faster than a user would have it, as there is much of it."""
    if not isinstance(learned, Combined):
        return chart_parser_of(learned, settings=_FAST).parse
    parser = CombinedParser(learned, settings=_FAST, beam_settings=_NARROW)
    grammars = [member for member in learned.members if isinstance(member, Grammar | Ensemble)]
    if not grammars:
        return parser.parse
    chart = chart_parser_of(grammars[0], settings=_FAST)
    cost = learned.bracket_cost
    return lambda words: nearest_parse(chart, words, parser.posteriors(words), bracket_cost=cost)


def most_certain(parsed: Sequence[ScoredTree], share: float) -> list[ScoredTree]:
    """The share of trees that are the most certain, at least one, in the order they came."""
    order = np.argsort([-each.certainty for each in parsed], kind="stable")
    return [parsed[i] for i in np.sort(order[: max(1, round(share * len(parsed)))])]


_FAST = Settings(tag_threshold=1e-3, boundary_threshold=0.005, cascade=1e-3)
_NARROW = BeamSettings(beam=10)


@dataclass(frozen=True, eq=False)
class Lessons:
    """What students learn from.

    golds, parsed (sequence of Tree): of the treebank and of the text, normalised, with their root labels.
    weight (int): how often a tree of the treebank counts.
    """

    golds: Sequence[Tree]
    parsed: Sequence[Tree]
    weight: int

    def teach(self, student: Student) -> Member | Combined:
        """What a student learns.

        A network sees the treebank as often as it would alone: it passes over all trees `n_epochs / weight` times.
        """
        if isinstance(student, Combination):
            return student.combine([self.teach(learner) for learner in student.learners])
        if isinstance(student, MirroredLearner):
            golds, parsed = ([mirror(tree) for tree in trees] for trees in (self.golds, self.parsed))
            return Mirrored(Lessons(golds, parsed, self.weight).teach(student.learner))
        if isinstance(student, ISBNLearner):
            repeats = [self.weight] * len(self.golds) + [1] * len(self.parsed)
            patient = replace(student, n_epochs=max(1, round(student.n_epochs / self.weight)))
            return patient.fit([*self.golds, *self.parsed], repeats=repeats)
        return student.fit(self._treebank(student))

    def _treebank(self, reading: Reading) -> Treebank:
        certain, uncertain = (
            read_skeletons(trees, lang=reading.lang, markov=reading.markov, n_jobs=reading.n_jobs)
            for trees in (self.golds, self.parsed)
        )
        nodes = join([certain] * self.weight + [uncertain])
        words = count_words(certain) + count_words(uncertain)
        return Treebank.of(nodes, reading.lexical, word_counts=words, n_classified=len(certain.roots))
