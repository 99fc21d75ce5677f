"""Import of optional dependencies."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any


def extra(module: str, what: str, name: str) -> Any:
    """Import a module of an optional dependency, and return it.

    module (str): The module, such as "nltk.tree".
    what (str): The feature that needs it, for the error message.
    name (str): The extra that installs it.
    RAISES (ImportError): If the module is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        packages = " ".join(dict.fromkeys([package, *_missing(name)]))
        raise ImportError(
            f"{what} needs {package}, which is not installed: pip install {packages}. "
            f'Or all of the extra: pip install "spacy-lpcfg[{name}]", and in a checkout pip install -e ".[{name}]".'
        ) from error


def _missing(extra_name: str) -> list[str]:
    """Return the packages of an extra that are not installed; package and module must have the same name."""
    mine = re.compile(rf"""([\w.-]+).*\bextra == ["']{extra_name}["']""")
    names = [match[1] for line in requires("spacy-lpcfg") or () if (match := mine.match(line))]
    return [name for name in names if find_spec(name) is None]
