"""The table of decodings: which model has which, and what is said where it has not."""

import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.decodings import DECODINGS, MBR, MinimumRisk, check_decoding, decodings_of

OF_KINDS = {
    "grammar": {"mbr", "max-rule", "most-probable"},
    "factored": {"mbr", "max-rule"},
    "isbn": {"mbr", "most-probable"},
    "induced": {"mbr"},
}
TOLD = set().union(*OF_KINDS.values())


@pytest.mark.parametrize("kind", OF_KINDS)
def test_decodings_of_a_model_are_those_that_it_has_what_is_needed_for(kind):
    assert sorted(decodings_of(model(kind))) == sorted(model(kind).decodings)
    assert {*model(kind).decodings} & TOLD == OF_KINDS[kind]
    assert model(kind).decodings[0] == MBR.name
    for name in model(kind).decodings:
        assert make_parser(model(kind), decoding=name).parse(SENTENCE).tree.words == SENTENCE


@pytest.mark.parametrize("kind", OF_KINDS)
def test_decodings_that_a_model_lacks_are_refused_with_what_they_need(kind):
    for name in TOLD - OF_KINDS[kind]:
        with pytest.raises(ValueError, match=f"got '{name}'. {DECODINGS[name].needs[:20]}"):
            make_parser(model(kind), decoding=name)


def test_decodings_that_are_none_are_refused_with_all_that_there_are():
    for name in DECODINGS:
        check_decoding(name)
    with pytest.raises(ValueError, match=f"Expected decoding to be one of {', '.join(DECODINGS)}, got 'zzz'.$"):
        check_decoding("zzz")


@pytest.mark.parametrize("kind", OF_KINDS)
def test_decodings_with_settings_of_their_own_are_carried_out(kind):
    n_brackets = [
        len(make_parser(model(kind), decoding=MinimumRisk(cost)).parse(SENTENCE).spans) for cost in (0.05, 0.95)
    ]
    assert n_brackets[0] >= n_brackets[1] > 0
    with pytest.raises(ValueError, match="bracket_cost"):
        MinimumRisk(2.0)
