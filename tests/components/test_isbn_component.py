"""The component `isbn_parser`: parsing anything, surprisal, and the settings."""

from itertools import islice

import numpy as np
import pytest
import spacy
from pipelines import SAMPLE, TINY_ISBN, pipeline_of, treebank
from spacy.tokens import Doc, DocBin
from texts import TEXTS

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import normalize, parse_trees, read_trees

NAME, ISBN_KEY = "isbn_parser", "isbn_constituents"


def pipeline(**config):
    return pipeline_of(NAME, **{"pruning": {"beam": 3}, "learner": TINY_ISBN, **config})


@pytest.fixture(scope="module")
def nlp():
    """A pipeline that has learned a little."""
    nlp = pipeline()
    nlp.initialize(lambda: treebank()(nlp))
    return nlp


@pytest.fixture(scope="module")
def golds():
    return [normalize(tree) for tree in islice(read_trees(SAMPLE / "dev.mrg"), 5)]


def test_isbn_parser_says_what_it_takes():
    parser = pipeline().get_pipe(NAME)
    with pytest.raises(ValueError, match="Expected learned to be networks"):
        parser.learned = TreebankPCFG().fit(parse_trees("(S (A a) (B b))"))


def test_isbn_parser_parses_as_the_library_does(nlp, golds):
    parser = nlp.get_pipe(NAME)
    library = IncrementalParser(parser.learned, search=BeamSettings(beam=3))
    for gold in golds:
        doc = parser(tree_to_doc(nlp.vocab, [gold]))
        wanted = library.parse(gold.words)
        assert trees(doc, ISBN_KEY) == [wanted.tree]
        attrs = doc.spans[ISBN_KEY].attrs
        assert attrs["scores"].tolist() == wanted.span_scores.tolist()
        assert attrs["log_probabilities"].tolist() == [wanted.log_probability]


def test_isbn_parser_leaves_given_tags_where_they_are(nlp):
    """By default it tags for itself, in its trees; words without a tag get its own."""
    doc = nlp.get_pipe(NAME)(Doc(nlp.vocab, words=["Go", "fast"], tags=["NOSUCHTAG", ""], sent_starts=[1, 0]))
    free = nlp.get_pipe(NAME)(Doc(nlp.vocab, words=["Go", "fast"], sent_starts=[1, 0]))
    assert trees(doc, ISBN_KEY) == trees(free, ISBN_KEY)
    assert [token.tag_ for token in doc] == ["NOSUCHTAG", free[1].tag_]
    assert free[1].tag_ == doc.spans[ISBN_KEY].attrs["tags"][1]


def test_isbn_parser_settings_change_what_it_does(nlp, with_settings):
    doc = with_settings(output={"set_tags": False}, spans_key="mine")(TEXTS[0])
    assert not doc.has_annotation("TAG")
    assert trees(doc, "mine") == trees(nlp(TEXTS[0]), ISBN_KEY)
    assert (with_settings(output={"threshold": 1})(TEXTS[0]).spans[ISBN_KEY].attrs["scores"] >= 1).all()
    parser = with_settings().get_pipe(NAME)
    searches = [(parser.pruning, parser.decoding), (BeamSettings(beam=1, branching=1), "most-probable")]
    found = []
    for parser.pruning, parser.decoding in searches:
        assert parser.parser is parser.parser
        by_model = parser.parser.parser
        assert (by_model.search, by_model.decoding.name) == (parser.pruning, parser.decoding)
        found.append(parser(nlp.make_doc(TEXTS[0])).spans[ISBN_KEY].attrs["log_probabilities"][0])
    assert found[1] < found[0]


def test_isbn_parser_surprisal_needs_a_parser_that_knows(nlp):
    bytes_ = DocBin(docs=[nlp("Go")]).to_bytes()
    doc = nlp("Go")
    bits = [token._.surprisal for token in doc]
    (asked,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(spacy.blank("en").vocab)
    assert [token._.surprisal for token in asked] == bits
    (same,) = DocBin().from_bytes(bytes_).get_docs(nlp.vocab)
    assert same[0]._.surprisal == nlp("Go")[0]._.surprisal
    (strange,) = DocBin().from_bytes(bytes_).get_docs(spacy.blank("en").vocab)
    for doc in (strange, nlp.make_doc("Go")):
        with pytest.raises(ValueError, match="has no surprisal"):
            _ = doc[0]._.surprisal
    doc = nlp("Go home")
    doc.spans[ISBN_KEY].attrs["surprisal"] = np.zeros(5)
    with pytest.raises(ValueError, match="tokens changed"):
        _ = doc[0]._.surprisal
