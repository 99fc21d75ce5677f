"""Lazy import of a package's public names, so that a program loads only what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(
    package: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that imports its names at first use (PEP 562).

    package (str): The `__name__` of the package.
    names (mapping of str to sequence of str): The public names of each module, by the module's name within the package.
        Only these are listed by `dir`.
    """
    modules = {name: module for module, in_module in names.items() for name in in_module}

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def public() -> list[str]:
        special = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*special, *modules})

    return get, public, sorted(modules)
