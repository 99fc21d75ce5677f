"""`spacy-lpcfg learn unsupervised`: from lines of words to a pipeline that brackets."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import spacy
from commands import run, sets, trees_in

from spacy_lpcfg import load
from spacy_lpcfg.models.kinds import make_parser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """Sentences such as `the n1 sees a n2 .`, of 160 words."""
    rng = random.Random(0)
    nouns = [f"n{one}{other}" for one in "abcdefghijkl" for other in "abcdefghijkl"]

    def phrase() -> str:
        return f"{rng.choice(['the', 'a', 'some', 'this'])} {rng.choice(nouns)}"

    lines = [f"{phrase()} {rng.choice(['sees', 'has', 'likes', 'hears'])} {phrase()} ." for _ in range(800)]
    path = tmp_path_factory.mktemp("raw") / "text"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_cli_unsupervised_learns_a_pipeline(text, tmp_path):
    (tmp_path / "few").write_text("".join(text.read_text("utf-8").splitlines(keepends=True)[:60]), encoding="utf-8")
    model = tmp_path / "model"
    settings = sets("n_classes=[16, 32]", "n_rounds=1")
    done = run("learn", "unsupervised", text, "--grammar-text", tmp_path / "few", *settings, "-o", model)
    assert "2 simple PCFGs of 32 states, of 16, 32 classes of words" in done.stdout
    (tree,) = trees_in(run("parse", model, "the naa sees a nbb .").stdout)
    assert {label for _, _, label in tree.spans()} <= {"S", "X"}
    assert "2 simple PCFGs of 32 states" in run("inspect", model).stdout
    doc = spacy.load(model)("the naa sees a nbb .")
    assert {span.label_ for span in doc.spans["constituents"]} <= {"S", "X"}
    nlp = spacy.load(model)
    nlp.get_pipe("lpcfg_parser").learned.to_disk(tmp_path / "file")
    words = [token.text for token in doc]
    assert make_parser(load(tmp_path / "file")).parse(words).tree.spans() == tree.spans()
