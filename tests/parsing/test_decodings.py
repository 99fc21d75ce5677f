"""The table of decodings: which model has which, what is said where it has not, and one that is added."""

from itertools import combinations

import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.decodings import DECODINGS, MBR, Decoding, check_decoding, decodings_of
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.query import Query

OF_KINDS = {
    "grammar": {"mbr", "well-formed", "max-rule", "most-probable"},
    "factored": {"mbr", "well-formed", "max-rule"},
    "ensemble": {"mbr", "well-formed", "max-rule"},
    "isbn": {"mbr", "most-probable"},
    "stacked": {"mbr", "well-formed", "max-rule", "most-probable"},
    "induced": {"mbr"},
}
TOLD = set().union(*OF_KINDS.values())
"""The decodings that the table has; others may be added to it."""


@pytest.mark.parametrize("kind", OF_KINDS)
def test_decodings_of_a_model_are_those_that_it_has_what_is_needed_for(kind):
    assert sorted(decodings_of(model(kind))) == sorted(model(kind).decodings)
    assert {*model(kind).decodings} & TOLD == OF_KINDS[kind]
    assert model(kind).decodings[0] == ("well-formed" if kind in ("ensemble", "stacked") else MBR)
    for name in model(kind).decodings:
        assert model(kind).parser(decoding=name).parse(SENTENCE).tree.words == SENTENCE


@pytest.mark.parametrize("kind", OF_KINDS)
def test_decodings_that_a_model_lacks_are_refused_with_what_they_need(kind):
    for name in TOLD - OF_KINDS[kind]:
        with pytest.raises(ValueError, match=f"got '{name}'. {DECODINGS[name].needs[:20]}"):
            model(kind).parser(decoding=name)


def test_decodings_that_are_none_are_refused_with_all_that_there_are():
    for name in DECODINGS:
        check_decoding(name)
    with pytest.raises(ValueError, match=f"Expected decoding to be one of {', '.join(DECODINGS)}, got 'zzz'.$"):
        check_decoding("zzz")


@pytest.fixture
def certain(monkeypatch):
    class CertainDecoder:
        def tree(self, words, posteriors, required=()):
            return mbr_brackets(posteriors.brackets, len(words), cost=0.99), posteriors.best_tags

    entry = Decoding("certain", "few brackets", "", lambda model: True, lambda model: CertainDecoder())
    monkeypatch.setitem(DECODINGS, "certain", entry)
    return entry.name


def test_decodings_may_be_added(certain):
    for kind in OF_KINDS:
        few, many = (model(kind).parser(decoding=name).parse(SENTENCE).spans for name in (certain, MBR))
        assert len(few) <= len(many)
        assert certain in model(kind).decodings


def test_decodings_tell_whether_their_own_tree_satisfies_constraints(certain):
    """Of status "unconstrained" is a tree that breaks them, which is then the model's own."""
    statuses = set()
    for start, end in combinations(range(len(SENTENCE) + 1), 2):
        constraints = Constraints(whole=((start, end),))
        for name in (certain, MBR):
            parse = model("isbn").parser(decoding=name).parse(Query(SENTENCE, constraints=constraints))
            assert constraints.allow(parse.spans) == (parse.status != "unconstrained")
            statuses.add((name, parse.status))
    assert statuses == {(certain, "parsed"), (MBR, "parsed"), (MBR, "unconstrained")}
