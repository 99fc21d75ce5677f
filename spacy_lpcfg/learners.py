"""The table of learners, from which commands, configs, messages and docs take their names and settings.

A new learner is an entry of `LEARNERS`; no command, config or page has to list it. Importing the table loads no
learner, so that commands start fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Literal

from spacy_lpcfg import bracketing, language_model, learning
from spacy_lpcfg.checks import check_one_of, shown
from spacy_lpcfg.variants import DEFAULT, Variants

AUTO, NONE = "auto", "none"
"""The pretrained encoder that comes with the package for a language, and none, as `find_encoder` takes them."""
Command = Literal["parser", "bracketer", "unsupervised", "lm"]
"""The commands `spacy-lpcfg learn ...`."""


@dataclass(frozen=True)
class NamedLearner:
    """An entry of the table `LEARNERS`.

    name (str): The name in commands and configs.
    sentence (str): What the learner learns, in one sentence.
    load (callable): Imports and returns the class of the learner, a frozen dataclass of settings.
    command (str): The command `spacy-lpcfg learn COMMAND` that runs the learner.
    component (str): The component of a pipeline that holds the learned model.
    takes_evidence (bool): Whether the setting `evidence` can add evidence to the grammar: scores of spans and tags
        from a classifier.
    has_evidence (bool): Whether the default variant learns evidence if the setting `evidence` is None.
    """

    name: str
    sentence: str
    load: Callable[[], type[Any]]
    command: Command = "parser"
    component: str = "lpcfg_parser"
    takes_evidence: bool = False
    has_evidence: bool = False

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The settings by name, in the order of the dataclass; `evidence` is last if the learner can take evidence."""
        parameters = dict(signature(self.load(), eval_str=True).parameters)
        return {**parameters, _EVIDENCE.name: _EVIDENCE} if self.takes_evidence else parameters

    @property
    def has_variants(self) -> bool:
        """Whether the learner has variants: named sets of settings, such as the settings of a paper (`Variants`)."""
        return issubclass(self.load(), Variants)

    def defaults(self, variant: str | int = DEFAULT) -> Any:
        """Return the learner with the settings of a variant.

        variant (str or int): The name of the variant, or the year of a paper, see `Variants.variants`.
        RAISES (ValueError): If the learner has no such variant.
        """
        learner = self.load()
        if variant != DEFAULT and not self.has_variants:
            users = ", ".join(entry.name for entry in LEARNERS if entry.has_variants)
            raise ValueError(
                f"Expected the variant 'default' of {self.name!r}, got {shown(variant)}; only {users} have others."
            )
        return learner.variant(variant) if issubclass(learner, Variants) else learner()


def _networks() -> type[Any]:
    from spacy_lpcfg.isbn.learning import ISBNLearner

    return ISBNLearner


def _unsupervised() -> type[Any]:
    from spacy_lpcfg.induced.learner import Unsupervised

    return Unsupervised


_EVIDENCE = Parameter("evidence", Parameter.KEYWORD_ONLY, default=None, annotation=bool | None)

LEARNERS = (
    NamedLearner(
        "pivot",
        "States found by pivot features, with evidence.",
        lambda: learning.Pivot,
        takes_evidence=True,
        has_evidence=True,
    ),
    NamedLearner("spectral", "Spectral learning by singular vectors.", lambda: learning.Spectral, takes_evidence=True),
    NamedLearner("em", "Expectation maximisation from a random start.", lambda: learning.EM, takes_evidence=True),
    NamedLearner(
        "split-merge", "States split in two and merged, in rounds.", lambda: learning.SplitMerge, takes_evidence=True
    ),
    NamedLearner(
        "pcfg", "The treebank's own rules, without states.", lambda: learning.TreebankPCFG, takes_evidence=True
    ),
    NamedLearner("induction", "A grammar of trees that nobody annotated.", lambda: learning.Induction),
    NamedLearner("isbn", "A network that reads from left to right.", _networks, component="isbn_parser"),
    NamedLearner(
        "bracketer",
        "Brackets from tagged text.",
        lambda: bracketing.SpectralBracketer,
        "bracketer",
        component="spectral_bracketer",
    ),
    NamedLearner("unsupervised", "Grammars of raw text, which teach each other.", _unsupervised, "unsupervised"),
    NamedLearner(
        "lm",
        "A language model of text.",
        lambda: language_model.LanguageModelLearner,
        "lm",
        component="language_model",
    ),
)


def learners_of(command: Command) -> tuple[NamedLearner, ...]:
    """Return the learners that the command `spacy-lpcfg learn COMMAND` can run, in the order of the table."""
    return tuple(entry for entry in LEARNERS if entry.command == command)


def learner_of(name: str) -> NamedLearner:
    """Return the learner with a name.

    RAISES (ValueError): If no learner has this name.
    """
    table = {entry.name: entry for entry in LEARNERS}
    check_one_of("a learner", name, table)
    return table[name]
