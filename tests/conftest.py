"""Where the tests find the treebanks and scorer examples that are not part of the project; small models."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import SAMPLE, run, sample_part
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("untimed")

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


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory):
    """A folder with the first sample trees, train.mrg and dev.mrg."""
    folder = tmp_path_factory.mktemp("sample")
    sample_part(folder / "train.mrg", "train", 250)
    sample_part(folder / "dev.mrg", "dev", 20)
    return folder


@pytest.fixture(scope="session")
def pcfg_model(sample_folder):
    """A pipeline with a treebank PCFG."""
    run("learn", "lpcfg", sample_folder / "train.mrg", "--method", "pcfg", "-o", sample_folder / "pcfg")
    return sample_folder / "pcfg"


@pytest.fixture(scope="session")
def spectral_model(sample_folder):
    """A pipeline with a spectral grammar of two states."""
    options = "--method", "spectral", "--states", 2
    run("learn", "lpcfg", sample_folder / "train.mrg", *options, "-o", sample_folder / "spectral")
    return sample_folder / "spectral"


@pytest.fixture(scope="session")
def isbn_model(sample_folder):
    """A pipeline with a belief network of four units."""
    trees = sample_part(sample_folder / "hundred.mrg", "train", 100)
    run("learn", "isbn", trees, "--states", 4, "--epochs", 2, "--beam", 4, "-o", sample_folder / "isbn")
    return sample_folder / "isbn"


@pytest.fixture(scope="session")
def bracketer_model(sample_folder):
    """A pipeline with a bracketer."""
    run("learn", "bracketer", SAMPLE / "train.mrg", "--preset", "paper", "-o", sample_folder / "bracketer")
    return sample_folder / "bracketer"


@pytest.fixture(scope="session")
def language_model(sample_folder):
    """A language model of a few sentences."""
    text = sample_folder / "text"
    text.write_text("The ferry left .\n\nMy sister missed the ferry .\n", encoding="utf-8")
    run("learn", "lm", text, "--states", 2, "--method", "em", "--rare", 0, "-o", sample_folder / "lm")
    return sample_folder / "lm"
