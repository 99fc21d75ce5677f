"""Parsing by grammars that were learned from raw text."""

import numpy as np
import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.bracketing.extensions.flat_brackets import without_flat
from spacy_lpcfg.induced.parser import BracketCandidates
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.query import Query

INDUCED = model("induced")
WORDS = [word for word in SENTENCE if word != "."]


def test_parser_has_posteriors_of_spans():
    brackets = make_parser(INDUCED).posteriors(SENTENCE).brackets
    by_hand = INDUCED.posteriors([WORDS])[0]
    assert brackets.pop((0, len(SENTENCE), "S")) == 1.0
    assert {name for _, _, name in brackets} == {"X"}
    assert brackets == pytest.approx({(i, j, "X"): by_hand[i, j] for i, j, _ in brackets})
    is_likely = by_hand > 1e-3
    assert len(brackets) == is_likely.sum() - 1  # the sentence


def test_parser_leaves_punctuation_between_words():
    """Brackets are those of the words alone, and neither begin nor end with a mark."""
    parser, marked = make_parser(INDUCED), ["``", *WORDS[:4], ",", *WORDS[4:], "."]
    place = {i: i + 1 + (i >= 4) for i in range(len(WORDS))}
    of_words = {(place[i], place[j - 1] + 1): p for (i, j, _), p in parser.posteriors(WORDS).brackets.items()}
    of_marked = {(i, j): p for (i, j, name), p in parser.posteriors(marked).brackets.items() if name == "X"}
    del of_words[place[0], place[len(WORDS) - 1] + 1]
    assert of_marked == pytest.approx(of_words)


def test_parser_chooses_the_tree_by_posteriors():
    parse = make_parser(INDUCED).parse(SENTENCE)
    brackets = make_parser(INDUCED).posteriors(SENTENCE).brackets
    assert parse.spans[0] == (0, len(SENTENCE), "S")
    np.testing.assert_allclose(parse.span_scores, [brackets[span] for span in parse.spans], rtol=1e-6)
    assert parse.span_scores.min() > BracketCandidates.bracket_cost
    assert without_flat(parse.spans, parse.tags) == parse.spans
    assert parse.tags == list(INDUCED.members[0].tags.tags(SENTENCE))


@pytest.mark.parametrize("words", [["Go"], [","], [",", "."], ["go", "home"], ["go", ",", "home", "!"]])
def test_parser_brackets_nothing_within_two_words(words):
    assert make_parser(INDUCED).parse(words).spans == [(0, len(words), "S")]


def test_parser_parses_long_sentences_in_pieces():
    parse = make_parser(INDUCED).parse(WORDS * 20)
    assert parse.status == "segmented"
    assert parse.tree.words == WORDS * 20


def test_parser_takes_constraints():
    parser = make_parser(INDUCED)
    likely = [(i, j, name) for (i, j, name), p in parser.posteriors(SENTENCE).brackets.items() if 0.05 < p < 0.4]
    for span in likely[:3]:
        parse = parser.parse(Query(SENTENCE, constraints=Constraints(required=(span,))))
        assert span in parse.spans
        assert parse.status == "parsed"
    impossible = Constraints(required=((0, 2, "NP"),))
    assert parser.parse(Query(SENTENCE, constraints=impossible)).status == "unconstrained"
