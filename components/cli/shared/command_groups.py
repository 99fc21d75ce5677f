"""Groups of commands for typer, which keep standard streams open and print clearer messages for wrong usage."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared.files import looks_like_path
from spacy_lpcfg.components.cli.shared.streams import open_closed, settle

_PYDANTIC = "Value error, "  # begins messages of a typer that checks by pydantic


class Commands(TyperGroup):
    """Command group that opens closed standard streams, and reports wrong usage and unwritable output on one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        open_closed()
        with _one_line_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _one_line_errors():
            return super().invoke(ctx)


class LearnCommands(TyperGroup):
    """Command group of `learn`, with a clearer error if a file is given in place of a subcommand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and (looks_like_path(name) or os.path.exists(name)):
            ctx.fail(
                f"{name!r} comes after what to learn, one of {', '.join(self.list_commands(ctx))}: "
                f"`spacy-lpcfg learn parser {name}` learns a grammar, the usual parser."
            )
        return super().resolve_command(ctx, args)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Shorten messages of usage errors in the block; exit with a one-line error if stdout cannot be written to.

    A broken pipe, as after `| head`, exits with code 0, any other OSError with code 1.
    """
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix(_PYDANTIC) or _no_model(error)
        raise
    except BrokenPipeError as error:
        settle(sys.stdout)
        raise typer.Exit from error
    except OSError as error:
        settle(sys.stdout)
        with suppress(OSError, ValueError):
            print(f"Error: {error.strerror}: 'stdout'", file=sys.stderr)
        raise typer.Exit(1) from error


def _no_model(missing: typer.BadParameter) -> str:
    """Return the error message for a missing argument if the user has left out the MODEL before it; otherwise ""."""
    from spacy_lpcfg.models import has_pretrained

    context = missing.ctx
    if context is None or all(getattr(parameter, "metavar", None) != "MODEL" for parameter in context.command.params):
        return ""
    model = context.params.get("model")
    if model is None or has_pretrained(model) or os.path.isdir(model):
        return ""
    return f"{shown(model)} stands where a MODEL is expected, which comes first, such as en."
