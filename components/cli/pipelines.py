"""Pipelines that commands make: begun, and saved where nothing else is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from spacy.language import Language


def check_folder(output: Path) -> None:
    """Refuse to replace what is not a pipeline, and a place where nothing can be written."""
    is_pipeline = all((output / name).is_file() for name in ("meta.json", "config.cfg"))
    if output.is_dir() and any(output.iterdir()) and not is_pipeline:
        raise typer.BadParameter(f"{output} holds other files than a pipeline", param_hint="--output")
    above = next(folder for folder in output.parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise typer.BadParameter(f"{above} is no folder that can be written to", param_hint="--output")


def blank_pipeline(lang: str) -> Language:
    import spacy

    try:
        return spacy.blank(lang)
    except ImportError as error:
        raise typer.BadParameter(str(error), param_hint="--lang") from error


def save_pipeline(nlp: Language, output: Path) -> None:
    """Write the pipeline beside its place, and put it there when it is complete."""
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(f"{output.name}.{os.getpid()}.tmp")
    old = output.with_name(f"{output.name}.{os.getpid()}.old")
    try:
        nlp.to_disk(temporary)
        if output.exists():
            os.replace(output, old)
        os.replace(temporary, output)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
