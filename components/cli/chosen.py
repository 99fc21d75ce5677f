"""A learner that a command was told by name: the object, and the config that makes it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from spacy_lpcfg.checks import check_one_of
from spacy_lpcfg.components.cli.pipelines import n_jobs
from spacy_lpcfg.components.cli.word_classes import class_settings, word_classes
from spacy_lpcfg.learners import Command, learner_of, learners_of
from spacy_lpcfg.variants import DEFAULT

if TYPE_CHECKING:
    from spacy_lpcfg.learning.base import Learner


class Chosen(NamedTuple):
    """learner (Learner): with as many jobs as asked for; config (dict): of the same learner, whatever the jobs."""

    learner: Learner
    config: dict[str, Any]


def chosen_learner(
    name: str,
    text: Path | None,
    seed: int,
    lang: str,
    heads: str | None,
    settings: dict[str, Any],
    classes_from: Path | None,
    jobs: int,
    variant: str = DEFAULT,
) -> Chosen:
    """The learner of a name, and its config; the same settings as `spacy_lpcfg.components.named_learner.make_learner`.

    RAISES (BadParameter): For settings that the learner cannot have.
    """
    from spacy_lpcfg.components.named_learner import make_learner

    with usage("--text"):
        learner_of(name).check_text(is_given=text is not None)
    text, heads = text and text.resolve(), heads and _checked_heads(heads)
    made, described = (
        {**settings, **_lexical(classes)}
        for classes in ({"word_classes": word_classes(classes_from, lang)}, class_settings(classes_from, lang))
    )
    with usage():
        learner = make_learner(name, text, seed, lang, {**made, "n_jobs": n_jobs(jobs)}, heads, variant)
    config = {"@misc": "spacy-lpcfg.Learner.v1", "name": name, "text": text and str(text), "seed": seed, "lang": lang}
    config |= {"heads": heads} if heads else {}
    config |= {"variant": variant} if variant != DEFAULT else {}
    return Chosen(learner, {**config, "settings": described})


def _lexical(classes: dict[str, Any]) -> dict[str, Any]:
    """Return the setting `lexical` with classes of words; none for no classes."""
    return {"lexical": classes} if classes.get("word_classes") else {}


def learner_option(command: Command) -> Any:
    """Return the option of a command whose value is the name of a learner of the table."""
    learners = learners_of(command)
    names = [each.name for each in learners]

    def check(value: str) -> str:
        with usage():
            check_one_of("a name that is offered", value, names)
        return value

    sentences = " ".join(f"{each.name}: {each.sentence}" for each in learners)
    return typer.Option(callback=check, metavar=f"[{'|'.join(names)}]", help=sentences)


def _checked_heads(heads: str) -> str:
    """The head rules that were asked for, a file by its whole path.

    RAISES (BadParameter): For a table or file that is none.
    """
    from spacy_lpcfg.trees import head_rules

    try:
        head_rules(heads)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--heads") from error
    return str(Path(heads).resolve()) if Path(heads).is_file() else heads


@contextmanager
def usage(hint: str | None = None) -> Iterator[None]:
    """Within, what is no value for a learner is wrong usage of the command."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error
