"""Learners and ready grammars as registered objects, for the config of a pipeline.

Only the settings that one would tune are arguments here; `spacy_lpcfg.learning` has them all, and a
registered function of your own can return a learner with any of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import Parameter, Signature, formatannotation, signature
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import spacy
from spacy.vocab import Vocab
from thinc.api import to_numpy

from spacy_lpcfg.bracketing import (
    CCA,
    Bracketer,
    Brown,
    EmbeddingError,
    GivenVectors,
    PaperAnchors,
    SelfTraining,
    SpectralBracketer,
    TagGroups,
)
from spacy_lpcfg.bracketing.sequences import SequenceSettings
from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination import Combination, Distillation, MirroredLearner, model_from_disk, preset
from spacy_lpcfg.components.learner_names import Method, Preset, TeacherName, check_one_of, check_text
from spacy_lpcfg.components.online_learner import OnlineLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.language_model import LanguageModelLearner
from spacy_lpcfg.learning import (
    EM,
    Clusters,
    Ensembles,
    LexicalSettings,
    Pivot,
    Spectral,
    SplitMerge,
    StepwiseEM,
    TreebankPCFG,
)
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.ensemble import DIVERSE, Seeded
from spacy_lpcfg.learning.lexicon.lexical import signatures_of
from spacy_lpcfg.learning.stepwise import Starter
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.stacking import LayerSettings, StackedLearner
from spacy_lpcfg.trees.brackets import read_lines
from spacy_lpcfg.variants import DEFAULT, Variants
from spacy_lpcfg.words import ClassLearner


def factory(learner: type[Any], names: str, **nested: str) -> Callable[..., Any]:
    """A function that makes a learner, or a part of one, of flat settings; spaCy checks a config by its signature.

    A learner of papers has the setting `variant` too. What its variants differ in is None by default, which is what the
    variant says: spaCy writes defaults into a config, where they look as if they were given. False is for none.

    learner (type): a dataclass of settings, all of which have defaults
    names (str): settings of the learner, apart by blanks
    nested (str): of a setting that has settings of its own, the names of those
    """
    has_variants = issubclass(learner, Variants)
    variants = [learner.variant(name) for name in learner.variants()] if has_variants else [learner()]
    parameters = _parameters(variants, names)
    for part, own in nested.items():
        parameters += _parameters([getattr(each, part) for each in variants], own)
    varied = {each.name for each in parameters if each.default is _SAID}
    parameters = [each.replace(default=None) if each.name in varied else each for each in parameters]

    def make(**settings: Any) -> Any:
        said = learner.variant(settings.pop("variant", DEFAULT)) if has_variants else variants[0]
        settings = {name: value for name, value in settings.items() if value is not None or name not in varied}
        for name, value in settings.items():
            settings[name] = tuple(value) if isinstance(value, list) else value
            if name in varied and value is False:
                settings[name] = None
        for part, own in nested.items():
            given = {name: settings.pop(name) for name in own.split() if name in settings}
            settings[part] = replace(getattr(said, part), **given)
        return replace(said, **settings)

    if has_variants:
        parameters.append(_VARIANT)
    make.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    make.__doc__ = f"The object `spacy-lpcfg.{learner.__name__}.v1`; the settings of the class and its parts."
    return make


_SAID: Any = object()  # the default of a setting in which variants differ
_VARIANT = Parameter("variant", Parameter.KEYWORD_ONLY, default=DEFAULT, annotation=str | int)


def _parameters(variants: Sequence[Any], names: str) -> list[Parameter]:
    """The named settings as parameters of a function, with their types and defaults; `_SAID` where variants differ.

    A config has lists where a learner has tuples of names.

    variants (sequence): the settings of each variant, those of the default first
    """
    hints = get_type_hints(type(variants[0]))
    parameters = []
    for name in names.split():
        kind, default = hints[name], getattr(variants[0], name)
        if kind == tuple[str, ...]:
            kind, default = list[str], list(default)
        if any(getattr(each, name) != getattr(variants[0], name) for each in variants):
            kind, default = _or_none(kind), _SAID
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    return parameters


def _or_none(kind: Any) -> Any:
    """The type of a setting that may be None; Any if False is for none, which pydantic would take for 0.0."""
    return kind | None if kind in (bool, int, float, str) else Any


_SMOOTHING = "rules words rare_words rare_rules"
_READING = "seed n_jobs lang markov functions"
_MANY_STATES = DIVERSE["n_states"]  # of a grammar that others help
_LEXICAL = "rare word_classes signatures"

make_treebank_pcfg = factory(TreebankPCFG, "n_jobs lang markov functions", lexical=_LEXICAL)
make_spectral = factory(
    Spectral,
    f"n_states {_READING} kappa tokens_per_state exact_tensors",
    smoothing="c nu max_lexical",
    lexical=_LEXICAL,
)
make_pivot = factory(
    Pivot,
    f"n_states n_iterations {_READING} more_inside more_outside matching shrink prior precision kappa tokens_per_state "
    "dropout noise merge exact_tensors",
    smoothing=_SMOOTHING,
    lexical=_LEXICAL,
    em="max_iterations tolerance",
)
make_clusters = factory(
    Clusters,
    f"n_states n_iterations {_READING} kappa tokens_per_state agreement dropout noise",
    smoothing=_SMOOTHING,
    lexical=_LEXICAL,
)
make_em = factory(
    EM, f"n_states n_iterations {_READING} tokens_per_state noise exact_tensors", smoothing=_SMOOTHING, lexical=_LEXICAL
)
make_split_merge = factory(
    SplitMerge,
    f"n_states n_iterations {_READING} tokens_per_state merge noise split_iterations merge_iterations",
    smoothing=_SMOOTHING,
    lexical=_LEXICAL,
)


def make_stepwise_em(start: Learner, alpha: float = StepwiseEM.alpha) -> OnlineLearner:
    """The learner `spacy-lpcfg.StepwiseEM.v1`; the same settings as `spacy_lpcfg.learning.StepwiseEM`.

    start (Learner): by EM; of one with a span layer, which is learned from whole treebanks, the learner below it
    RAISES (ValueError): If `start` is no learner by EM
    """
    start = start.learner if isinstance(start, StackedLearner) else start
    if not isinstance(start, Starter):
        raise ValueError(
            f"Expected a learner by EM as start (EM, SplitMerge, Pivot or Clusters), got {type(start).__name__}."
        )
    return StepwiseEM(start, alpha)


def make_ensemble(*learners: Learner, n_seeds: int | None = 1, combine: str = "product") -> Learner:
    """The learner `spacy-lpcfg.Ensemble.v1`; the same settings as `spacy_lpcfg.learning.Ensembles`."""
    return Ensembles(cast("tuple[Seeded, ...]", learners), n_seeds, combine)


make_isbn_learner = factory(
    ISBNLearner,
    "n_states approximation n_networks n_epochs batch_size learn_rate dropout weight_decay averaging min_count "
    "signatures seed n_jobs word_classes functions",
)


make_language_model_learner = factory(
    LanguageModelLearner, "method variant n_states n_iterations seed rare kneser_ney held_out"
)


def make_combined(
    *learners: Learner,
    weights: list[float] | None = None,
    bracket_cost: float = Combination.bracket_cost,
    beam: int = Combination.beam,
    temperature: float = Combination.temperature,
    lattice: LatticeSettings | bool = True,
) -> Learner:
    """The learner `spacy-lpcfg.Combined.v1`; the same settings as `spacy_lpcfg.combination.Combination`.

    lattice (LatticeSettings or bool): made by `spacy-lpcfg.Lattice.v1`; true for the default, false for none
    """
    found = {True: Combination.lattice, False: None}[lattice] if isinstance(lattice, bool) else lattice
    return Combination(learners, weights, bracket_cost, beam, temperature=temperature, lattice=found)


def make_mirrored(learner: Learner) -> MirroredLearner:
    """The learner `spacy-lpcfg.Mirrored.v1`; the same settings as `spacy_lpcfg.combination.MirroredLearner`."""
    return MirroredLearner(learner)


def make_stacked(
    learner: Learner,
    jackknifed: Learner | None = None,
    n_folds: int | None = StackedLearner.n_folds,
    n_epochs: int = LayerSettings.n_epochs,
    rate: float = LayerSettings.rate,
    start: float = LayerSettings.start,
    penalty: float = LayerSettings.penalty,
    min_count: int = LayerSettings.min_count,
    min_words: int = LayerSettings.min_words,
    n_jobs: int | None = None,
) -> Learner:
    """The learner `spacy-lpcfg.Stacked.v1`; the same settings as `spacy_lpcfg.stacking.StackedLearner` and its
    `LayerSettings`."""
    settings = LayerSettings(n_epochs, rate, start, penalty, min_count, min_words)
    return StackedLearner(learner, jackknifed, n_folds, settings, n_jobs)


def make_word_classes(
    text: Path,
    lang: str | None = "en",
    n_classes: int = ClassLearner.n_classes,
    min_count: int = ClassLearner.min_count,
) -> ClassLearner:
    """The learner `spacy-lpcfg.WordClasses.v1`; the same settings as `spacy_lpcfg.words.ClassLearner`.

    text (Path), lang (str or None): as in `SentencesOf`
    """
    return ClassLearner(SentencesOf(text, lang), n_classes, min_count)


def make_distillation(
    teacher: Learner,
    student: Learner,
    text: Path,
    lang: str | None = "en",
    weight: int | None = Distillation.weight,
    max_words: int = Distillation.max_words,
    share: float = Distillation.share,
    n_jobs: int = Distillation.n_jobs,
    temperature: float | None = Distillation.temperature,
    student_of_many: Learner | None = Distillation.student_of_many,
) -> Distillation:
    """The learner `spacy-lpcfg.Distillation.v1`; the same settings as `spacy_lpcfg.combination.Distillation`.

    text (Path): a file with a sentence a line
    lang (str or None): of the tokenizer; None for text that is tokenised, with blanks between the tokens
    """
    sentences = SentencesOf(text, lang)
    return Distillation(teacher, student, sentences, weight, max_words, share, n_jobs, temperature, student_of_many)


# Learners by their names -------------------------------------------------------------------------


def make_both_ways(
    n_grammars: int = 8,
    n_states: int = _MANY_STATES,
    seed: int = 0,
    n_jobs: int | None = None,
    lang: str = "en",
    word_classes: ClassLearner | None = None,
    signatures: str = "english",
    functions: bool = False,
) -> Combination:
    """The learner `ensemble`: two diverse ensembles, one of which reads from right to left.

    n_grammars (int): of both
    RAISES (ValueError): If `n_grammars` is no multiple of 4
    """
    if n_grammars < 4 or n_grammars % 4:
        raise ValueError(f"Expected n_grammars to be a multiple of 4 (two kinds, each way), got {n_grammars}.")
    lexical = LexicalSettings(word_classes=word_classes, signatures=signatures)
    settings = {"n_states": n_states, "n_jobs": n_jobs, "lang": lang, "lexical": lexical, "functions": functions}
    return Combination.both_ways(Ensembles.diverse(n_grammars // 2, seed=seed, **settings))


def make_distilled(
    text: Path,
    teacher: str = TeacherName.ensemble.value,
    n_grammars: int | None = None,
    n_states: int = _MANY_STATES,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    heads: str | None = None,
    word_classes: ClassLearner | None = None,
    signatures: str = "english",
    functions: bool = False,
) -> Distillation:
    """The learner `distil`: one pivot grammar that learns from what a teacher says of a text too.

    teacher (str): the learner "ensemble", "balanced" or "accurate"
    n_grammars (int or None): of the teacher "ensemble"; None for its own
    RAISES (ValueError): On another teacher, or for a number of grammars of a teacher that has its own
    """
    check_one_of("teacher", teacher, [each.value for each in TeacherName])
    settings: dict[str, Any] = {"seed": seed, "lang": heads or lang, "functions": functions}
    of_all: dict[str, Any] = {"word_classes": word_classes, "signatures": signatures}
    if teacher == TeacherName.ensemble.value:
        own: dict[str, Any] = {} if n_grammars is None else {"n_grammars": n_grammars}
        master: Learner = make_both_ways(n_states=n_states, n_jobs=n_jobs, **of_all, **settings, **own)
    elif n_grammars is not None:
        raise ValueError(f"Expected no n_grammars, for which the {teacher} teacher has no use; got {n_grammars}.")
    else:
        master = preset(teacher, n_jobs=n_jobs, **of_all, **settings)
    student = Pivot(n_states=n_states, n_jobs=n_jobs, lexical=LexicalSettings(**of_all), **settings)
    return make_distillation(master, student, text, lang, n_jobs=n_jobs)


def make_stacked_pivot(*, span_layer: bool | None = None, **settings: Any) -> Learner:
    """The learner `pivot`: a pivot grammar with a span layer, or without; the settings of `make_pivot`.

    span_layer (bool or None): None for one over the default variant, and none over a paper's
    """
    pivot = make_pivot(**settings)
    is_default = settings.get("variant", DEFAULT) == DEFAULT
    return StackedLearner(pivot, n_jobs=pivot.n_jobs) if span_layer or (span_layer is None and is_default) else pivot


make_stacked_pivot.__signature__ = signature(make_pivot).replace(  # type: ignore[attr-defined]
    parameters=[*signature(make_pivot).parameters.values(), signature(make_stacked_pivot).parameters["span_layer"]]
)


def make_accurate(
    *,
    text: Path | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    heads: str | None = None,
    word_classes: ClassLearner | None = None,
    signatures: str = "english",
    functions: bool = False,
) -> Learner:
    """The learner `accurate`; the same settings as `make_preset`, without a span layer."""
    settings: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "lang": lang, "heads": heads, "functions": functions}
    return make_preset(Preset.accurate.value, text=text, word_classes=word_classes, signatures=signatures, **settings)


def make_preset(
    name: str,
    *,
    text: Path | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    lang: str = "en",
    heads: str | None = None,
    word_classes: ClassLearner | None = None,
    span_layer: bool = True,
    signatures: str = "english",
    functions: bool = False,
) -> Learner:
    """A preset; the same settings as `spacy_lpcfg.combination.preset`, `text` and `heads` as in `make_learner`."""
    sentences = None if text is None else SentencesOf(text, lang)
    settings: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "lang": heads or lang, "word_classes": word_classes}
    return preset(name, text=sentences, span_layer=span_layer, signatures=signatures, functions=functions, **settings)


NAMED: Mapping[str, Callable[..., Learner]] = MappingProxyType(
    {
        Method.pivot.value: make_stacked_pivot,
        Method.spectral.value: make_spectral,
        Method.clusters.value: make_clusters,
        Method.em.value: make_em,
        Method.split_merge.value: make_split_merge,
        Method.pcfg.value: make_treebank_pcfg,
        Method.ensemble.value: make_both_ways,
        Method.distil.value: make_distilled,
        **{each.value: partial(make_preset, each.value) for each in (Preset.fast, Preset.balanced)},
        Preset.accurate.value: make_accurate,
    }
)
"""What makes a learner of a name."""
_OWN = ("text", "seed", "lang", "heads", "variant")  # arguments of `make_learner`, and so no settings


def make_learner(
    name: str,
    text: Path | None = None,
    seed: int = 0,
    lang: str = "en",
    settings: dict[str, Any] = {},  # noqa: B006  spaCy fills a config with it
    heads: str | None = None,
    variant: str | int = DEFAULT,
) -> Learner:
    """The learner `spacy-lpcfg.Learner.v1`: any learner by its name.

    name (str): one of `NAMED`
    text (Path or None): a file with a sentence a line, of the language's tokenizer, to learn from too
    seed (int): of what is drawn at random, if the learner draws
    lang (str): language of the text and of the head rules; signatures of unknown words are learned for all but "en"
    settings (dict): those that the learner has, by name; all have defaults
    heads (str or None): table or file of the head rules, see `spacy_lpcfg.trees.head_rules`; None for the language's
    variant (str or int): "default", or for a learner of papers "paper" or the year of one, whose settings are then
        those that `settings` change
    RAISES (ValueError): On another name, setting or variant, without the text that a learner needs, or with one that it
        has no use for
    """
    check_one_of("a learner", name, NAMED)
    check_text(name, is_given=text is not None)
    taken = signature(NAMED[name]).parameters
    if variant != DEFAULT and "variant" not in taken:
        users = ", ".join(each for each in NAMED if "variant" in signature(NAMED[each]).parameters)
        raise ValueError(f"Expected the variant 'default' of {name!r}, got {shown(variant)}; only {users} have others.")
    defaults = {setting: taken[setting].default for setting in settings_of(name)}
    for setting, value in settings.items():
        check_one_of(f"a setting of the learner {name!r}", setting, defaults, defaults)
        _check_kind(taken[setting], value)
    if "signatures" in taken:
        settings = {"signatures": signatures_of(lang), **settings}
    own = {"text": text, "seed": seed, "lang": lang, "heads": heads, "variant": variant}
    if "heads" not in taken:  # then it has no text, and a language for the head rules alone
        own["lang"] = heads or lang
    return NAMED[name](**{each: value for each, value in own.items() if each in taken}, **settings)


def settings_of(name: str) -> list[str]:
    """The settings that the learner of a name has."""
    return [setting for setting in signature(NAMED[name]).parameters if setting not in _OWN]


def _check_kind(setting: Parameter, value: Any) -> None:
    """RAISES (ValueError): If a value is of another type than the setting is: spaCy does not look into a dict."""
    kind = setting.annotation
    if kind is Any:  # which the learner checks
        return
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    classes = [get_origin(each) or each for each in kinds]
    classes += [int] * (float in classes)  # a config may leave out the point
    if not isinstance(value, tuple(classes)) or (isinstance(value, bool) and bool not in classes):
        raise ValueError(
            f"Expected the setting {setting.name} to be {formatannotation(kind)}, got {shown(value)}. Its default is "
            f"{shown(setting.default)}."
        )


@dataclass(frozen=True)
class SentencesOf:
    """The words of a text file with a sentence a line.

    path (Path): the file, in UTF-8, .gz or not
    lang (str or None): of the tokenizer; None for text that is tokenised, with blanks between the tokens
    """

    path: Path
    lang: str | None

    def __iter__(self) -> Iterator[list[str]]:
        tokenizer = None if self.lang is None else spacy.blank(self.lang).tokenizer
        for line in read_lines(self.path):
            words = line.split() if tokenizer is None else [token.text for token in tokenizer(line)]
            yield [word for word in words if not word.isspace()]


def read_grammar(path: Path) -> Callable[[], ParsingModel]:
    """The reader `spacy-lpcfg.read_grammar.v1`.

    path (Path): a file written by `to_disk` of a Grammar, an Ensemble or a Combined
    RETURNS (callable): gives the grammar; raises GrammarError for anything else
    """
    return partial(model_from_disk, path)


# Brackets without a treebank ---------------------------------------------------------------------


def make_spectral_bracketer(variant: str | int = DEFAULT, **settings: Any) -> SpectralBracketer:
    """The learner `spacy-lpcfg.SpectralBracketer.v1`.

    variant (str or int): "default", "paper", or its year
    settings: those of `spacy_lpcfg.bracketing.SpectralBracketer`; None is what the variant says, and
        `self_training` and `sequences` may be False for none
    """
    given = {name: None if value is False else value for name, value in settings.items() if value is not None}
    return SpectralBracketer.variant(variant, **given)


def _signature(learner: type) -> Signature:
    """`variant`, and the settings of a learner, each of which may be None."""
    hints = get_type_hints(learner)
    plain = (bool, int, float, str)
    parameters = [_VARIANT]
    for field in fields(learner):
        kind: Any = hints[field.name] | None if hints[field.name] in plain else Any
        parameters.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    return Signature(parameters)


make_spectral_bracketer.__signature__ = _signature(SpectralBracketer)  # type: ignore[attr-defined]


make_cca = factory(CCA, "size window min_count vocabulary_size roots")
make_brown = factory(Brown, "n_clusters n_sweeps path_weight min_count vocabulary_size")
make_paper_anchors = factory(PaperAnchors, "")
make_tag_groups = factory(TagGroups, "n_groups")
make_sequence_settings = factory(SequenceSettings, "prior min_count max_length")
make_self_training = factory(
    SelfTraining, "n_rounds max_length max_sentences n_words in_trees elsewhere first_verb is_flat"
)


@dataclass(frozen=True)
class VocabVectors:
    """The vectors `spacy-lpcfg.VocabVectors.v1`: those that the pipeline's vocabulary holds when it is initialized.

    size (int): as in `spacy_lpcfg.bracketing.GivenVectors`
    """

    size: int = GivenVectors.size

    def of(self, vocab: Vocab) -> GivenVectors:
        """The vectors of a vocabulary; raises EmbeddingError if it has none."""
        rows = {vocab.strings[key]: row for key, row in vocab.vectors.key2row.items() if row >= 0}
        if not rows:
            raise EmbeddingError(
                "Expected a vocabulary with a vector for each word, but this one has none: set [initialize] vectors to "
                "a pipeline with vectors, such as en_core_web_md, or learn others with spacy-lpcfg.CCA.v1."
            )
        return GivenVectors(tuple(rows), to_numpy(vocab.vectors.data)[list(rows.values())], self.size)


def read_bracketer(path: Path) -> Callable[[], Bracketer]:
    """The reader `spacy-lpcfg.read_bracketer.v1`.

    path (Path): a file written by `Bracketer.to_disk`
    RETURNS (callable): gives the bracketer; raises BracketerError for anything else
    """
    return partial(Bracketer.from_disk, path)
