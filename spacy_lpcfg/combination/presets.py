"""Parsers by name, for those who would rather not choose learners.

The presets are the fastest parser, the most accurate one, and one between; beside them stand an ensemble of diverse
grammars, and one grammar that several have taught.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from spacy_lpcfg.blocks import Text
from spacy_lpcfg.checks import check_one_of
from spacy_lpcfg.combination.distillation import TAUGHT, Distillation
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.ensemble import DIVERSE, Ensembles
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings, signatures_of
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.stacking.learner import StackedLearner

TEMPERATURES = MappingProxyType({"fast": TAUGHT, "balanced": 0.9, "accurate": 0.75})
"""What the models of presets have as `temperature` (`evaluation/calibration.py`): one grammar is too sure of itself,
most so of what a teacher has taught it, and the mean of several models doubts a little too much."""
_MANY_STATES: int = DIVERSE["n_states"]  # of a grammar that others help


def fast(
    text: Text,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    lexical: LexicalSettings | None = None,
    span_layer: bool = True,
    functions: bool = False,
) -> Distillation:
    """Return the learner of one pivot grammar that two diverse grammars each way teach from raw text.

    The grammar has 24 states or, of more than 7,000 trees, 32, and learns from sentences of 2 to 30 words.

    text (iterable of sequence of str): Sentences as words, as in `Distillation`.
    seed (int): Different seeds have no member in common.
    n_jobs (int): As in `Combination` and `Distillation`.
    lang (str): Language, table or file of the head rules, see `head_rules`.
    lexical (LexicalSettings or None): Of the grammars, whose word classes the networks have too; None for signatures
        of unknown words that suit `lang`.
    span_layer (bool): Whether the grammar gets a span layer, learned over grammars of the treebank alone.
    functions (bool): Whether categories have their functions, as NP-SBJ.
    """
    lexical = lexical or _suiting(lang)
    settings: dict[str, Any] = {"lang": lang, "lexical": lexical, "functions": functions, "seed": seed}
    teacher = Combination.both_ways(Ensembles.diverse(2, **settings), n_jobs=n_jobs)
    few = Pivot(n_states=_FAST_STATES, n_jobs=n_jobs, **settings)
    many = replace(few, n_states=_FAST_STATES_OF_MANY)
    student: Learner = few
    student_of_many: Learner = many
    if span_layer:
        student = StackedLearner(few, n_jobs=n_jobs)
        student_of_many = StackedLearner(many, jackknifed=few, n_jobs=n_jobs)
    return Distillation(teacher, student, text, max_words=_FAST_WORDS, n_jobs=n_jobs, student_of_many=student_of_many)


def balanced(
    text: Text | None = None,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    lexical: LexicalSettings | None = None,
    span_layer: bool = True,
    functions: bool = False,
) -> Combination:
    """Return the learner of a pivot grammar and a network each way.

    text (iterable of sequence of str or None): With a text the grammar is that of the fast preset.
    span_layer (bool): Whether the grammar has a span layer. Without a layer and a text there is a grammar each way.
    seed, n_jobs, lang, lexical, functions: As for `fast`.
    """
    lexical = lexical or _suiting(lang)
    network = ISBNLearner(seed=seed, word_classes=lexical.word_classes, functions=functions)
    pivot = Pivot(seed=seed, lang=lang, lexical=lexical, functions=functions)
    settings: dict[str, Any] = {"temperature": TEMPERATURES["balanced"], "lattice": _LATTICES["balanced"]}
    settings |= {"beam": _BEAMS["balanced"], "n_jobs": n_jobs}
    if text is None and not span_layer:
        return Combination.both_ways(pivot, network, **settings)
    grammar: Learner = StackedLearner(pivot, n_folds=_FOLDS)
    if text is not None:
        of_text: dict[str, Any] = {"span_layer": span_layer, "functions": functions}
        grammar = fast(text, seed=seed, n_jobs=n_jobs, lang=lang, lexical=lexical, **of_text)
    return Combination((grammar, network, MirroredLearner(network)), **settings)


def accurate(
    text: Text | None = None,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    lexical: LexicalSettings | None = None,
    functions: bool = False,
) -> Combination | Distillation:
    """Return the learner of diverse grammars, four or, of more than 7,000 trees, two, and of two networks each way.

    text (iterable of sequence of str or None): With a text all learn a second time, from what they say of it too.
    seed, n_jobs, lang, lexical, functions: As for `fast`.
    """
    lexical = lexical or _suiting(lang)
    grammars = Ensembles.diverse(None, seed=2 * seed, lang=lang, lexical=lexical, functions=functions)
    network = ISBNLearner(word_classes=lexical.word_classes, functions=functions)
    networks = [replace(network, seed=2 * seed + i) for i in range(2)]
    models = Combination.both_ways(
        grammars,
        *networks,
        beam=_BEAMS["accurate"],
        n_jobs=n_jobs,
        temperature=TEMPERATURES["accurate"],
        lattice=_LATTICES["accurate"],
    )
    return models if text is None else Distillation(models, models, text, n_jobs=n_jobs)


def both_ways(
    n_grammars: int = 8,
    n_states: int = _MANY_STATES,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    lang: str = "en",
    lexical: LexicalSettings | None = None,
    functions: bool = False,
) -> Combination:
    """Return the learner of two diverse ensembles, one of which reads from right to left.

    n_grammars (int): Grammars of both ensembles together.
    n_states (int): The maximum number of latent states of a symbol.
    seed, lang, lexical, functions: As for `fast`.
    n_jobs (int or None): As in `Pivot`.
    RAISES (ValueError): If `n_grammars` is no multiple of 4.
    """
    if n_grammars < 4 or n_grammars % 4:
        raise ValueError(f"Expected n_grammars to be a multiple of 4 (two kinds, each way), got {n_grammars}.")
    settings = {"n_states": n_states, "n_jobs": n_jobs, "lang": lang, "functions": functions}
    return Combination.both_ways(
        Ensembles.diverse(n_grammars // 2, seed=seed, lexical=lexical or _suiting(lang), **settings)
    )


def distilled(
    text: Text,
    teacher: str = "ensemble",
    n_grammars: int | None = None,
    n_states: int = _MANY_STATES,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    lexical: LexicalSettings | None = None,
    functions: bool = False,
) -> Distillation:
    """Return the learner of one pivot grammar that learns from what a teacher says of a text, too.

    text (iterable of sequence of str): Sentences as words, as in `Distillation`.
    teacher (str): What parses the text: "ensemble" for `both_ways`, or the preset "balanced" or "accurate".
    n_grammars (int or None): Grammars of the teacher "ensemble"; None for its default.
    n_states (int): The maximum number of latent states of a symbol of the grammar, and of those of the ensemble.
    seed, n_jobs, lang, lexical, functions: As for `fast`.
    RAISES (ValueError): On another teacher, or for a number of grammars of a preset.
    """
    check_one_of("teacher", teacher, TEACHERS)
    lexical = lexical or _suiting(lang)
    settings: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "lang": lang, "functions": functions}
    settings["lexical"] = lexical
    student = Pivot(n_states=n_states, **settings)
    if teacher == TEACHERS[0]:
        size: dict[str, Any] = {} if n_grammars is None else {"n_grammars": n_grammars}
        return Distillation(both_ways(n_states=n_states, **size, **settings), student, text, n_jobs=n_jobs)
    if n_grammars is not None:
        raise ValueError(f"Expected no n_grammars, for which the {teacher} teacher has no use; got {n_grammars}.")
    return Distillation(PRESETS[teacher](**settings), student, text, n_jobs=n_jobs)


PRESETS: Mapping[str, Callable[..., Combination | Distillation]] = MappingProxyType(
    {"fast": fast, "balanced": balanced, "accurate": accurate}
)
"""The functions that make the learners of presets, by name."""
TEACHERS = ("ensemble", "balanced", "accurate")
"""What may parse the raw text that `distilled` learns from."""


def preset(name: str, **settings: Any) -> Combination | Distillation:
    """Return the learner of a preset.

    name (str): One of `PRESETS`.
    settings: Arguments of the function that makes it, such as `text`, `seed` and `n_jobs`.
    RAISES (ValueError): On another name, or if the fast preset has no text.
    """
    check_one_of("a preset", name, PRESETS)
    if name == "fast" and settings.get("text") is None:
        raise ValueError(
            "Expected a text for the preset 'fast', whose grammar learns from what others say of it; got none: "
            "give raw text, or take another preset."
        )
    return PRESETS[name](**settings)


def _suiting(lang: str) -> LexicalSettings:
    return LexicalSettings(signatures=signatures_of(lang))


_BEAMS = {"balanced": 20, "accurate": 50}
_LATTICES = {
    "balanced": LatticeSettings(),
    "accurate": LatticeSettings(width=20, nats=8.0),
}
_FOLDS = 3  # of the balanced one, whose span layer then takes no longer to learn than a network
_FAST_STATES, _FAST_STATES_OF_MANY = 24, 32  # a student has more to learn from than the treebank
_FAST_WORDS = 30  # longer sentences take a third of the time, and teach no more
