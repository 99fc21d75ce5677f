"""The stubs of compiled modules tell mypy and editors what Python modules import from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType

import spacy_lpcfg

PACKAGE = Path(spacy_lpcfg.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def is_public(name: str) -> bool:
    return not name.startswith("_")


def in_stub(nodes: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, list[str] | None]]:
    """Public names in a stub, each with its parameters if it is a function."""
    for node in nodes:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id, None
        elif isinstance(node, ast.ClassDef):
            yield node.name, None
            yield from in_stub(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and is_public(node.name):
            parameters = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
            yield prefix + node.name, None if node.decorator_list else parameters


def in_module(module: ModuleType) -> Iterator[tuple[str, list[str] | None]]:
    """Likewise of what a compiled module defines."""
    for name, value in vars(module).items():
        if is_public(name) and getattr(value, "__module__", None) == module.__name__:
            is_class = isinstance(value, type)
            yield name, None if is_class else [*signature(value).parameters]
            for part, inner in vars(value).items() if is_class else ():
                if is_public(part):
                    yield f"{name}.{part}", [*signature(inner).parameters] if callable(inner) else None


def test_stubs_say_what_is_in_their_modules():
    """Stubs may leave out what no Python module imports."""
    for path in STUBS:
        module = import_module(".".join(["spacy_lpcfg", *path.relative_to(PACKAGE).with_suffix("").parts]))
        stub, compiled = dict(in_stub(ast.parse(path.read_text("utf-8")).body)), dict(in_module(module))
        constants = {name for name, value in vars(module).items() if name.isupper() and isinstance(value, (int, dict))}
        own = {name: stub[name] for name in stub if name not in constants}
        assert own == {name: compiled.get(name, "missing") for name in own}
