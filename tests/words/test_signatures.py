"""Signatures of unknown words: from the most specific to the one of all words, and back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_lpcfg.words.signatures import (
    MAX_SUFFIX,
    UNKNOWN,
    affix_backoff,
    is_in_capitals,
    is_signature,
    shorter_signature,
    signature_backoff,
    suffix_signatures,
)


@pytest.mark.parametrize(
    ("word", "sentence_initial", "names"),
    [
        ("walking", False, ["walking", "<form ing>", "<form>"]),
        ("Walking", False, ["Walking", "<form Cap ing>", "<form Cap>", "<form>"]),
        ("Walking", True, ["Walking", "walking", "<form Init ing>", "<form Init>", "<form>"]),
        ("NATO", True, ["NATO", "nato", "<form CAPS low>", "<form CAPS>", "<form>"]),
        ("eBay", False, ["eBay", "<form miXed y>", "<form miXed>", "<form>"]),
        ("mother-in-law", False, ["mother-in-law", "<form dash low>", "<form dash>", "<form>"]),
        ("B-52", False, ["B-52", "<form CAPS alnum low>", "<form CAPS alnum>", "<form alnum>", "<form>"]),
        ("...", True, ["...", "<form punct low>", "<form punct>", "<form>"]),
        ("ing", False, ["ing", "<form low>", "<form>"]),  # too short for its suffix
        ("", False, ["", "<form punct low>", "<form punct>", "<form>"]),
        ("''", True, ["''", '"', "<form punct low>", "<form punct>", "<form>"]),
        ("-RRB-.", False, ["-RRB-.", ").", "<form punct low>", "<form punct>", "<form>"]),
        (":-RRB-", True, [":-RRB-", ":)", "<form punct low>", "<form punct>", "<form>"]),
        ("walk-LRB-s-RRB-", False, ["walk-LRB-s-RRB-", "walk(s)", "<form low>", "<form>"]),
    ],
)
def test_signature_backoff_goes_from_the_word_to_the_signature_of_all(word, sentence_initial, names):
    assert signature_backoff(word, sentence_initial) == names


@pytest.mark.parametrize("word", ["<format>", "<formula", "form", "<form"])
def test_signatures_are_no_words(word):
    names = signature_backoff(word, False) + affix_backoff(word, False)[1:]
    assert [is_signature(name) for name in names] == [False] + [True] * (len(names) - 1)


def test_signature_backoff_tells_numbers_from_words():
    assert "<form num>" in signature_backoff("1,234.5", False)
    assert "<form alnum>" in signature_backoff("1980s", False)
    assert "<form dot>" in signature_backoff("www.a.org", False)


@given(st.text(), st.booleans())
@example("\ud800", True)
@example("<form>", False)
@example("<tag NN>", True)
def test_signature_backoff_of_any_text(word, sentence_initial):
    names = signature_backoff(word, sentence_initial)
    assert names[0] == word
    assert names[-1] == UNKNOWN
    assert len(names) <= 7
    assert all(name.startswith("<form") for name in names[3:])
    assert len(set(names[1:])) == len(names[1:])


def test_suffix_signatures_from_short_to_long():
    assert suffix_signatures("Walked", False) == ["", "Cap ", "Cap  -d", "Cap  -ed", "Cap  -ked", "Cap  -lked"]
    assert suffix_signatures("3.5", True) == ["", " num", " num -5", " num -.5"]
    assert suffix_signatures("", False)[0] == ""
    assert suffix_signatures("-RRB-.", False) == ["", " punct", " punct -."]


@given(st.text(), st.booleans())
@example("- -", False)
def test_shorter_signature_is_the_one_before(word, sentence_initial):
    found = suffix_signatures(word, sentence_initial)
    assert len(found) <= 2 + MAX_SUFFIX
    assert [shorter_signature(each) for each in found[1:]] == found[:-1]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("HELP ME NOW !", True),
        ("STOP IT", True),
        ("-LRB- STOP IT -RRB-", True),
        ("Ferry Sinks off Coast", True),
        ("Dog Bites Man", True),
        ("Ann Lee", False),  # more often a name than a headline
        ("He is OK .", False),
        ("NATO met in Rome .", False),
        ("GO !", False),
        ("it rains", False),
        ("-LRB- 1 -RRB- .", False),
        ("", False),
    ],
)
def test_signatures_know_sentences_in_capitals(sentence, expected):
    assert is_in_capitals(sentence.split()) is expected


@pytest.mark.parametrize("signatures", [signature_backoff, affix_backoff, suffix_signatures])
def test_signatures_look_at_both_ends_of_a_long_word(signatures):
    long, short = "Q" + "7-" * 2000 + "ing", "Q" + "7-" * 20 + "ing"
    assert signatures(long, False)[1:] == signatures(short, False)[1:]
    inner = "b" * 60 + "7" * 10**6 + "b" * 60  # whose middle tells nothing
    assert signatures(inner, False)[1:] == signatures("b" * 100, False)[1:]
