"""Tags of treebanks as universal tags, and sentences without punctuation."""

from itertools import pairwise

import pytest

from spacy_lpcfg.bracketing.sentences import UNIVERSAL_IDS, chunks, plain
from spacy_lpcfg.bracketing.tags import UNIVERSAL, is_punctuation, penn, split_compounds, universal


@pytest.mark.parametrize("tag", UNIVERSAL)
def test_tags_universal_ones_stand_for_themselves(tag):
    assert universal(tag) == tag
    assert penn(tag) == tag


def test_tags_universal_ones_keep_their_order():
    """Saved bracketers have the positions of tags: another order gives them other tags without an error."""
    order = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
    assert " ".join(UNIVERSAL) == order


OF_TREEBANKS = (
    "NN>NOUN NNP>PROPN VBD>VERB MD>AUX PRP$>PRON TO>PART HYPH>PUNCT $>PUNCT CONJ>CCONJ PRT>PART .>PUNCT np$-tl>PROPN "
    "ppss+bem>PRON md*>AUX fw-nn>NOUN bedz>VERB -->PUNCT ---hl>PUNCT *>ADV pp$$>PRON ADJA>X >X"
)


@pytest.mark.parametrize("tags", OF_TREEBANKS.split())
def test_tags_of_treebanks_have_universal_ones(tags):
    tag, name = tags.split(">")
    assert universal(tag) == name


def test_tags_unknown_ones_are_punctuation_by_their_words():
    assert is_punctuation("$(", "(")
    assert not is_punctuation("$(", "a")
    assert not is_punctuation("", "")
    assert not is_punctuation("NN", "%")
    assert is_punctuation(",", ",")
    assert is_punctuation("SYM", "$")


@pytest.mark.parametrize(
    ("word", "tag", "parts"),
    [
        ("I'm", "ppss+bem", [("I", "ppss"), ("'m", "bem")]),
        ("don't", "do*", [("do", "do"), ("n't", "*")]),
        ("cannot", "md*", [("cannot", "md")]),
        ("Atlanta's", "np$-tl", [("Atlanta", "np"), ("'s", "POS")]),
        ("boys'", "nns$", [("boys", "nns"), ("'", "POS")]),
        ("his", "pp$", [("his", "pp$")]),
        ("gonna", "vbg+to", [("gonna", "vbg")]),
        ("its", "PRP$", [("its", "PRP$")]),
    ],
)
def test_tags_of_compounds_are_taken_apart(word, tag, parts):
    words, tags = split_compounds(("x", word), ("NN", tag))
    assert list(zip(words, tags, strict=True)) == [("x", "NN"), *parts]


def test_tags_of_a_sentence_without_punctuation_keep_its_segments():
    sentence = plain(("He", "left", ",", "``", "they", "stayed", "."), ("PRP", "VBD", ",", "``", "PRP", "VBD", "."))
    assert sentence.positions == (0, 1, 4, 5)
    assert [UNIVERSAL[tag] for tag in sentence.universal] == ["PRON", "VERB", "PRON", "VERB"]
    assert sentence.segments == (0, 0, 1, 1)


def test_tags_must_be_as_many_as_words():
    with pytest.raises(ValueError, match="2 words and 1 tags"):
        plain(("a", "b"), ("NN",))


def test_tags_in_chunks_are_those_of_all_sentences():
    text = [(("a", "."), ("NN", ".")), (("!",), (".",)), (("b", "I'm", "c"), ("NN", "ppss+bem", "VB"))] * 3
    for size in (1, 4, 100):
        found = list(chunks(text, n_tokens=size))
        assert [word for chunk in found for word in chunk.words] == ["a", "b", "I", "'m", "c"] * 3
        lengths = [int(b - a) for chunk in found for a, b in pairwise(chunk.offsets)]
        assert lengths == [1, 4] * 3
    assert found[0].universal[0] == UNIVERSAL_IDS["NOUN"]
