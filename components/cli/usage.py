"""What wrong usage of a command says, where the message that typer has for it could say more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

_PYDANTIC = "Value error, "  # begins messages of a typer that checks by pydantic


@contextmanager
def clearer_usage() -> Iterator[None]:
    """Within, wrong usage says what is wrong alone; and that a MODEL comes first, where something else does."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix(_PYDANTIC) or _no_model(error)
        raise


class LearnCommands(TyperGroup):
    """The commands of `learn`; where a file comes in their place, the message says what comes before it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from spacy_lpcfg.components.cli.console import looks_like_path

        name = args[0]
        if self.get_command(ctx, name) is None and (looks_like_path(name) or os.path.exists(name)):
            ctx.fail(
                f"{name!r} comes after what to learn, one of {', '.join(self.list_commands(ctx))}: "
                f"`spacy-lpcfg learn lpcfg {name}` learns a grammar, the usual parser."
            )
        return super().resolve_command(ctx, args)


def _no_model(missing: typer.BadParameter) -> str:
    """What to say of an argument that is missing; "" if it is not for want of a MODEL before it."""
    from spacy_lpcfg.checks import shown
    from spacy_lpcfg.models import has_pretrained

    context = missing.ctx
    if context is None or not any(getattr(each, "metavar", None) == "MODEL" for each in context.command.params):
        return ""
    model = context.params.get("model")
    if model is None or has_pretrained(model) or os.path.isdir(model):
        return ""
    return f"{shown(model)} stands where a MODEL is expected, which comes first, such as en."
