"""One learner by any door: the shell, a config of spaCy and Python learn the same model from the same trees."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
import spacy
from commands import run, sets
from paths import SAMPLE

from spacy_lpcfg.components.cli.shared.learner_options import parsed_settings
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.trees import read_trees, write_trees

SETTINGS = {
    "pivot": ("n_states=2", "n_iterations=2", "evidence=false"),
    "spectral": ("n_states=2",),
    "em": ("n_states=2", "n_iterations=2"),
    "split-merge": (),
    "pcfg": (),
    "induction": ("n_states=2",),
}
CASES = [*SETTINGS.items(), ("pcfg", ("evidence=true",)), ("em", ("n_states=2", "n_iterations=2", "evidence=true"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """The files of the trees to learn from, and of those to tune on."""
    folder = tmp_path_factory.mktemp("trees")
    for name, n in (("train", 40), ("dev", 4)):
        write_trees(folder / f"{name}.mrg", islice(read_trees(SAMPLE / f"{name}.mrg"), n))
    return {name: folder / f"{name}.mrg" for name in ("train", "dev")}


def by_python(name: str, settings: tuple[str, ...], train: Path, dev: Path | None) -> bytes:
    learner = make_learner(name, settings=parsed_settings(settings), encoder="none")
    return learner.fit(read_trees(train), held_out=None if dev is None else read_trees(dev)).to_bytes()


def by_config(name: str, settings: tuple[str, ...], train: Path, dev: Path | None) -> bytes:
    nlp = spacy.blank("en")
    learner = {"@misc": "spacy-lpcfg.Learner.v1", "name": name, "settings": parsed_settings(settings)}
    nlp.add_pipe("lpcfg_parser", config={"learner": {**learner, "encoder": "none"}})
    if dev is not None:
        reader = {"@readers": "spacy-lpcfg.Treebank.v1", "path": str(dev)}
        nlp.config["initialize"]["components"]["lpcfg_parser"] = {"held_out": reader}
    nlp.initialize(lambda: Treebank(train)(nlp))
    return nlp.get_pipe("lpcfg_parser").learned.to_bytes()


def by_shell(name: str, settings: tuple[str, ...], train: Path, dev: Path | None, output: Path) -> Path:
    tuned = () if dev is None else ("--dev", dev)
    encoder = ("--encoder", "none") if "evidence=true" in settings else ()
    run("learn", "lpcfg", train, "--method", name, *encoder, *tuned, *sets(*settings), "--output", output)
    return output


@pytest.mark.parametrize("with_dev", [False, True], ids=["alone", "tuned"])
@pytest.mark.parametrize(
    ("name", "settings"), CASES, ids=lambda case: case if isinstance(case, str) else ",".join(case)
)
def test_doors_lead_to_the_same_model(files, tmp_path, name, settings, with_dev):
    train, dev = files["train"], files["dev"] if with_dev else None
    output = by_shell(name, settings, train, dev, tmp_path / "model")
    learned = (output / "lpcfg_parser" / "model").read_bytes()
    assert by_python(name, settings, train, dev) == learned
    assert by_config(name, settings, train, dev) == learned
    meta = json.loads((output / "meta.json").read_text("utf-8"))
    assert ("singular_values" in meta) == (name == "spectral")
