"""Parsers by name, for those who would rather not choose learners.

The presets are the fastest parser, the most accurate one, and one between; beside them stand an ensemble of diverse
grammars, and one grammar that several have taught. Each is a dataclass of settings that makes its learner.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from spacy_lpcfg.blocks import UNSET, Block, Text, make_blocks
from spacy_lpcfg.checks import check_one_of
from spacy_lpcfg.combination.distillation import TAUGHT, Distillation
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.ensemble import DIVERSE, Ensembles
from spacy_lpcfg.learning.induction import Induction
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings, signatures_of
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.stacking.learner import StackedLearner


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings that make a learner of several models.

    seed (int): Seed of all that is random; different seeds have no member in common.
    lang (str): Language, table or file of the head rules, see `head_rules`.
    lexical (LexicalSettings): Settings of the grammars' terminals, whose word classes the networks have too; by default
        signatures of unknown words suit `lang`.
    functions (bool): Whether categories have their functions, as NP-SBJ.
    """

    seed: int = 0
    lang: str = "en"
    lexical: Block[LexicalSettings] = UNSET
    functions: bool = False

    def __post_init__(self) -> None:
        make_blocks(self, lexical=LexicalSettings(signatures=signatures_of(self.lang)))

    def learner(self) -> Learner:
        """Return the learner that these settings make."""
        raise NotImplementedError

    @property
    def _of_grammars(self) -> dict[str, Any]:
        """The settings that all grammars share."""
        return {"lang": self.lang, "lexical": self.lexical, "functions": self.functions}

    def _network(self, seed: int) -> ISBNLearner:
        """Return the learner of a network with the same word classes."""
        return ISBNLearner(
            seed=seed, lexical=ISBNLexical(word_classes=self.lexical.word_classes), functions=self.functions
        )


@dataclass(frozen=True, kw_only=True)
class Preset(Recipe):
    """Settings of a preset.

    n_jobs (int): As in `Combination` and `Distillation`; the result is the same for any number.
    temperature (float, of the class): The `temperature` of the models (`evaluation/calibration.py`). One grammar is too
        sure of itself, most so of what a teacher has taught it, and the mean of several models doubts a little too
        much.
    """

    n_jobs: int = 1
    temperature: ClassVar[float]

    def learner(self) -> Combination | Distillation:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fast(Preset):
    """One pivot grammar that two diverse grammars each way teach from raw text.

    The grammar has 24 states or, of more than 7,000 trees, 32: a student has more to learn from than the treebank. It
    learns from sentences of 2 to 30 words: longer ones take a third of the time, and teach no more.

    text (iterable of sequence of str): Sentences as words, as in `Distillation`.
    span_layer (bool): Whether the grammar gets a span layer, learned over grammars of the treebank alone.
    """

    temperature: ClassVar[float] = TAUGHT
    text: Text
    span_layer: bool = True

    def learner(self) -> Distillation:
        n_jobs = self.n_jobs
        teacher = Combination.both_ways(Ensembles.diverse(2, seed=self.seed, **self._of_grammars), n_jobs=n_jobs)
        few = Pivot(n_states=24, seed=self.seed, n_jobs=n_jobs, **self._of_grammars)
        student: Learner = few
        student_of_many: Learner = replace(few, n_states=32)
        if self.span_layer:
            student_of_many = StackedLearner(student_of_many, jackknifed=few, n_jobs=n_jobs)
            student = StackedLearner(few, n_jobs=n_jobs)
        return Distillation(teacher, student, self.text, max_words=30, n_jobs=n_jobs, student_of_many=student_of_many)


@dataclass(frozen=True, kw_only=True)
class Balanced(Preset):
    """A pivot grammar and a network each way.

    text (iterable of sequence of str or None): With a text the grammar is that of the fast preset.
    span_layer (bool): Whether the grammar has a span layer. Without a layer and a text there is a grammar each way.
    """

    temperature: ClassVar[float] = 0.9
    text: Text | None = None
    span_layer: bool = True

    def learner(self) -> Combination:
        network = self._network(self.seed)
        together: dict[str, Any] = {"beam": 20, "n_jobs": self.n_jobs, "temperature": self.temperature}
        pivot = Pivot(seed=self.seed, **self._of_grammars)
        if self.text is None and not self.span_layer:
            return Combination.both_ways(pivot, network, **together)
        # with 3 folds a span layer takes no longer to learn than a network
        grammar: Learner = StackedLearner(pivot, n_folds=3)
        if self.text is not None:
            grammar = Fast(**vars(self)).learner()
        return Combination((grammar, network, MirroredLearner(network)), **together)


@dataclass(frozen=True, kw_only=True)
class Accurate(Preset):
    """Four diverse grammars (two of more than 7,000 trees) and two networks, all of them each way.

    text (iterable of sequence of str or None): With a text all learn a second time, from what they say of it too.
    """

    temperature: ClassVar[float] = 0.75
    text: Text | None = None

    def learner(self) -> Combination | Distillation:
        models = Combination.both_ways(
            Ensembles.diverse(None, seed=2 * self.seed, **self._of_grammars),
            *(self._network(2 * self.seed + i) for i in range(2)),
            beam=50,
            n_jobs=self.n_jobs,
            temperature=self.temperature,
            lattice=LatticeSettings(width=20, nats=8.0),
        )
        return models if self.text is None else Distillation(models, models, self.text, n_jobs=self.n_jobs)


@dataclass(frozen=True, kw_only=True)
class BothWays(Recipe):
    """Two diverse ensembles, one of which reads from right to left.

    n_grammars (int): Grammars of both ensembles together.
    n_states (int): The maximum number of latent states of a symbol.
    n_jobs (int or None): As in `Pivot`.
    RAISES (ValueError): If `n_grammars` is no multiple of 4.
    """

    n_grammars: int = 8
    n_states: int = DIVERSE["n_states"]
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_grammars < 4 or self.n_grammars % 4:
            raise ValueError(f"Expected n_grammars to be a multiple of 4 (two kinds, each way), got {self.n_grammars}.")

    def learner(self) -> Combination:
        settings = {"n_states": self.n_states, "seed": self.seed, "n_jobs": self.n_jobs, **self._of_grammars}
        return Combination.both_ways(Ensembles.diverse(self.n_grammars // 2, **settings))


@dataclass(frozen=True, kw_only=True)
class Induced(Recipe):
    """A pivot grammar of trees that nobody annotated, such as a bracketer's.

    n_states (int): The maximum number of latent states of a symbol.
    n_rounds (int): As in `Induction`.
    n_jobs (int or None): As in `Pivot`.
    """

    n_states: int = 16
    n_rounds: int = 2
    n_jobs: int | None = None

    def learner(self) -> Induction:
        grammar = Pivot(n_states=self.n_states, seed=self.seed, n_jobs=self.n_jobs, **self._of_grammars)
        return Induction(grammar, self.n_rounds)


@dataclass(frozen=True, kw_only=True)
class Distilled(Preset):
    """One pivot grammar that learns from what a teacher says of a text, too.

    text (iterable of sequence of str): Sentences as words, as in `Distillation`.
    teacher (str): What parses the text: "ensemble" for `BothWays`, or the preset "balanced" or "accurate".
    n_grammars (int or None): Grammars of the teacher "ensemble"; None for its default.
    n_states (int): The maximum number of latent states of a symbol of the grammar, and of those of the ensemble.
    RAISES (ValueError): If there is no such teacher, or if a preset is given a number of grammars.
    """

    text: Text
    teacher: str = "ensemble"
    n_grammars: int | None = None
    n_states: int = DIVERSE["n_states"]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_one_of("teacher", self.teacher, TEACHERS)
        if self.n_grammars is not None and self.teacher != "ensemble":
            raise ValueError(
                f"Expected no n_grammars, for which the {self.teacher} teacher has no use; got {self.n_grammars}."
            )

    def learner(self) -> Distillation:
        settings: dict[str, Any] = {"seed": self.seed, "n_jobs": self.n_jobs, **self._of_grammars}
        student = Pivot(n_states=self.n_states, **settings)
        if self.teacher == "ensemble":
            settings["n_states"] = self.n_states
            settings |= {} if self.n_grammars is None else {"n_grammars": self.n_grammars}
        teacher = TEACHERS[self.teacher](**settings).learner()
        return Distillation(teacher, student, self.text, n_jobs=self.n_jobs)


PRESETS: Mapping[str, type[Preset]] = MappingProxyType({"fast": Fast, "balanced": Balanced, "accurate": Accurate})
"""The settings of presets, by name."""
TEACHERS: Mapping[str, type[Recipe]] = MappingProxyType(
    {"ensemble": BothWays, "balanced": Balanced, "accurate": Accurate}
)
"""The teachers of `Distilled`, by name."""


def preset(name: str, **settings: Any) -> Combination | Distillation:
    """Return the learner of a preset.

    name (str): One of `PRESETS`.
    settings: Fields of its class there, such as `text`, `seed` and `n_jobs`.
    RAISES (ValueError): If there is no such preset, or if the fast preset has no text.
    """
    check_one_of("a preset", name, PRESETS)
    if name == "fast" and settings.get("text") is None:
        raise ValueError(
            "Expected a text for the preset 'fast', whose grammar learns from what others say of it; got none: "
            "give raw text, or take another preset."
        )
    return PRESETS[name](**settings).learner()
