"""spaCy's own commands with the component, the reader and the scorer, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from paths import ROOT
from spacy.cli.debug_config import debug_config
from spacy.cli.debug_data import debug_data
from spacy.cli.init_config import fill_config
from spacy.tokens import DocBin
from thinc.api import Config

from spacy_lpcfg.bracketing import SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import universal
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.components.training.tagged_text import TaggedText

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*without sentence boundaries")]

SAMPLE = ROOT / "assets" / "sample"
CONFIG = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["lpcfg_parser"]

[components]

[components.lpcfg_parser]
factory = "lpcfg_parser"

[components.lpcfg_parser.learner]
@misc = "spacy-lpcfg.Learner.v1"
name = "spectral"
settings = {"n_states": 2}

[corpora]

[corpora.train]
@readers = "spacy-lpcfg.Treebank.v1"
path = ${paths.train}
limit = 150

[corpora.dev]
@readers = "spacy-lpcfg.Treebank.v1"
path = ${paths.dev}
limit = 30

[training]
max_epochs = 1
max_steps = 1
eval_frequency = 1
"""


def spacy_command(*arguments: object, python_path: Path | None = None) -> str:
    """Run `python -m spacy ...`; its output if it succeeds."""
    return python("-m", "spacy", *arguments, python_path=python_path)


def python(*arguments: object, python_path: Path | None = None) -> str:
    environment = dict(os.environ)
    if python_path:
        environment["PYTHONPATH"] = str(python_path)
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def installed(package: Path, site: Path) -> Path:
    """The folder `site`, with what `spacy package` made installed into it."""
    pytest.importorskip("pip", reason="the package is installed by pip, which is not here")
    python("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--quiet", "--target", site, package)
    return site


def training_rows(output: str) -> list[list[str]]:
    """The rows of the table that `spacy train` prints: epoch, step, loss and scores."""
    return [line.split() for line in output.splitlines() if re.fullmatch(r" *\d+ +\d+( +\d+\.\d\d){6} *", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a config, and a DocBin of the development part."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "base.cfg").write_text(CONFIG, encoding="utf-8")
    nlp = spacy.blank("en")
    dev = Treebank(SAMPLE / "dev.mrg", limit=30)
    DocBin(docs=dev.docs(nlp.vocab), store_user_data=True).to_disk(folder / "dev.spacy")
    spacy_command("init", "fill-config", folder / "base.cfg", folder / "config.cfg")
    return folder


@pytest.fixture(scope="module")
def paths():
    return ["--paths.train", SAMPLE / "train.mrg", "--paths.dev", SAMPLE / "dev.mrg"]


@pytest.fixture(scope="module")
def model(folder, paths):
    output = spacy_command("train", folder / "config.cfg", "--output", folder / "out", *paths)
    assert "EVALB_F" in output
    assert "LOSS" not in output  # its learner has none to tell
    return folder / "out" / "model-best"


def test_commands_train_and_load(model):
    nlp = spacy.load(model)
    assert nlp.meta["performance"]["evalb_f"] > 0.4
    assert trees(nlp("The old ferry was sold."))[0].label == "S"


def test_commands_train_by_steps_and_keep_the_best(folder, paths):
    """EM as its config has it: scores between iterations, and the model of the best."""
    output = spacy_command(
        "train", ROOT / "configs" / "stepwise.cfg", "--output", folder / "em", *paths, "--vars.settings.n_states", 2,
        "--corpora.train.limit", 150, "--corpora.dev.limit", 30, "--training.max_steps", 15,
    )  # fmt: skip
    rows = training_rows(output)
    assert [int(row[1]) for row in rows] == [0, 5, 10, 15]
    losses = [float(row[2]) for row in rows]  # each the sum since the row before
    assert losses[1] > losses[2] > losses[3] > 0
    best = max(float(row[3]) for row in rows)
    assert spacy.load(folder / "em" / "model-best").meta["performance"]["evalb_f"] * 100 == pytest.approx(
        best, abs=0.01
    )


def test_commands_package_install_and_load(model, folder):
    spacy_command("package", model, folder, "--name", "tiny", "--version", "0.0.1", "--force")
    (package,) = folder.glob("en_tiny-0.0.1")
    requirements = (package / "meta.json").read_text(encoding="utf-8")
    assert "spacy-lpcfg>=" in requirements
    site = installed(package, folder / "site")
    code = "import spacy; doc = spacy.load('en_tiny')('Who left?'); print(doc[:]._.parse_string)"
    assert str(trees(spacy.load(model)("Who left?"))[0]) in python("-c", code, python_path=site)


def test_commands_init_labels(folder, paths):
    spacy_command("init", "labels", folder / "config.cfg", folder / "labels", *paths)
    labels = json.loads((folder / "labels" / "lpcfg_parser.json").read_text(encoding="utf-8"))
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


def test_commands_find_threshold(model, folder):
    output = spacy_command(
        "find-threshold", model, folder / "dev.spacy", "lpcfg_parser", "output.threshold", "evalb_f",
        "--n_trials", 3,
    )  # fmt: skip
    assert "Best threshold" in output


# The bracketer

BRACKETER = """
[nlp]
lang = "en"
pipeline = ["spectral_bracketer"]

[components]

[components.spectral_bracketer]
factory = "spectral_bracketer"

[components.spectral_bracketer.learner]
@misc = "spacy-lpcfg.Learner.v1"
name = "bracketer"
variant = "paper"

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = "{folder}/tagged.spacy"

[corpora.dev]
@readers = "spacy-lpcfg.TaggedText.v1"
path = "{folder}/tagged.spacy"
limit = 5

[training]
max_epochs = 1
max_steps = 1
eval_frequency = 1
"""


@pytest.fixture(scope="module")
def bracketer(folder):
    """A bracketer trained on plain Docs with `token.pos_` and nothing else, as any tagged corpus gives them."""
    nlp = spacy.blank("en")
    docs = [eg.reference for eg in TaggedText(SAMPLE / "train.mrg")(nlp)]
    DocBin(docs=docs, attrs=["ORTH", "SPACY", "POS", "SENT_START"]).to_disk(folder / "tagged.spacy")
    (folder / "bracketer.cfg").write_text(BRACKETER.format(folder=folder.as_posix()), encoding="utf-8")
    spacy_command("init", "fill-config", folder / "bracketer.cfg", folder / "filled.cfg")
    assert "Config is valid" in spacy_command("debug", "config", folder / "filled.cfg")
    spacy_command("train", folder / "filled.cfg", "--output", folder / "bracketer")
    return folder / "bracketer" / "model-last"


def test_commands_train_a_bracketer_on_tagged_docs(bracketer):
    nlp = spacy.load(bracketer)
    learned = nlp.get_pipe("spectral_bracketer").bracketer
    sentences = [
        TaggedSentence(words, tuple(map(universal, tags))) for words, tags in read_tagged(SAMPLE / "train.mrg")
    ]
    assert learned.to_bytes() == SpectralBracketer.variant("paper").fit(lambda: sentences).to_bytes()
