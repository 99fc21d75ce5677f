"""Emoji that an English model does not know are UH, other symbols SYM, and none is punctuation."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lpcfg.components.cli.shared.pipelines import queries_of
from spacy_lpcfg.components.symbol_tags import symbol_tags

EMOJI = "❤️"


def test_symbols_are_what_is_neither_known_nor_ascii_nor_currency():
    words = ["It", "👍", "👍🏽", EMOJI, "→", "™", "°", "€", "+", "…", "“", "•", "—", "a\u0301"]
    expected = [None, *["UH"] * 3, *["SYM"] * 2, *[None] * 8]
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
    assert [token.tag_ for token in doc[3:]] == ["UH", "UH", "."]
    assert nlp("📷 by Ann")[0].tag_ == "UH"


def test_english_symbols_are_tagged_alike_in_and_outside_of_a_doc(nlp):
    words = ["I", "love", "it", "🎉"]
    pipe = nlp.get_pipe("lpcfg_parser")
    assert nlp(Doc(nlp.vocab, words=words))._.constituency[0].tree == pipe.parse(words).tree
    (query,) = queries_of(nlp, pipe, [words])
    assert query.tags == [None, None, None, "UH"]
    assert pipe.query(words, [None, "VBP", None, "SYM"]).tags == [None, "VBP", None, "SYM"]
    with pytest.raises(ValueError, match="Expected at least one word, and a tag or None for each"):
        pipe.parse(words, ["PRP"])


def test_english_symbols_keep_given_tags(nlp):
    nlp.get_pipe("lpcfg_parser").tags = "given"
    doc = nlp(Doc(nlp.vocab, words=["Great", "👍", "📷"], tags=["", "SYM", ""]))
    assert str(doc._.constituency[0].tree.tags[1:]) == "['SYM', 'UH']"


@pytest.mark.parametrize(
    ("text", "bracket"),
    [
        ("I love it 👍 🙂.", "(VP (VBP love) (NP (PRP it))"),
        ("The food was 🙂 really good.", "(ADJP (RB really) (JJ good))"),
        ("My dog 🐶 sleeps all day.", "(VP (VBZ sleeps) (NP (DT all) (NN day)))"),
        ("Thanks ❤️ for the flowers.", "(PP (IN for) (NP (DT the) (NNS flowers)))"),
    ],
)
def test_emoji_leave_the_structure_around_them(nlp, text, bracket):
    assert bracket in str(nlp(text)._.constituency[0].tree)
