"""One learner by any door: the shell, a config of spaCy and Python learn the same model from the same data."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
import spacy
from commands import run, sets
from paths import SAMPLE
from spacy import registry

from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.components.cli.shared.learner_options import parsed_settings
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
NETWORK = ("n_states=4", "n_epochs=2")
LANGUAGE_MODEL = ("n_states=4", "n_iterations=3", "kneser_ney=true", "held_out=0.2")
CASES = [*SETTINGS.items(), ("pcfg", ("evidence=true",)), ("em", ("n_states=2", "n_iterations=2", "evidence=true"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """The files of the trees to learn from, and of those to tune on; and of their words."""
    folder = tmp_path_factory.mktemp("trees")
    for name, n in (("train", 40), ("dev", 4)):
        write_trees(folder / f"{name}.mrg", islice(read_trees(SAMPLE / f"{name}.mrg"), n))
        text = "\n".join(" ".join(sentence.words) for sentence in read_tagged(folder / f"{name}.mrg"))
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return {name: folder / f"{name}.mrg" for name in ("train", "dev")}


def by_python(name: str, settings: tuple[str, ...], train: Path, dev: Path | None) -> bytes:
    learner = make_learner(name, settings=parsed_settings(settings), encoder="none")
    return learner.fit(read_trees(train), held_out=None if dev is None else read_trees(dev)).to_bytes()


def by_config(
    name: str, settings: tuple[str, ...], train: Path, dev: Path | None, pipe: str = "lpcfg_parser", **config: str
) -> bytes:
    """Return the model that `spacy train` learns in `initialize`."""
    nlp = spacy.blank("en")
    learner = {"@misc": "spacy-lpcfg.Learner.v1", "name": name, "settings": parsed_settings(settings)}
    nlp.add_pipe(pipe, config={"learner": {**learner, "encoder": "none"}, **config})
    reader = "TaggedText" if pipe in ("language_model", "spectral_bracketer") else "Treebank"
    make = registry.readers.get(f"spacy-lpcfg.{reader}.v1")
    if dev is not None:
        held_out = {"@readers": f"spacy-lpcfg.{reader}.v1", "path": str(dev)}
        nlp.config["initialize"]["components"][pipe] = {"held_out": held_out}
    nlp.initialize(lambda: make(train)(nlp))
    return nlp.get_pipe(pipe).learned.to_bytes()


def by_shell(name: str, settings: tuple[str, ...], train: Path, dev: Path | None, output: Path) -> Path:
    tuned = () if dev is None else ("--dev", dev)
    encoder = ("--encoder", "none") if "evidence=true" in settings else ()
    run("learn", "parser", train, "--method", name, *encoder, *tuned, *sets(*settings), "--output", output)
    return output


TUNED = pytest.mark.parametrize("with_dev", [False, True], ids=["alone", "tuned"])


@TUNED
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


@TUNED
def test_doors_lead_to_the_same_networks(files, tmp_path, with_dev):
    train, dev = files["train"], files["dev"] if with_dev else None
    tuned = () if dev is None else ("--dev", dev)
    run("learn", "parser", train, "--method", "isbn", *tuned, *sets(*NETWORK), "--output", tmp_path)
    learned = (tmp_path / "isbn_parser" / "model").read_bytes()
    assert by_python("isbn", NETWORK, train, dev) == learned
    assert by_config("isbn", NETWORK, train, dev, "isbn_parser") == learned


@TUNED
def test_doors_lead_to_the_same_language_model(files, tmp_path, with_dev):
    train, dev = files["train"], files["dev"] if with_dev else None
    tuned = () if dev is None else ("--dev", dev.with_suffix(".txt"))
    run("learn", "lm", train.with_suffix(".txt"), *tuned, *sets(*LANGUAGE_MODEL), "--output", tmp_path)
    learned = (tmp_path / "language_model" / "model").read_bytes()
    learner = make_learner("lm", settings=parsed_settings(LANGUAGE_MODEL))
    train_words, dev_words = ([s.words for s in read_tagged(path)] if path else None for path in (train, dev))
    assert learner.fit(train_words, held_out=dev_words).model.to_bytes() == learned
    assert by_config("lm", LANGUAGE_MODEL, train, dev, "language_model") == learned


def test_doors_lead_to_the_same_brackets(tmp_path):
    train, settings = SAMPLE / "train.mrg", ("embedding.size=10",)
    run("learn", "bracketer", train, *sets(*settings), "--output", tmp_path)
    learned = (tmp_path / "spectral_bracketer" / "model").read_bytes()
    learner = make_learner("bracketer", settings=parsed_settings(settings))
    assert learner.fit(lambda: read_tagged(train)).to_bytes() == learned
    assert by_config("bracketer", settings, train, None, "spectral_bracketer", attr="tag") == learned
