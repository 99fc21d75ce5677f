"""Libraries that are not installed with the package."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def extra(module: str, what: str) -> Any:
    """A module of the extra `viz`.

    module (str): such as "matplotlib.figure"
    what (str): what needs it
    RAISES (ImportError): If it is not installed, with what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(f"{what} needs {name}: pip install 'spacy-lpcfg[viz]'.") from error
