"""The learner `spacy-lpcfg.Learner.v1`, which a config describes by its name and settings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import Parameter, formatannotation
from types import UnionType
from typing import Any, Union, get_args, get_origin

from spacy.util import logger

from spacy_lpcfg.checks import check_one_of, shown
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.learners import AUTO, NONE, NamedLearner, learner_of
from spacy_lpcfg.learning.base import Learner, OnStep
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings, signatures_of
from spacy_lpcfg.models import has_pretrained
from spacy_lpcfg.models.encoders import find_encoder
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.variants import DEFAULT

_ARGUMENTS = ("seed", "lang")
"""Settings of learners that are arguments of `make_learner`."""


def make_learner(
    name: str,
    seed: int = 0,
    lang: str = "en",
    settings: dict[str, Any] = {},  # noqa: B006  spaCy fills a config with it
    heads: str | None = None,
    variant: str | int = DEFAULT,
    encoder: str = AUTO,
) -> Learner:
    """Create a learner from its name and settings: `spacy-lpcfg.Learner.v1`.

    name (str): One of `spacy_lpcfg.learners.LEARNERS`.
    seed (int): Seed of learners that draw at random.
    lang (str): Language of the head rules. For "en", signatures (classes of spelling) of unknown words are built in;
        for all other languages they are learned.
    settings (dict): Settings of the learner by name, where they differ from the defaults. A nested block of settings,
        such as `lexical`, is a dict, too.
    heads (str or None): Table or file of the head rules, see `spacy_lpcfg.trees.head_rules`; None for the rules of the
        language.
    variant (str or int): The set of defaults, which `settings` override: "default", or for a learner from papers
        "paper" or the year of one of them.
    encoder (str): The pretrained encoder of a learner with evidence (scores of spans and tags that a classifier
        computes): "auto" for the encoder of the language's pretrained model, if there is one; "none" for none; a file
        that `spacy-lpcfg encoder` made; a folder of an encoder in ONNX; or a model that has one. Without an encoder,
        evidence is learned from the treebank alone. A learner without evidence ignores the encoder.
    RAISES (ValueError): If no learner has the name, if the learner lacks the variant or a setting, if a setting has the
        wrong type, or if `heads` is given to a learner without head rules.
    """
    entry = learner_of(name)
    default, parameters = entry.defaults(variant), entry.parameters
    values = _checked_settings(entry, default, {**settings, **_lexical(parameters, settings, lang)})
    if heads and "lang" not in parameters:
        raise ValueError(f"Expected no heads, for which {name!r} has no use; got {shown(heads)}.")
    arguments: dict[str, Any] = {"seed": seed, "lang": heads or lang}
    values |= {key: value for key, value in arguments.items() if key in parameters}
    has_evidence = values.pop("evidence", None)
    learner = replace(default, **values)
    if has_evidence is None and entry.takes_evidence:
        has_evidence = encoder not in (AUTO, NONE) or (entry.has_evidence and variant == DEFAULT)
    return _with_evidence(learner, seed, lang, encoder) if has_evidence else learner


def _with_evidence(learner: Learner, seed: int, lang: str, encoder: str) -> EvidenceLearner:
    """Return an `EvidenceLearner` around a learner of a grammar; other arguments as for `make_learner`."""
    if encoder == NONE or (encoder == AUTO and not has_pretrained(lang)):
        return EvidenceLearner(learner, seed=seed)
    return NamedEvidenceLearner(learner, seed=seed, name=encoder, lang=lang)


@dataclass(frozen=True)
class NamedEvidenceLearner(EvidenceLearner):
    """Evidence learner that loads its encoder when `fit` is called, so that a trained pipeline does not need the file.

    name (str): The name of the encoder, as for `find_encoder`.
    lang (str): The language, as for `find_encoder`.

    The settings of `EvidenceLearner` come first; its `encoder` and `start` are replaced by the loaded encoder and the
    classifier that comes with it.
    """

    name: str = AUTO
    lang: str = ""

    def fit(
        self, trees: Iterable[Tree], *, held_out: Iterable[Tree] | None = None, on_step: OnStep | None = None
    ) -> EvidenceGrammar:
        pretrained = find_encoder(self.name, self.lang)
        shared = {each.name: getattr(self, each.name) for each in fields(EvidenceLearner)}
        if pretrained is not None:
            logger.info("evidence by the encoder %s", pretrained.encoder.card.get("name", self.name))
            shared |= {"encoder": pretrained.encoder, "start": pretrained.classifier}
        return EvidenceLearner(**shared).fit(trees, held_out=held_out, on_step=on_step)


def _lexical(parameters: Mapping[str, Parameter], settings: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """Return {"lexical": values} with the language's default of `signatures`; {} for a learner without `lexical`."""
    given = settings.get("lexical", {})
    is_of_grammars = "lexical" in parameters and LexicalSettings in _kinds(parameters["lexical"])
    if not is_of_grammars or not isinstance(given, Mapping):
        return {}
    return {"lexical": {"signatures": signatures_of(lang), **given}}


def _checked_settings(entry: NamedLearner, default: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check the names and types of settings, and convert dicts for nested settings to dataclasses.

    default (Learner): The learner with the default values.
    RAISES (ValueError): If the learner has no such setting, or a value has the wrong type.
    """
    parameters = {key: value for key, value in entry.parameters.items() if key not in _ARGUMENTS}
    defaults = {key: getattr(default, key, value.default) for key, value in parameters.items()}
    made = {}
    for key, value in settings.items():
        check_one_of(f"a setting of the learner {entry.name!r}", key, defaults, defaults)
        part: Any = defaults[key] or next(
            (kind() for kind in _kinds(parameters[key]) if isinstance(kind, type) and is_dataclass(kind)), None
        )
        if isinstance(value, Mapping) and is_dataclass(part):
            made[key] = changed_setting(key, part, value)
        else:
            _check_kind(parameters[key], value, defaults[key])
            made[key] = value
    return made


def changed_setting(name: str, default: Any, value: Any) -> Any:
    """Return a setting's value: a mapping overrides fields of a dataclass `default`, another value replaces it.

    name (str): The name of the setting in errors.
    RAISES (ValueError): If the dataclass has no such field, or rejects a value.
    """
    if not isinstance(value, Mapping) or not is_dataclass(default):
        return value
    part: Any = default
    defaults = vars(part)
    for key in value:
        check_one_of(f"a setting of {name}", key, defaults, defaults)
    return replace(part, **{key: changed_setting(key, defaults[key], inner) for key, inner in value.items()})


def _kinds(parameter: Parameter) -> tuple[Any, ...]:
    """Return the classes in a parameter's annotation: the members of a union, without their type arguments."""
    annotation = parameter.annotation
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return tuple(get_origin(kind) or kind for kind in kinds)


def _check_kind(parameter: Parameter, value: Any, default: Any) -> None:
    """Raise ValueError if a value does not have the annotated type of its setting; an int passes as a float."""
    kinds = _kinds(parameter)
    if Any in kinds:
        return
    classes = (*kinds, int) if float in kinds else kinds  # a config may leave out the point
    is_flag = isinstance(value, bool) and bool not in classes
    if is_flag or not isinstance(value, classes):
        raise ValueError(
            f"Expected the setting {parameter.name} to be {formatannotation(parameter.annotation)}, got "
            f"{shown(value)}. Its default is {shown(default)}."
        )
