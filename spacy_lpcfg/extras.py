"""Libraries that are not installed with the package."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any


def extra(module: str, what: str, *, name: str = "viz") -> Any:
    """A module of an extra.

    module (str): such as "matplotlib.figure"
    what (str): what needs it
    name (str): of the extra
    RAISES (ImportError): If it is not installed, with all that is missing of the extra and how to install it.
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
    """The packages of an extra that are not installed; each has its module's name."""
    mine = re.compile(rf"""([\w.-]+).*\bextra == ["']{extra_name}["']""")
    names = [found[1] for line in requires("spacy-lpcfg") or () if (found := mine.match(line))]
    return [name for name in names if find_spec(name) is None]
