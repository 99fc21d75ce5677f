"""Names and files of the models that come with the package; each has a model card beside it."""

from __future__ import annotations

from pathlib import Path

FAST = "-fast"
"""The end of the name of a model's grammar without evidence."""
_FOLDER = Path(__file__).parent


def pretrained_names() -> list[str]:
    """Return the names of all models that come with the package, sorted.

    A language code, such as "en", is the default model of the language; "en-fast" is its grammar without evidence.
    """
    names = [path.stem for path in _FOLDER.glob("*.model")]
    return sorted(names + [name + FAST for name in names])


def has_pretrained(name: str) -> bool:
    """Return whether a model of that name comes with the package."""
    return name in pretrained_names()


def pretrained_path(name: str) -> Path:
    """Return the path of the file of a model that comes with the package; the file need not exist.

    name (str): A name as in `pretrained_names`; "en" and "en-fast" have the same file.
    """
    return _FOLDER / f"{name.removesuffix(FAST)}.model"
