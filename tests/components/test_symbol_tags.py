"""Emoji and other symbols that an English model does not know are SYM, and not punctuation."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lpcfg.components.symbol_tags import symbol_tags

EMOJI = "❤️"


def test_symbols_are_what_is_neither_known_nor_ascii_nor_currency():
    words = ["It", "👍", "👍🏽", EMOJI, "→", "™", "°", "€", "+", "…", "“", "•", "—", "a\u0301"]
    expected = [None, *["SYM"] * 5, *[None] * 8]
    assert symbol_tags(words, {"°"}, "en") == expected
    assert symbol_tags(words, {"°"}, "de") is None
    assert symbol_tags(["It", "left", "."], set(), "en") is None


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    return nlp


@pytest.mark.parametrize("tags", ["model", "prior", "given"])
def test_english_symbols_are_no_punctuation(nlp, tags):
    nlp.get_pipe("lpcfg_parser").tags = tags
    doc = nlp("I love it 👍 🙂.")
    assert [token.tag_ for token in doc[3:]] == ["SYM", "SYM", "."]
    assert [token.tag_ for token in nlp("📷 by Ann")] == ["SYM", "IN", "NNP"]


def test_english_symbols_keep_given_tags(nlp):
    nlp.get_pipe("lpcfg_parser").tags = "given"
    doc = nlp(Doc(nlp.vocab, words=["Great", "👍", "📷"], tags=["", "UH", ""]))
    assert str(doc._.constituency[0].tree.tags[1:]) == "['UH', 'SYM']"
