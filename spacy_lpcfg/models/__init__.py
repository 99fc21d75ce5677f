"""Models that come with the package, by name; each has a model card beside it."""

from __future__ import annotations

from pathlib import Path

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.model import ParsingModel, model_from_disk

FAST = "-fast"
"""The end of the name of a model's grammar without evidence."""
_FOLDER = Path(__file__).parent


def pretrained_names() -> list[str]:
    """Return the names of all models: that of a language alone, such as "en", is the default of the language, and
    "en-fast" is its grammar without evidence.
    """
    names = [path.stem for path in _FOLDER.glob("*.model")]
    return sorted(names + [name + FAST for name in names])


def has_pretrained(name: str) -> bool:
    """Return whether a model of that name comes with the package."""
    return name in pretrained_names()


def pretrained_path(name: str) -> Path:
    """Return where the model of a name lies, if there is one."""
    return _FOLDER / f"{name.removesuffix(FAST)}.model"


def pretrained_model(name: str) -> ParsingModel:
    """Return the model of a name, read anew.

    RAISES (ValueError): If there is none.
    """
    if not has_pretrained(name):
        raise ValueError(
            f"No model {shown(name)} comes with spacy-lpcfg, which has {', '.join(pretrained_names())}. Learn one from "
            "a treebank: spacy-lpcfg learn lpcfg TREES --output DIR"
        )
    model = model_from_disk(pretrained_path(name))
    return model.without_evidence if name.endswith(FAST) else model
