"""Tags from raw text, on a language of which every class is known."""

import random

import pytest

from spacy_lpcfg.bracketing.extensions.induced_tags import InducedTags, finite_verbs, is_mark, learn_tags
from spacy_lpcfg.bracketing.tags import UNIVERSAL

NOUNS = [f"noun{letter}" for letter in "abcdefghijklmnop"]
LEXICON = {
    "D": ["the", "a"],
    "A": ["old", "new", "red"],
    "N": NOUNS,
    "V": ["sees", "has", "likes", "is"],
    "P": ["in", "of", "with"],
    "R": ["he", "she", "they"],
    "C": ["and"],
}


def noun_phrase(rng: random.Random, depth: int = 0) -> list[str]:
    phrase = ["R"] if rng.random() < 0.2 else ["D", *["A"] * (rng.random() < 0.4), "N"]
    if depth < 1 and rng.random() < 0.3:
        phrase += ["P", *noun_phrase(rng, depth + 1)]
    if depth < 1 and rng.random() < 0.3:
        phrase = rng.choice([["D", "N", "C", "N"], ["D", "A", "C", "A", "N"], ["R", "C", "R"]])
    return phrase


def sentence(rng: random.Random) -> tuple[list[str], list[str]]:
    kinds = [*noun_phrase(rng), "V", *noun_phrase(rng)]
    return [*(rng.choice(LEXICON[kind]) for kind in kinds), "."], [*kinds, "."]


@pytest.fixture(scope="module")
def text() -> list[tuple[list[str], list[str]]]:
    rng = random.Random(0)
    return [sentence(rng) for _ in range(3000)]


@pytest.fixture(scope="module")
def induced(text) -> InducedTags:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spacy_lpcfg.bracketing.extensions.induced_tags._N_GROUPS", 5)
        return learn_tags([words for words, _ in text], n_classes=8)


def test_induced_tags_give_each_class_its_part(text, induced):
    found = {kind: set() for kind in LEXICON}
    for words, kinds in text:
        for kind, tag in zip(kinds[:-1], induced.tags(words), strict=False):
            found[kind].add(tag)
    assert found["V"] == {"VERB"}
    assert found["N"] == {"NOUN"}
    assert found["C"] == {"CCONJ"}
    assert found["R"] == {"PRON"}
    assert found["D"] | found["A"] <= {"ADJ", "DET", "NUM", "PROPN"}
    assert not found["P"] & {"ADJ", "DET", "NUM", "PROPN", "NOUN", "VERB", "PRON", "CCONJ"}


def test_induced_tags_are_universal_and_one_a_word(text, induced):
    words = [*text[0][0], "unheard-of", "Zzz", "1987", "%", "$", "-LRB-"]
    assert set(induced.tags(words)) <= set(UNIVERSAL)
    assert len(induced.fine(words)) == len(words)
    assert [name == "PUNCT" for name in induced.fine(words)[-5:]] == [False, False, False, True, True]
    assert induced.fine(["The"]) == induced.fine(["the"])


@pytest.mark.parametrize(
    ("word", "expected"),
    [(",", True), ("...", True), ("-RRB-", True), ("$", True), ("%", False), ("&", False), ("n't", False)],
)
def test_induced_tags_know_punctuation_by_its_form(word, expected):
    assert is_mark(word) is expected


def test_induced_tags_finite_verbs_stand_once_and_inside():
    """C1 is in every sentence once, but at its end; C2 once and inside; C3 is in half of them, C4 in the others."""
    rows = [["C5", "C2", "C5", "C1"], ["C5", "C3", "C5", "C1"], ["C5", "C4", "C6", "C1"]] * 5
    assert finite_verbs(rows) == ["C2", "C3", "C4"]
    divided = [["C5", "PUNCT", "C7", "C5", "C1"]] * 50
    assert finite_verbs([*rows, *divided]) == ["C2", "C3", "C4"]
    long = [["C5", "C7", *["C5"] * 6, "C1"]] * 50
    assert finite_verbs([*rows, *long]) == ["C2", "C3", "C4"]


def test_induced_tags_finite_verbs_are_found_behind_a_class_that_more_sentences_have():
    """C1 is in six of ten sentences; C2 in one half and C3 in the other, so no single step leads from C1 to both."""
    rows = [
        ["C9", "C1", verb, "C9"] if k % 5 < 3 else ["C9", "U", verb, "C9"] for verb in ("C2", "C3") for k in range(5)
    ]
    assert finite_verbs(rows) == ["C2", "C3"]
