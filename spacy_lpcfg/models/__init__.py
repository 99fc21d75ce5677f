"""Models that come with the package, by name; each has a model card beside it."""

from __future__ import annotations

from pathlib import Path

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.model import ParsingModel, model_from_disk

_FOLDER = Path(__file__).parent


def pretrained_names() -> list[str]:
    """The names of all that there are; that of a language, such as "en", is of the one that is taken by default."""
    return sorted(path.stem for path in _FOLDER.glob("*.model"))


def has_pretrained(name: str) -> bool:
    """Whether a model of that name comes with the package."""
    return name in pretrained_names()


def pretrained_path(name: str) -> Path:
    """Where the model of a name lies, if there is one."""
    return _FOLDER / f"{name}.model"


def pretrained_model(name: str) -> ParsingModel:
    """The model of a name, read anew.

    RAISES (ValueError): If there is none.
    """
    if not has_pretrained(name):
        raise ValueError(
            f"No model {shown(name)} comes with spacy-lpcfg, which has {', '.join(pretrained_names())}. Learn one from "
            "a treebank: spacy-lpcfg learn lpcfg TREES --output DIR"
        )
    return model_from_disk(pretrained_path(name))
