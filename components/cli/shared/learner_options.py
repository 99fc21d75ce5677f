"""Options of commands that choose a learner by name and settings, and the learner and config that they describe."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spacy_lpcfg.checks import check_one_of, shown
from spacy_lpcfg.components.cli.shared.console import usage_errors
from spacy_lpcfg.components.cli.shared.options import SET
from spacy_lpcfg.components.cli.shared.pipelines import n_jobs
from spacy_lpcfg.learners import AUTO, Command, learner_of, learners_of
from spacy_lpcfg.variants import DEFAULT

if TYPE_CHECKING:
    from spacy_lpcfg.learning.base import Learner


def learner_option(command: Command) -> Any:
    """Create the typer option with which a command chooses its learner by name; `command` names the command."""
    learners = learners_of(command)
    names = [entry.name for entry in learners]

    def check(value: str) -> str:
        with usage_errors():
            check_one_of("a name that is offered", value, names)
        return value

    sentences = " ".join(f"{entry.name}: {entry.sentence}" for entry in learners)
    return typer.Option(callback=check, metavar=f"[{'|'.join(names)}]", help=sentences)


def chosen_learner(
    name: str,
    settings: list[str] | None,
    *,
    seed: int,
    lang: str,
    jobs: int = 1,
    encoder: str = AUTO,
) -> tuple[Learner, dict[str, Any]]:
    """Create a learner from its name and the values of `--set`; return the learner and its config.

    name, seed, lang, encoder: As for `make_learner`.
    settings (list of str, or None): Values of `--set`, as for `parsed_settings`; "heads" and "variant" are allowed.
    jobs (int): The number of parallel jobs, -1 for one per processor; ignored by learners that run serially.
    RETURNS (Learner, dict): The learner, and its config as `spacy-lpcfg.Learner.v1`, without the number of jobs.
    RAISES (BadParameter): If the learner lacks a setting, or a value is invalid.
    """
    from spacy_lpcfg.components.training.named_learner import make_learner

    values = parsed_settings(settings or ())
    heads, variant = values.pop("heads", None), str(values.pop("variant", DEFAULT))
    heads = heads and _checked_heads(str(heads))
    of_jobs = {"n_jobs": n_jobs(jobs)} if "n_jobs" in learner_of(name).parameters else {}
    with usage_errors(SET):
        learner = make_learner(name, seed, lang, values | of_jobs, heads, variant, encoder)
    config = {"@misc": "spacy-lpcfg.Learner.v1", "name": name, "seed": seed, "lang": lang}
    config |= {"heads": heads} if heads else {}
    config |= {"variant": variant} if variant != DEFAULT else {}
    config |= {"encoder": encoder} if encoder != AUTO else {}
    return learner, {**config, "settings": values}


def parsed_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Parse settings of the form NAME=VALUE to a dict; a dotted name such as lexical.min_count makes nested dicts.

    settings (iterable of str): The settings. A value is parsed as JSON; if it is not valid JSON, it is a string.
    RAISES (BadParameter): If "=" or a name is missing, a name is both a value and a block, or n_jobs is set, which is
        the option --jobs.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        *parts, name = path.strip().split(".")
        if not equals or not all((*parts, name)):
            message = f"expected NAME=VALUE, such as n_states=24; got {shown(setting)}"
            raise typer.BadParameter(message, param_hint=SET)
        if path.strip() == "n_jobs":
            raise typer.BadParameter("expected --jobs in place of n_jobs", param_hint=SET)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        group = values
        for part in parts:
            group = group.setdefault(part, {})
            if not isinstance(group, dict):
                raise typer.BadParameter(f"{part} is given twice, as a value and as a part", param_hint=SET)
        if isinstance(group.get(name), dict):
            raise typer.BadParameter(f"{name} is given twice, as a value and as a part", param_hint=SET)
        group[name] = value
    return values


def _checked_heads(heads: str) -> str:
    """Check that head rules can be read; return the name of a table unchanged, or the absolute path of a file.

    RAISES (BadParameter): If `heads` is neither the name of a table nor a file of head rules.
    """
    from spacy_lpcfg.trees import head_rules

    with usage_errors(SET, kinds=(ValueError, OSError)):
        head_rules(heads)
    return str(Path(heads).resolve()) if Path(heads).is_file() else heads
