"""Clearer messages than typer's for wrong usage of a command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer

_PYDANTIC = "Value error, "  # begins messages of a typer that checks by pydantic


@contextmanager
def clearer_usage() -> Iterator[None]:
    """Shorten errors of usage in the block, and say in them that a MODEL comes first, where something else does."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix(_PYDANTIC) or _no_model(error)
        raise


def _no_model(missing: typer.BadParameter) -> str:
    """Return the message for a missing argument; "" unless the cause is that no MODEL comes before it."""
    from spacy_lpcfg.checks import shown
    from spacy_lpcfg.models import has_pretrained

    context = missing.ctx
    if context is None or not any(
        getattr(parameter, "metavar", None) == "MODEL" for parameter in context.command.params
    ):
        return ""
    model = context.params.get("model")
    if model is None or has_pretrained(model) or os.path.isdir(model):
        return ""
    return f"{shown(model)} stands where a MODEL is expected, which comes first, such as en."
