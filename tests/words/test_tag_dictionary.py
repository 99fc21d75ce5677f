"""Tag dictionaries: the format of their files, how words are looked up, and what errors say."""

from __future__ import annotations

import pytest

from spacy_lpcfg.words.tag_dictionary import TagDictionary


def lines(text: str) -> TagDictionary:
    return TagDictionary.of_lines(text.split("\n"), "words.txt")


def test_words_are_read_and_written():
    dictionary = lines("Book VB NN\n\n#MeToo  NNP\nBook\tNNP\r\n10\u00a0000 CD\n")
    assert dictionary.tags == {"Book": ["VB", "NN", "NNP"], "#MeToo": ["NNP"], "10\u00a0000": ["CD"]}
    assert lines(str(dictionary)).tags == dictionary.tags


def test_words_are_looked_up_as_written_and_then_in_lower_case():
    dictionary = lines("Book VB\nbook NN\nscan VB\n( -LRB-")
    assert dictionary.tags_of(["Book", "BOOK", "Scan", "books", "-LRB-"]) == [["VB"], ["NN"], ["VB"], (), ["-LRB-"]]
    assert dictionary.tags_of(["books"]) is None


def test_bad_words_are_refused_with_their_place(tmp_path):
    with pytest.raises(ValueError, match=r"words\.txt:2: Expected a word and its tags, .*, got only 'table'"):
        lines("Book VB\ntable\n")
    with pytest.raises(ValueError, match=r"words\.txt:2: .* for 'table', got 'VBX'; .* 3 tags are VB, VBZ, NN\."):
        lines("Book VB\ntable NN VBX").check(("NN", "VB", "VBZ"))
    with pytest.raises(ValueError, match="without blanks, got 'New York' and"):
        TagDictionary({"New York": ["NNP"]})
    with pytest.raises(ValueError, match="list of its tags, without blanks, got 'Book' and 'VB'"):
        TagDictionary({"Book": "VB"})
    (tmp_path / "words.txt").write_bytes(b"Book VB\n\xe9t\xe9 NN\n")
    with pytest.raises(ValueError, match=r"words\.txt:2: Expected UTF-8"):
        TagDictionary.read(tmp_path / "words.txt")
