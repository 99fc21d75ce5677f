"""Saved models of all kinds that parse, read in one way."""

from __future__ import annotations

import os

from spacy_lpcfg.models import has_pretrained, pretrained_model, pretrained_names
from spacy_lpcfg.parsing.model import ParsingModel, model_from_bytes
from spacy_lpcfg.storage.container import read_file


def load(name: str | os.PathLike[str]) -> ParsingModel:
    """Read a saved model that parses: a grammar, with or without evidence, or a belief network.

    name (str or path): Of its file, or of a model that comes with the package, such as "en". A file of that name is
        read by `load(Path("en"))`.
    RAISES (ValueError): If the file is damaged, foreign, of another format, or another kind of model.
        (OSError): If there is no such file.
    """
    if isinstance(name, str) and has_pretrained(name):
        return pretrained_model(name)
    return model_from_bytes(_read(os.fspath(name)))


def _read(path: str) -> bytes:
    """Read a file; an OSError says what else a name may be, and what reads a folder."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"Expected the file of a model, got the folder {path!r}: spacy.load reads pipelines.")
    try:
        return read_file(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"Expected the file of a model, or one that comes with the package ({', '.join(pretrained_names())}); "
            f"there is no {path!r}."
        ) from error
