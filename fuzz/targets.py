"""All targets by name."""

from __future__ import annotations

from fuzz import commands, models, readers, trees

TARGETS = {**readers.TARGETS, **trees.TARGETS, **models.TARGETS, **commands.TARGETS}
