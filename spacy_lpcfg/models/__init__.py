"""Names of the models that come with the package; each has a model card beside it."""

from __future__ import annotations

from pathlib import Path

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
    """Return the path of the model with a name, whether there is such a model or not."""
    return _FOLDER / f"{name.removesuffix(FAST)}.model"
