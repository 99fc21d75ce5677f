"""Where the tests find the treebanks and scorer examples that are not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not here: these tests measure on data outside the project")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return _folder("data")


@pytest.fixture(scope="session")
def shared_evalb() -> Path:
    return _folder("evalb")
