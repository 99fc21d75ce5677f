"""The grammars that come with the package: the file, its model card, and a blank pipeline that parses by them."""

import hashlib
import pickle

import pytest
import spacy
from pipelines import SAMPLE, pipeline_of, treebank

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.models import has_pretrained, pretrained_names, pretrained_path
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.models.loading import pretrained_model
from spacy_lpcfg.parsing.protocol import ANSWERS

TEXT = "The ferry that my sister missed was the last one. We stayed."


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser")
    return nlp


def scores(doc) -> list[float]:
    return doc.spans[KEY].attrs["scores"].tolist()


def test_models_english_parses_in_a_blank_pipeline(nlp):
    doc = nlp(TEXT)
    assert [tree.label for tree in trees(doc)] == ["S", "S"]
    assert {("NP", "The ferry that my sister missed"), ("NP", "the last one"), ("VP", "stayed")} <= {
        (span.label_, span.text) for span in doc.spans[KEY]
    }
    assert min(scores(doc)) > 0.2
    assert doc[1].tag_ == "NN"


def test_models_english_parses_well(nlp):
    """The sample treebank's sentences were written by others and annotated apart; most brackets agree."""
    examples = list(Treebank(SAMPLE / "dev.mrg", limit=60)(nlp))
    assert nlp.evaluate(examples)["evalb_f"] > 0.8


def test_models_english_is_read_at_the_first_parse(monkeypatch):
    reads = []
    monkeypatch.setattr(
        "spacy_lpcfg.components.lpcfg_parser.pretrained_model",
        lambda name: reads.append(name) or pretrained_model(name),
    )
    nlp = pipeline_of("lpcfg_parser")
    nlp.analyze_pipes()
    assert reads == []
    for text in ("Go.", "Stay."):
        assert trees(nlp(text))
    assert reads == ["en"]


def test_models_learning_replaces_it():
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("lpcfg_parser", config={"learner": "pcfg"})
    assert "UCP" in parser.learned.labels
    nlp.initialize(lambda: treebank(3)(nlp))
    assert "UCP" not in parser.labels
    assert len(parser.to_bytes()) < 1e6


def test_models_are_chosen_by_name():
    assert trees(pipeline_of("lpcfg_parser", "xx", pretrained="en")("We stayed."))[0].label == "S"
    with pytest.raises(
        ValueError, match=r"pretrained to be the name of a model of the package, got 'em'.*nearest is 'en'"
    ):
        spacy.blank("en").add_pipe("lpcfg_parser", config={"pretrained": "em"})


def test_models_other_languages_have_none():
    assert not has_pretrained("de")
    with pytest.raises(ValueError, match=r"No model 'de'.*has en.*spacy-lpcfg learn parser"):
        pretrained_model("de")


def test_models_english_answers_every_question_and_is_small():
    assert pretrained_path("en").stat().st_size <= 41e6
    model = pretrained_model("en")
    assert isinstance(model, EvidenceGrammar)
    parser = make_parser(model)
    assert parser.answers == ANSWERS
    words = ["She", "saw", "the", "man", "with", "the", "telescope", "."]
    assert parser.parse(words).log_probability == pytest.approx(parser.log_probability(words), rel=0.01)
    assert len(parser.n_best(words, 3)) >= 2


@pytest.mark.parametrize("name", pretrained_names())
def test_models_card_tells_of_this_file(name):
    data = pretrained_path(name).read_bytes()
    card = pretrained_path(name).with_suffix(".md").read_text("utf-8")
    assert f"| SHA-256 | {hashlib.sha256(data).hexdigest()} |" in card
    assert f"| size, MB | {len(data) / 1e6:.2f} |" in card


@pytest.mark.slow
def test_models_are_not_read_for_pipelines_with_a_grammar_of_their_own(nlp, tmp_path, monkeypatch):
    fresh = spacy.blank("en")
    parser = fresh.add_pipe("lpcfg_parser")
    assert parser.labels == ()
    assert "NP" in pickle.loads(pickle.dumps(parser)).labels
    nlp.to_disk(tmp_path)
    monkeypatch.setattr("spacy_lpcfg.components.lpcfg_parser.pretrained_model", lambda lang: pytest.fail("was read"))
    assert "NP" in spacy.load(tmp_path).get_pipe("lpcfg_parser").labels
