"""The setting `words`: of effect, refused where it does not fit, and saved, pickled and sent with the component."""

import gzip
import pickle
from dataclasses import replace

import pytest
import spacy
from pipelines import TEXT, pipeline_by, untrained
from stored_models import model

from spacy_lpcfg.components.doc.read import trees

WORDS = "missed VBN\n"


def tags(nlp) -> list[str]:
    return trees(nlp(TEXT))[0].tags


@pytest.fixture
def file(new_file):
    return new_file("words.txt", WORDS)


@pytest.fixture
def nlp(file):
    return pipeline_by(model("grammar"), "xx", words=str(file))[0]


def test_words_change_tags_until_they_are_taken_away(nlp):
    parser = nlp.get_pipe("lpcfg_parser")
    listed = tags(nlp)
    parser.words = None
    assert [pair for pair in zip(tags(nlp), listed, strict=True) if pair[0] != pair[1]][1] == ("VBD", "VBN")


def test_words_have_no_part_in_the_probabilities_of_words_and_of_trees(nlp):
    def probabilities() -> list[object]:
        return [parser.surprisals(doc)[0].tolist(), parser.log_probabilities(doc), parser.log_probabilities(doc, tree)]

    parser, doc = nlp.get_pipe("lpcfg_parser"), nlp(TEXT)
    tree = trees(doc)
    listed = probabilities()
    parser.words = None
    assert probabilities() == listed


def test_words_that_do_not_fit_are_refused(nlp, file):
    parser, before = nlp.get_pipe("lpcfg_parser"), tags(nlp)
    file.write_text("missed VBN\nship NNX\n")
    with pytest.raises(ValueError, match=r"words\.txt:2: Expected tags of the model for 'ship', got 'NNX'; .* NN"):
        parser.words = file
    assert tags(nlp) == before
    parser.learned = model("induced")
    with pytest.raises(ValueError, match="got words: leave them out"):
        nlp(TEXT)


@pytest.mark.parametrize("form", ["bytes", "disk", "pickle"])
def test_words_stay_when_their_file_goes(nlp, file, form, tmp_path):
    if form == "disk":
        nlp.to_disk(tmp_path / "model")
        file.unlink()
        loaded = spacy.load(tmp_path / "model")
    elif form == "bytes":
        data = nlp.to_bytes()
        file.unlink()
        loaded = untrained("lpcfg_parser").from_bytes(data)
    else:
        data = pickle.dumps(nlp)
        file.unlink()
        loaded = pickle.loads(data)
    assert tags(loaded) == tags(nlp)
    assert str(loaded.get_pipe("lpcfg_parser").words) == WORDS


def test_words_that_were_taken_away_are_not_saved(nlp, tmp_path):
    parser = nlp.get_pipe("lpcfg_parser")
    parser.to_disk(tmp_path / "parser")
    parser.words = None
    parser.to_disk(tmp_path / "parser")
    assert parser.from_disk(tmp_path / "parser").words is None


def test_words_of_a_model_that_is_refused_are_not_taken(file, tmp_path):
    without_n_best = replace(model("grammar"), is_proper=False)
    pipeline_by(without_n_best, "xx", words=str(file))[1].to_disk(tmp_path / "parser")
    parser = untrained("lpcfg_parser", decoding="most-probable").get_pipe("lpcfg_parser")
    with pytest.raises(parser.error, match="cannot parse by what was loaded"):
        parser.from_disk(tmp_path / "parser")
    assert parser.words is None


@pytest.mark.parametrize("words", [b"missed\n", b"\xff", gzip.compress(b"missed VBN\n", mtime=0)])
def test_damaged_words_leave_the_component_as_it_was(nlp, words, tmp_path):
    parser = nlp.get_pipe("lpcfg_parser")
    parser.to_disk(tmp_path / "parser")
    (tmp_path / "parser" / "words.txt").write_bytes(words)
    before = parser.learned
    with pytest.raises(parser.error, match="cannot parse by what was loaded"):
        parser.from_disk(tmp_path / "parser")
    assert parser.learned is before
    assert str(parser.words) == WORDS
