"""What wrong usage of a command says, where the message that typer has for it could say more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer

_PYDANTIC = "Value error, "  # begins messages of a typer that checks by pydantic


@contextmanager
def clearer_usage() -> Iterator[None]:
    """Within, wrong usage says what is wrong alone; and that a MODEL comes first, where something else does."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix(_PYDANTIC) or _no_model(error)
        raise


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
