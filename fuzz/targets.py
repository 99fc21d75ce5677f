"""All targets by name."""

from __future__ import annotations

from fuzz import commands, models, readers, settings, trees

TARGETS = {**readers.TARGETS, **trees.TARGETS, **models.TARGETS, **settings.TARGETS, **commands.TARGETS}
