"""Models that have learned from another: from trees that it gave to raw text.

Self-training with a better teacher (McClosky et al. 2006; Hinton et al. 2015, "Distilling the knowledge in a neural
network"): a student parses at its own cost, has much of the teacher's accuracy, and has seen many more words than the
treebank has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, cast

from spacy_lpcfg.blocks import Text, check_text
from spacy_lpcfg.combination.combined import Combined
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.combination.parsed_text import most_certain, parse_text
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.learning.base import MANY_TREES, Learner, OnStep, has_functions
from spacy_lpcfg.learning.weights import weighted_trees
from spacy_lpcfg.parsing.model import ParsingModel, check_temperature
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.trees.transforms import normalize_rooted
from spacy_lpcfg.trees.tree import Tree

TAUGHT = 1.4
"""The temperature of a grammar that has learned from parsed text: in the trees of one teacher all is more regular."""


@dataclass(frozen=True)
class Distillation:
    """Learner that learns from trees, and from text as another learner's model parses it.

    teacher (Learner): Learner of what parses the text: a grammar, an ensemble, a network or a combination.
    student (Learner): Learner of the same kinds, or of one with a span layer, from both.
    text (iterable of sequence of str): Sentences as words, in the treebank's tokens; read once for every `fit`.
    weight (int or None): How often a tree of the treebank counts, where one of the text counts once; None for as often
        as makes the treebank a third of all words, but at least once. Words are no more frequent for that.
    max_words (int): Longer sentences are left out, as are those of one word.
    share (float): Of the parsed sentences, those of which the teacher is most certain, by the mean posterior of a
        tree's brackets: its expected precision. 1 for all.
    n_jobs (int): Threads that parse the text; the result is the same for any number.
    temperature (float or None): The temperature of the learned model; None for `TAUGHT` if that is a grammar or an
        ensemble, else for the one that the student's learner gives it.
    student_of_many (Learner or None): The student if the treebank has more than 7,000 trees; None for `student`.
    RAISES (ValueError): For a weight or length below 1, a share that is not above 0 and at most 1, or a temperature
        that is not finite and above 0.
    """

    teacher: Learner
    student: Learner
    text: Text
    weight: int | None = None
    max_words: int = 40
    share: float = 1.0
    n_jobs: int = 1
    temperature: float | None = None
    student_of_many: Learner | None = None

    def __post_init__(self) -> None:
        check_text(self.text)
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
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Learn from trees.

        trees (Iterable[Tree]): Read once; raw or normalised.
        held_out (Iterable[Tree] or None): Trees by which teacher and student choose the best step, if they go by steps.
        weights (sequence of float or None): How much each tree counts for the teacher; for the student, the heaviest
            count `weight` times, and others less in proportion. None if all count alike.
        on_step (callable or None): Called with the steps of the student.
        RETURNS (ParsingModel): The student's model; see `as_learned`.
        RAISES (ValueError): If there are no trees, as `weighted_trees`, or if the text has no sentence that the teacher
            can parse.
        """
        text = iter(self.text)
        first = list(islice(text, 1))  # a file that is not there is told of before the teacher learns
        normalized = partial(normalize_rooted, functions=self.functions)
        golds, values = weighted_trees(trees, weights, normalized)
        given = None if values is None else values.tolist()
        held_out_trees = None if held_out is None else list(held_out)
        model = as_learned(self.teacher.fit(golds, held_out=held_out_trees, weights=given))
        parsed = list(parse_text(model, chain(first, text), self.max_words, n_jobs=self.n_jobs))
        if not parsed:
            raise ValueError(
                f"Expected text with sentences of 2 to {self.max_words} words, got none that the teacher can parse."
            )
        certain = [sentence.tree for sentence in most_certain(parsed, self.share)]
        return self.learn(golds, certain, held_out=held_out_trees, weights=given, on_step=on_step)

    def learn(
        self,
        golds: Sequence[Tree],
        parsed: Sequence[Tree],
        *,
        held_out: Sequence[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> ParsingModel:
        """Learn the student's model from annotated and parsed trees, both normalised; `weights` are as for `fit`."""
        weight = self.weight or max(1, round(sum(map(len, parsed)) / (2 * sum(map(len, golds)))))
        student = self.student_of_many if self.student_of_many and len(golds) > MANY_TREES else self.student
        of_golds = [float(weight)] * len(golds) if weights is None else [weight * w / max(weights) for w in weights]
        of_all = of_golds + [_OF_TEXT] * len(parsed)
        model = student.fit([*golds, *parsed], held_out=held_out, weights=of_all, on_step=on_step)
        return _with_temperature(as_learned(model), self.temperature)


_OF_TEXT = 1 - 1e-9
"""The weight of a parsed tree: less than that of any annotated one, even where each of both is read once."""


def _with_temperature(model: ParsingModel, temperature: float | None) -> ParsingModel:
    """Set the temperature of a model that has learned from parsed text; None for the one that suits its kind."""
    if isinstance(model, Stacked):
        model = replace(model, model=replace(model.model, temperature=TAUGHT))
    usual = TAUGHT if isinstance(model, Grammar | Ensemble) else model.temperature
    settings: dict[str, Any] = {"temperature": usual if temperature is None else temperature}
    return replace(cast(Any, model), **settings)


def as_learned(model: ParsingModel) -> ParsingModel:
    """Return a network or a mirrored model as a combination of one member, and any other model as it is."""
    return Combined((model,), (1.0,)) if isinstance(model, ISBN | Mirrored) else model
