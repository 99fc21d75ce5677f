"""Parsers by name, for those who would rather not choose learners: the fastest, the most accurate, and one between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination.distillation import TAUGHT, Distillation
from spacy_lpcfg.combination.learner import Combination, MirroredLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.ensemble import Ensembles
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings, signatures_of
from spacy_lpcfg.learning.pivot import Pivot
from spacy_lpcfg.stacking.learner import StackedLearner
from spacy_lpcfg.words import ClassLearner

PRESETS = ("fast", "balanced", "accurate")
TEMPERATURES = MappingProxyType({"fast": TAUGHT, "balanced": 0.9, "accurate": 0.75})
"""What the models of presets have as `temperature` (`evaluation/calibration.py`): one grammar is too sure of itself,
most so of what a teacher has taught it, and the mean of several models doubts a little too much."""


def preset(
    name: str,
    *,
    text: Iterable[Sequence[str]] | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    word_classes: ClassLearner | None = None,
    span_layer: bool = True,
    signatures: str | None = None,
    functions: bool = False,
) -> Combination | Distillation:
    """The learner of a name.

    name (str): "fast" is one pivot grammar that learns from what two diverse grammars each way say of a text, of its
        sentences of 2 to 30 words, and has 24 states or, of more than 7,000 trees, 32; "balanced" one pivot grammar,
        and one network each way; "accurate" diverse grammars, four or, of more than 7,000 trees, two, and two networks
        each way.
    text (iterable of sequence of str or None): sentences as words, as in `Distillation`. The fast one needs them; with
        them the balanced one has the grammar of the fast one, and the accurate one learns a second time, from what it
        says of them.
    seed (int): different ones have no member in common.
    n_jobs (int): see `Combination` and `Distillation`.
    lang (str): language, table or file of the head rules, see `head_rules`.
    word_classes (ClassLearner or None): of classes that tell of words which the treebank does not have.
    span_layer (bool): whether the grammar of the fast and the balanced one gets a span layer, learned over grammars of
        the treebank alone. Without it the balanced one has a grammar each way.
    signatures (str or None): of unknown words, see `LexicalSettings`; None for those that suit `lang`.
    functions (bool): whether categories have their functions, as NP-SBJ.
    RAISES (ValueError): On another name, or if the fast one has no text.
    """
    if name not in PRESETS:
        raise ValueError(f"Expected a preset of {', '.join(PRESETS)}; got {shown(name)}.")
    if name == "fast" and text is None:
        raise ValueError(
            "Expected a text for the preset 'fast', whose grammar learns from what others say of it; got none: "
            "give raw text, or take another preset."
        )
    lexical = LexicalSettings(word_classes=word_classes, signatures=signatures or signatures_of(lang))
    pivot = Pivot(seed=seed, lang=lang, lexical=lexical, functions=functions)
    taught = None if text is None else _taught(pivot, text, n_jobs=n_jobs, span_layer=span_layer)
    if name == "fast" and taught is not None:
        return taught
    network = ISBNLearner(seed=seed, word_classes=word_classes, functions=functions)
    if name == "balanced":
        one_way: list[Learner] = [pivot, network]
    else:
        grammars = Ensembles.diverse(None, seed=2 * seed, lang=lang, lexical=lexical, functions=functions)
        one_way = [grammars, *(replace(network, seed=2 * seed + i) for i in range(2))]
    models = Combination.both_ways(
        *one_way, beam=_BEAMS[name], n_jobs=n_jobs, temperature=TEMPERATURES[name], lattice=_LATTICES[name]
    )
    if name == "accurate":
        return models if text is None else Distillation(models, models, text, n_jobs=n_jobs)
    if taught is None and not span_layer:
        return models
    grammar = taught or StackedLearner(pivot, n_folds=_FOLDS)
    return replace(models, learners=(grammar, network, MirroredLearner(network)))


def _taught(pivot: Pivot, text: Iterable[Sequence[str]], *, n_jobs: int, span_layer: bool) -> Distillation:
    """Return the learner of the fast preset, with the settings of a pivot learner."""
    settings = {"lang": pivot.lang, "lexical": pivot.lexical, "functions": pivot.functions}
    ensembles = Ensembles.diverse(2, seed=pivot.seed, **settings)
    teacher = Combination.both_ways(ensembles, n_jobs=n_jobs)
    few = replace(pivot, n_states=_FAST_STATES, n_jobs=n_jobs)
    many = replace(few, n_states=_FAST_STATES_OF_MANY)
    student: Learner = few
    student_of_many: Learner = many
    if span_layer:
        student = StackedLearner(few, n_jobs=n_jobs)
        student_of_many = StackedLearner(many, jackknifed=few, n_jobs=n_jobs)
    return Distillation(teacher, student, text, max_words=_FAST_WORDS, n_jobs=n_jobs, student_of_many=student_of_many)


_BEAMS = {"balanced": 20, "accurate": 50}
_LATTICES = {
    "balanced": LatticeSettings(),
    "accurate": LatticeSettings(width=20, nats=8.0),
}
_FOLDS = 3  # of the balanced one, whose span layer then takes no longer to learn than a network
_FAST_STATES, _FAST_STATES_OF_MANY = 24, 32  # a student has more to learn from than the treebank
_FAST_WORDS = 30  # longer sentences take a third of the time, and teach no more
