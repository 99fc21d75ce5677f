"""Word pieces, against the library `tokenizers`."""

from __future__ import annotations

import random

import pytest
from encoders import VOCABULARY

from spacy_lpcfg.evidence.pieces import MOST_PIECES, WordPieces


def of(word: str) -> list[str]:
    """The pieces of a word, by the small vocabulary."""
    return [VOCABULARY[i] for i in WordPieces(VOCABULARY).of_word(word)]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("Dogs", ["dogs"]),
        ("barked", ["bark", "##ed"]),
        ("rains", ["rain", "##s"]),
        ("É", ["e"]),
        ("dog-a", ["dog", "-", "a"]),
        ("-LRB-", ["("]),
        ("``", ['"']),
        (r"1\/1", ["1", "/", "1"]),
        ("漢漢", ["漢", "漢"]),
        ("dogx", ["[UNK]"]),
        ("the xyz", ["the", "[UNK]"]),
        ("", ["[UNK]"]),
        ("\u200b", ["[UNK]"]),
        ("dog\x00s", ["dogs"]),
        ("a" * 101, ["[UNK]"]),
        ("1" * 9, ["1", *["##1"] * 7]),
    ],
)
def test_pieces_of_words(word, pieces):
    assert of(word) == pieces


def test_pieces_of_long_words_are_few():
    assert of("-" * 10_000) == ["-"] * MOST_PIECES
    assert of("é" * 10_000) == ["[UNK]"]


def test_pieces_need_their_special_ones():
    with pytest.raises(ValueError, match=r"lacks \[CLS\], \[SEP\]"):
        WordPieces(["[UNK]", "a"])


ALPHABET = (
    "aAbß ÀéIİıŁøΣςσЖйñ漢字가한日本語"
    "ｱｶﾞ\u0301\u200d\u00ad\u3000'’“”-–—.,!?$€£%&@#~`^|<>0123٣①½ﬁ"
    "\U0001f600\x00\ufffd\t\n\x85\u2028ทไअא"
)


def test_pieces_are_those_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers", reason="the reference, which nothing else needs")
    letters = sorted({each for char in ALPHABET.lower() for each in (char, f"##{char}")})
    vocabulary = [*dict.fromkeys([*VOCABULARY, *letters, "##ab", "##ss", "ae", "aa", "##bb", "##bab"])]
    ids = {piece: i for i, piece in enumerate(vocabulary)}
    reference = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
    reference.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    reference.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    pieces = WordPieces(vocabulary)
    rng = random.Random(0)
    words = ["".join(rng.choices(ALPHABET, k=rng.randrange(1, 12))) for _ in range(2_000)]
    words += [chr(code) for code in range(0x250)] + ["a" * n for n in (99, 100, 101)] + ["ab-" * 30]
    for word in words:
        if word not in ("``", "''"):
            expected = reference.encode(word, add_special_tokens=False).ids[:MOST_PIECES]
            assert list(pieces.of_word(word)) == (expected or [ids["[UNK]"]]), repr(word)
