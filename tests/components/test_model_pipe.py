"""The components that learn have this in common: errors, warnings, and things that they leave alone."""

import re

import pytest
import spacy
from pipelines import SAMPLE, annotations, answer, give_model, tagged, treebank, untrained
from spacy.tokens import Doc
from texts import ODD_TEXTS

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.training.tagged_text import TaggedText
from spacy_lpcfg.trees import parse_trees

PARSERS = ("lpcfg_parser", "isbn_parser")
WITH_TREES = (*PARSERS, "spectral_bracketer")
NOTHING_LEARNED = {
    "lpcfg_parser": (r"found no trees.*Treebank\.v1", r"no model yet.*spacy train"),
    "isbn_parser": (r"found no trees.*Treebank\.v1", r"no network yet.*spacy train.*learn parser"),
    "spectral_bracketer": (
        r"no tags to learn from.*Give nlp\.initialize get_examples",
        r"no bracketer yet.*spacy train",
    ),
}
"""What a component says when it finds nothing to learn from, and when it is to parse all the same."""
TEXT_KEPT = {
    "lpcfg_parser": "keeps the model that it has",
    "isbn_parser": "keeps the model that it has",
    "spectral_bracketer": "keeps the bracketer",
}
"""What a component warns of that has learned before, and finds nothing to learn from."""


def learned(name: str, **config: object):
    return give_model(untrained(name, **config), name)


def corpus_of(name: str, nlp):
    """Return a reader of a few sentences from which a component can learn."""
    return TaggedText(SAMPLE / "train.mrg", limit=3) if name == "spectral_bracketer" else treebank(3)


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_refuses_a_sample_of_a_streamed_corpus(name):
    nlp = untrained(name)
    nlp.config["training"]["max_epochs"] = -1
    with pytest.raises(ValueError, match="learned from its first 100 examples only"):
        nlp.initialize(lambda: corpus_of(name, nlp)(nlp))


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_without_examples_says_what_it_needs_or_keeps_what_it_has(name, recwarn):
    needs, not_yet = NOTHING_LEARNED[name]
    nlp = untrained(name)
    with pytest.raises(ValueError, match=needs):
        nlp.initialize()
    with pytest.raises(ValueError, match=not_yet):
        answer(nlp, name)
    nlp = learned(name)
    before = annotations(answer(nlp, name))
    nlp.initialize()
    warnings = [str(warning.message) for warning in recwarn]
    assert any(TEXT_KEPT.get(name, "") in warning for warning in warnings) == (name in TEXT_KEPT)
    assert annotations(answer(nlp, name)) == before


def test_pipe_takes_a_ready_model_from_a_file_that_a_config_names(tmp_path):
    nlp, ready = learned("lpcfg_parser"), untrained("lpcfg_parser")
    nlp.get_pipe("lpcfg_parser").learned.to_disk(tmp_path / "ready")
    reader = {"@readers": "spacy-lpcfg.read_model.v1", "path": str(tmp_path / "ready")}
    ready.config["initialize"]["components"]["lpcfg_parser"] = {"model": reader}
    ready.initialize()
    assert annotations(answer(ready, "lpcfg_parser")) == annotations(answer(nlp, "lpcfg_parser"))


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_repr_has_name_model_and_labels(name):
    pipe = untrained(name).get_pipe(name)
    assert repr(pipe).startswith(f"<{type(pipe).__name__} '{name}': no model")
    pipe = learned(name).get_pipe(name)
    assert re.fullmatch(rf"<{type(pipe).__name__} '{name}': model \w+, labels {', '.join(pipe.labels)}>", repr(pipe))


def test_pipe_repr_names_a_pretrained_model_without_reading_it():
    parser = spacy.blank("en").add_pipe("lpcfg_parser")
    assert repr(parser) == "<LPCFGParser 'lpcfg_parser': model 'en', read when it is first needed>"
    assert not parser.model.is_read


def test_pipe_refuses_a_pretrained_model_of_another_language_and_says_of_which_there_are():
    german = spacy.blank("de")
    with pytest.raises(ValueError, match="the pipeline's language, 'de', got the model 'en-fast' of 'en'"):
        german.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    german.add_pipe("lpcfg_parser")
    with pytest.raises(ValueError, match="that come with the package are of en, and this pipeline is of 'de'"):
        german("Das ist gut.")
    english = spacy.blank("en")
    english.add_pipe("lpcfg_parser").learned = None
    with pytest.raises(ValueError, match=r"no model yet.* To parse by the model 'en' of the package, add"):
        english("That is good.")


@pytest.mark.parametrize("name", PARSERS)
def test_pipe_checks_given_labels(name):
    nlp = untrained(name)
    nlp.config["initialize"]["components"][name] = {"labels": ["S"]}
    with pytest.raises(ValueError, match="categories that the given labels have not"):
        nlp.initialize(lambda: treebank(3)(nlp))


@pytest.mark.parametrize(("name", "root"), [("lpcfg_parser", ""), ("isbn_parser", "ROOT")])
def test_pipe_knows_its_labels_and_the_root_of_its_treebank(name, root):
    parser = learned(name).get_pipe(name)
    assert {"S", "NP", "VP"} <= {*parser.labels}
    assert parser.label_data == [*parser.labels]
    assert "ROOT" not in parser.labels
    assert parser.learned.root_label == root


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_that_learns_in_initialize_changes_nothing_in_update(name):
    nlp = learned(name)
    pipe = nlp.get_pipe(name)
    before = pipe.to_bytes(exclude=["vocab"])
    optimizer = nlp.resume_training()
    assert nlp.update(list(corpus_of(name, nlp)(nlp)), sgd=optimizer) == {name: 0.0}
    assert pipe.to_bytes(exclude=["vocab"]) == before
    with pipe.model.use_params({}):
        assert pipe.predict([tagged(nlp)])


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_that_is_loaded_says_that_training_does_not_change_it(name, recwarn):
    nlp = learned(name)
    nlp.update(list(corpus_of(name, nlp)(nlp)))
    assert not recwarn
    nlp.from_bytes(nlp.to_bytes())
    with pytest.warns(UserWarning, match=f"'{name}' learns in nlp.initialize alone, and keeps the model"):
        nlp.update(list(corpus_of(name, nlp)(nlp)))
    again, pipe = learned(name), nlp.get_pipe(name)
    again.from_bytes(nlp.to_bytes())
    again.get_pipe(name).learned = pipe.learned  # as `initialize` does
    recwarn.clear()
    again.update(list(corpus_of(name, again)(again)))
    assert not recwarn


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_predicts_without_changing_docs(name):
    nlp = learned(name)
    pipe, docs = nlp.get_pipe(name), [tagged(nlp), nlp.make_doc(""), nlp.make_doc("\n")]
    before = [doc.to_bytes() for doc in docs]
    predicted = pipe.predict(docs)
    assert [doc.to_bytes() for doc in docs] == before
    pipe.set_annotations(docs, predicted)
    assert all(pipe.spans_key in doc.spans for doc in docs)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_splits_sentences_where_nobody_did_without_complaint(name):
    nlp = learned(name)
    text = tagged(nlp, "It rained . Who left ?")
    wanted = annotations(nlp(text.copy()))
    nlp.remove_pipe("lpcfg_sentencizer")
    (doc,) = nlp.pipe([text])
    assert annotations(doc) == wanted
    assert [sent.start for sent in doc.sents] == [0, 3]


@pytest.mark.parametrize("name", PARSERS)
def test_pipe_takes_given_tags_whether_its_treebank_has_them_or_not(name):
    nlp = learned(name, tags="given")
    pipe = nlp.get_pipe(name)
    doc, plain = (Doc(nlp.vocab, ["Go", "fast"], tags=tags, sent_starts=[1, 0]) for tags in (["NN", "ODD"], None))
    assert trees(pipe(doc), pipe.spans_key)[0].tags == ["NN", "ODD"]
    assert trees(pipe(plain), pipe.spans_key) == trees(learned(name)("Go fast"), pipe.spans_key)


@pytest.mark.parametrize("name", WITH_TREES)
def test_pipe_hands_errors_to_the_error_handler(name, monkeypatch):
    nlp = learned(name)
    seen = []
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, len(docs), type(error))))
    monkeypatch.setattr(type(nlp.get_pipe(name)), "predict", lambda *_: 1 / 0)
    assert list(nlp.pipe([tagged(nlp), tagged(nlp)])) == []
    assert seen == [(name, 2, ZeroDivisionError)]


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_pipe_parses_any_text(name, text):
    nlp = learned(name)
    doc = nlp(text)
    key = nlp.get_pipe(name).spans_key
    found = trees(doc, key)
    for sent, tree, status in zip(doc.sents, found, doc.spans[key].attrs["status"], strict=True):
        words = [token for token in sent if not token.is_space]
        assert (tree is None) == (not words) == (status == "empty")
        assert len(words) == (len(tree) if tree else 0)
        assert list(parse_trees(str(tree))) == [tree] if tree else True
    assert len(found) == len(doc.spans[key].attrs["status"])
