"""spaCy's own commands and corpora with the components, the readers and the scorer."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import spacy
from commands import process
from paths import ROOT, SAMPLE
from spacy.cli.debug_config import debug_config
from spacy.cli.debug_data import debug_data
from spacy.cli.init_config import fill_config
from thinc.api import Config

from spacy_lpcfg.components.doc.read import trees

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*without sentence boundaries")]

SMALL = ("--corpora.train.limit", 150, "--corpora.dev.limit", 30)
PATHS = ("--paths.train", SAMPLE / "train.mrg", "--paths.dev", SAMPLE / "dev.mrg")
GRAMMAR = (
    ROOT / "configs" / "grammar.cfg",
    *PATHS,
    *SMALL,
    "--vars.learner",
    "spectral",
    "--vars.settings.n_states",
    2,
)


def spacy_command(*arguments: object) -> str:
    """Run `python -m spacy ...`; its output if it succeeds."""
    done = process(sys.executable, "-m", "spacy", *arguments)
    return done.stdout + done.stderr


def installed(package: Path, site: Path) -> Path:
    """The folder `site`, with what `spacy package` made installed into it."""
    pytest.importorskip("pip", reason="the package is installed by pip, which is not here")
    options = ("--no-deps", "--no-build-isolation", "--quiet", "--target")
    process(sys.executable, "-m", "pip", "install", *options, site, package)
    return site


def training_rows(output: str) -> list[list[str]]:
    """The rows of the table that `spacy train` prints: epoch, step, loss and scores."""
    return [line.split() for line in output.splitlines() if re.fullmatch(r" *\d+ +\d+( +\d+\.\d\d){6} *", line)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    output = spacy_command("train", GRAMMAR[0], "--output", folder, *GRAMMAR[1:])
    assert "EVALB_F" in output
    assert "LOSS" not in output  # its learner has none to tell
    return folder / "model-best"


def test_commands_train_and_load(model):
    nlp = spacy.load(model)
    assert nlp.meta["performance"]["evalb_f"] > 0.4
    assert trees(nlp("The old ferry was sold."))[0].label == "S"


def test_commands_train_by_steps_and_keep_the_best(tmp_path):
    """EM as its config has it: scores between iterations, and the model of the best."""
    config, few = ROOT / "configs" / "stepwise.cfg", ("--vars.settings.n_states", 2, "--training.max_steps", 15)
    output = spacy_command("train", config, "--output", tmp_path, *PATHS, *SMALL, *few)
    rows = training_rows(output)
    assert [int(row[1]) for row in rows] == [0, 5, 10, 15]
    losses = [float(row[2]) for row in rows]  # each the sum since the row before
    assert losses[1] > losses[2] > losses[3] > 0
    best = max(float(row[3]) for row in rows)
    assert spacy.load(tmp_path / "model-best").meta["performance"]["evalb_f"] * 100 == pytest.approx(best, abs=0.01)


def test_commands_package_install_and_load(model, tmp_path):
    spacy_command("package", model, tmp_path, "--name", "tiny", "--version", "0.0.1", "--force")
    (package,) = tmp_path.glob("en_tiny-0.0.1")
    requirements = (package / "meta.json").read_text(encoding="utf-8")
    assert "spacy-lpcfg>=" in requirements
    site = installed(package, tmp_path / "site")
    code = "import spacy; doc = spacy.load('en_tiny')('Who left?'); print(doc[:]._.parse_string)"
    printed = process(sys.executable, "-c", code, env={"PYTHONPATH": str(site)}).stdout
    assert str(trees(spacy.load(model)("Who left?"))[0]) in printed


def test_commands_init_labels(tmp_path):
    spacy_command("init", "labels", GRAMMAR[0], tmp_path, *GRAMMAR[1:])
    labels = json.loads((tmp_path / "lpcfg_parser.json").read_text(encoding="utf-8"))
    assert {"S", "NP", "VP"} <= set(labels)


@pytest.mark.parametrize("name", ["grammar", "stepwise", "isbn", "bracketer", "language_model"])
def test_commands_debug_shipped_configs_as_they_are(name, tmp_path, capsys):
    """With and without paths; what fails, ends in a SystemExit."""
    config = ROOT / "configs" / f"{name}.cfg"
    overrides = {f"paths.{part}": str(SAMPLE / f"{part}.mrg") for part in ("train", "dev")}
    debug_config(config)
    debug_config(config, overrides=overrides)
    _, filled = fill_config(tmp_path / "filled.cfg", config)
    debug_config(tmp_path / "filled.cfg")
    assert set(Config().from_disk(config)["training"]) == set(filled["training"])
    assert capsys.readouterr().out.count("Config is valid") == 3
    small = {"training.max_steps": 1, "corpora.train.limit": 100}
    small |= {"vars.settings.n_states": 2} if name in ("grammar", "stepwise", "isbn") else {}
    debug_data(config, config_overrides=overrides | small, silent=True)
