"""Pieces of words, against the library `tokenizers`."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from encoders import UNIGRAMS, VOCABULARY

from spacy_lpcfg.evidence.pieces import MOST_PIECES, UnigramPieces, WordPieces, pieces_from_values


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


def test_cased_pieces_keep_letters_and_accents():
    pieces = WordPieces([*VOCABULARY, "É", "D"], lower=False, strip_accents=False)
    assert [pieces.vocabulary[i] for word in ("É", "D", "dog", "Dog") for i in pieces.of_word(word)] == [
        *("É", "D", "dog", "[UNK]")
    ]
    again = pieces_from_values(pieces.vocabulary, pieces.to_values())
    assert again.of_word("É") == pieces.of_word("É")


SCORES = np.array([score for _, score in UNIGRAMS], np.float32)
UNIGRAM_PIECES = UnigramPieces([piece for piece, _ in UNIGRAMS], SCORES)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("the", ["▁the"]),
        ("dogs", ["▁dog", "s"]),
        ("barked", ["▁bark", "ed"]),
        ("ｄｏｇ", ["▁dog"]),
        ("the\u00a0dog", ["▁the", "▁dog"]),
        ("-LRB-", ["("]),
        ("zzdog", ["<unk>", "dog"]),
        ("dog\x00\u0301", ["▁dog", "<unk>"]),
        ("", ["<unk>"]),
        ("\u200b", ["<unk>"]),
        ("1" * 20, [*"11111111"]),
        ("▁", ["<unk>"]),
    ],
)
def test_unigram_pieces_are_the_likeliest(word, pieces):
    assert [UNIGRAM_PIECES.vocabulary[i] for i in UNIGRAM_PIECES.of_word(word)] == pieces


def test_unigram_pieces_are_those_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers", reason="the reference, which nothing else needs")
    rng = random.Random(0)
    texts = {"".join(rng.choices(ALPHABET, k=rng.randrange(1, 4))) for _ in range(300)}
    parts = {part for text in texts for part in (text, f"▁{text}") if " " not in text} - {"▁"}
    vocabulary = [*UNIGRAMS[:5], *((part, -rng.uniform(2, 12)) for part in sorted(parts))]
    pieces = UnigramPieces([piece for piece, _ in vocabulary], np.array([s for _, s in vocabulary], np.float32))
    scores = zip(pieces.vocabulary, pieces.scores.tolist(), strict=True)
    reference = tokenizers.Tokenizer(tokenizers.models.Unigram([*scores], unk_id=3))
    normalizers, splitters = tokenizers.normalizers, tokenizers.pre_tokenizers
    reference.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    reference.pre_tokenizer = splitters.Sequence([splitters.WhitespaceSplit(), splitters.Metaspace()])
    words = ["".join(rng.choices(ALPHABET, k=rng.randrange(1, 12))) for _ in range(2_000)]
    blanks = re.compile("[\u200b-\u200f\u2028\u2029\ufffd\ufeff]")
    for word in words:
        if word not in ("``", "''"):
            parts = [reference.encode(part, add_special_tokens=False).ids for part in blanks.sub(" ", word).split()]
            parts = [ids[1:] if len(ids) > 1 and ids[0] == pieces.ids["▁"] else ids for ids in parts]
            expected = [i for ids in parts for i in ids][:MOST_PIECES]
            assert list(pieces.of_word(word)) == (expected or [3]), repr(word)


def test_pieces_can_be_restricted():
    for pieces in (WordPieces(VOCABULARY), UNIGRAM_PIECES):
        ids = [i for i, piece in enumerate(pieces.vocabulary) if "dog" not in piece]
        fewer = pieces.restricted(ids)
        assert [ids[i] for i in fewer.of_word("barked")] == list(pieces.of_word("barked"))
        assert fewer.vocabulary[fewer.unknown] == pieces.special[2]
