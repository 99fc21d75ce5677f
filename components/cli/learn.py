"""`spacy-lpcfg learn`: the group of commands that learn."""

from __future__ import annotations

import os
from typing import Any

from typer.core import TyperGroup

from spacy_lpcfg.components.cli.console import looks_like_path


class LearnCommands(TyperGroup):
    """The commands of `learn`; where a file comes in their place, the message says what comes before it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and (looks_like_path(name) or os.path.exists(name)):
            ctx.fail(
                f"{name!r} comes after what to learn, one of {', '.join(self.list_commands(ctx))}: "
                f"`spacy-lpcfg learn lpcfg {name}` learns a grammar, the usual parser."
            )
        return super().resolve_command(ctx, args)
