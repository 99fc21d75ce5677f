"""Loading of saved models that parse, of all kinds, by path or by name."""

from __future__ import annotations

import os

from spacy_lpcfg.checks import shown
from spacy_lpcfg.models import FAST, has_pretrained, pretrained_names, pretrained_path
from spacy_lpcfg.models.kinds import model_from_bytes, model_from_disk
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import naming_file, read_file


def pretrained_model(name: str) -> ParsingModel:
    """Read a model that comes with the package, by its name; each call reads the file again.

    RAISES (ValueError): If no model of this name comes with the package.
    """
    if not has_pretrained(name):
        raise ValueError(
            f"No model {shown(name)} comes with spacy-lpcfg, which has {', '.join(pretrained_names())}. Learn one from "
            "a treebank: spacy-lpcfg learn parser TREES --output DIR"
        )
    model = model_from_disk(pretrained_path(name))
    return model.without_evidence if name.endswith(FAST) else model


def load(name: str | os.PathLike[str]) -> ParsingModel:
    """Read a saved model that parses: a grammar, with or without evidence, a belief network, or induced grammars.

    name (str or path): The path of a file, or the name of a model that comes with the package, such as "en". To read a
        file that has the name of such a model, give a path: `load(Path("en"))`.
    RAISES (ValueError): If the file is damaged, not of a parsing model, or of another format. (OSError): If there is no
        such file.
    """
    if isinstance(name, str) and has_pretrained(name):
        return pretrained_model(name)
    data = _read(os.fspath(name))
    with naming_file(name):
        return model_from_bytes(data)


def _read(path: str) -> bytes:
    """Read the file of a model.

    RAISES (OSError): If there is no such file, or it is a folder; the message tells what names are possible.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(f"Expected the file of a model, got the folder {path!r}: spacy.load reads pipelines.")
    try:
        return read_file(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"Expected the file of a model, or one that comes with the package ({', '.join(pretrained_names())}); "
            f"there is no {path!r}."
        ) from error
