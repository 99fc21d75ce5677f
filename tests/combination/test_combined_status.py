"""The status of trees: what kept one model from a tree of its own shows on the tree of several."""

from dataclasses import replace

import numpy as np
import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.combination import Combined
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.protocol import SentenceReading
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import GLUED, PARSED, SEGMENTED, UNCONSTRAINED

SMALL = ChartSettings(max_applications=100)
EMOJI = ["😀"] * 30


def network():
    isbn = model("isbn")
    return replace(isbn, networks=isbn.networks[:1], normalizers=None)


COMBINED = {
    "grammar and network": lambda: Combined((model("grammar"), network()), (0.5, 0.5)),
    "network and ensemble": lambda: Combined((network(), model("ensemble")), (0.5, 0.5)),
    "layer": lambda: Combined((model("stacked"), network()), (0.5, 0.5)),
    "mirrored": lambda: Combined((Mirrored(model("grammar")), network()), (0.5, 0.5)),
}


@pytest.mark.parametrize("kind", COMBINED)
@pytest.mark.parametrize("decoding", ["well-formed", "mbr", "vote", "rerank"])
def test_status_tells_that_a_member_cut_the_sentence(kind, decoding):
    combined = COMBINED[kind]()
    if decoding not in combined.decodings:
        pytest.skip("it has no such decoding")
    for words in (SENTENCE, EMOJI):
        small, large = (combined.parser(decoding=decoding, chart=each) for each in (SMALL, None))
        assert small.parse(words).status == small.read(words).status == SEGMENTED
        assert large.parse(words).status == large.read(words).status != SEGMENTED
    assert np.isfinite(large.parse(SENTENCE).log_probability) == (kind in ("grammar and network", "layer"))


def test_status_is_glued_where_one_network_fell_back():
    parser = Combined((model("grammar"), network()), (0.5, 0.5)).parser(decoding="mbr")
    parser._parsers[1]._max_bytes = 0
    parse = parser.parse(SENTENCE)
    assert parse.status == GLUED
    assert np.isfinite(parse.log_probability)  # of the grammar


def test_status_of_constraints_is_that_of_the_tree():
    parser = Combined((model("grammar"), network()), (0.5, 0.5)).parser(chart=SMALL)
    impossible = Constraints(required=((0, 2, "NOSUCH"),))
    assert parser.parse(Query(SENTENCE, constraints=impossible)).status == UNCONSTRAINED
    spans = parser.parse(SENTENCE).spans
    possible = Query(SENTENCE, constraints=Constraints(required=(spans[0],)))
    assert parser.parse(possible).status != UNCONSTRAINED


@pytest.mark.parametrize("kind", ["grammar", "ensemble", "stacked", "isbn", "mirrored"])
def test_reading_has_the_status_and_the_log_probability_of_the_parse(kind):
    parsing_model = Mirrored(network()) if kind == "mirrored" else model(kind)
    parser = parsing_model.parser(**parsing_model.usable(chart=SMALL))
    for query in (Query(SENTENCE), Query(EMOJI), Query(SENTENCE, constraints=Constraints(required=((0, 2, "NO"),)))):
        reading, parse = parser.read(query), parser.parse(query)
        assert isinstance(reading, SentenceReading)
        assert reading.status == parse.status
        np.testing.assert_allclose(reading.log_probability, parse.log_probability)


@pytest.mark.parametrize("kind", ["grammar", "ensemble"])
def test_status_is_segmented_where_the_rules_of_the_back_off_found_no_room(kind):
    assert model(kind).parser().parse(["😀"] * 150).status == "backed-off"
    small = model(kind).parser(decoding="max-rule", chart=ChartSettings(max_applications=5000))
    assert small.forest(["😀"] * 150).is_complete
    assert small.parse(["😀"] * 150).status == SEGMENTED
    assert small.parse(SENTENCE).status == PARSED
