"""Where the tests find the treebanks and scorer examples that are not part of the project; small models."""

import os
import re
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from commands import SAMPLE, run, sample_part, sets
from filelock import FileLock
from hypothesis import HealthCheck, settings
from thinc.api import Config

from spacy_lpcfg.trees import read_trees

# How long an example takes is the machine's affair. The quick profile tries the same examples each time.
_SLOW_IS_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=30, derandomize=True, **_SLOW_IS_FINE)
settings.register_profile("thorough", **_SLOW_IS_FINE)
settings.load_profile("quick")


_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
_IS_SLOW = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)
SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not here: these tests measure on data outside the project")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The treebanks; tests on them are slow ones, beside those on the sample that comes with the project."""
    return _folder("data")


@pytest.fixture(scope="session")
def shared_evalb() -> Path:
    return _folder("evalb")


@pytest.fixture
def new_file(tmp_path):
    """What writes a text or bytes into a file of the test's folder."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Which tests run, and on how many cores ------------------------------------------------------------


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests too")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by pytest alone, run by pytest --all or if its file is named")
    if config.getoption("--all"):
        settings.load_profile("thorough")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Where no file is named, tests run on all cores, unless options say otherwise."""
    if _names_no_file(config) and not _IS_WORKER and config.getoption("numprocesses", 0) is None:
        config.option.numprocesses, config.option.dist = "auto", "loadfile"
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_ignore_collect(collection_path, config):
    """Do not even import a file of slow tests alone where these are left out."""
    if _leaves_out_slow_tests(config) and collection_path.suffix == ".py":
        return bool(_IS_SLOW.search(collection_path.read_text("utf-8"))) or None
    return None


def pytest_collection_modifyitems(config, items):
    if not _leaves_out_slow_tests(config):
        return
    parts = {True: [], False: []}
    for item in items:
        parts[item.get_closest_marker("slow") is not None or "shared_data" in item.fixturenames].append(item)
    config.hook.pytest_deselected(items=parts[True])
    items[:] = parts[False]


def _leaves_out_slow_tests(config):
    return not config.getoption("--all") and _names_no_file(config)


def _names_no_file(config):
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS


# Models that come with the package, read once ------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def _share_bundled_models():
    """Read each model that comes with the package once: it takes a second, and models do not change."""
    from spacy_lpcfg.models import loading

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "model_from_disk", cache(loading.model_from_disk))
        yield


@pytest.fixture(scope="session")
def sample():
    """The first hundred trees of the sample treebank."""
    return list(islice(read_trees(SAMPLE / "train.mrg"), 100))


@pytest.fixture(scope="session")
def sample_grammar():
    """A treebank PCFG of the sample treebank."""
    from spacy_lpcfg.learning import TreebankPCFG

    return TreebankPCFG().fit(read_trees(SAMPLE / "train.mrg"))


# Small models, learned once a run even if several workers share it ---------------------------------


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory):
    """A folder with the first sample trees, train.mrg, dev.mrg and hundred.mrg, and the models learned from them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if _IS_WORKER else base) / "sample"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "trees.lock"):
        for path, part, n in (("train", "train", 250), ("dev", "dev", 20), ("hundred", "train", 100)):
            if not (folder / f"{path}.mrg").exists():
                sample_part(folder / f"{path}.mrg", part, n)
        if not (folder / "text").exists():
            (folder / "text").write_text("The ferry left .\n\nMy sister missed the ferry .\n", encoding="utf-8")
    return folder


def learned(folder: Path, name: str, *command: object) -> Path:
    """Return the folder that a command saves, which the first worker that needs it runs."""
    with FileLock(folder / f"{name}.lock"):
        if not (folder / name).exists():
            run(*command, "-o", folder / name)
    return folder / name


@pytest.fixture(scope="session")
def pcfg_model(sample_folder):
    """A pipeline with a treebank PCFG."""
    return learned(sample_folder, "pcfg", "learn", "parser", sample_folder / "train.mrg", "--method", "pcfg")


@pytest.fixture(scope="session")
def spectral_model(sample_folder):
    """A pipeline with a spectral grammar of two states."""
    options = "--method", "spectral", "--set", "n_states=2"
    return learned(sample_folder, "spectral", "learn", "parser", sample_folder / "train.mrg", *options)


@pytest.fixture(scope="session")
def isbn_model(sample_folder):
    """A pipeline with a belief network of four units."""
    options = "--method", "isbn", *sets("n_states=4", "n_epochs=2")
    folder = learned(sample_folder, "isbn", "learn", "parser", sample_folder / "hundred.mrg", *options)
    config = Config().from_disk(folder / "config.cfg", interpolate=False)
    if config["components"]["isbn_parser"]["pruning"]["beam"] != 4:
        config["components"]["isbn_parser"]["pruning"]["beam"] = 4
        config.to_disk(folder / "config.cfg")
    return folder


@pytest.fixture(scope="session")
def bracketer_model(sample_folder):
    """A pipeline with a bracketer."""
    return learned(sample_folder, "bracketer", "learn", "bracketer", SAMPLE / "train.mrg", "--set", "variant=paper")


@pytest.fixture(scope="session")
def language_model(sample_folder):
    """A language model of a few sentences."""
    options = sets("n_states=2", "method=em", "rare=0")
    return learned(sample_folder, "lm", "learn", "lm", sample_folder / "text", *options)
