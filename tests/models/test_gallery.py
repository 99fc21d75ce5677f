"""The gallery of sentences is in order: text and tree have the same tokens, and both halves are as large."""

from collections import Counter

import spacy

from benchmarks.accuracy.gallery import SEEN, SET_ASIDE, is_right, parsed, read_gallery, rows_of
from spacy_lpcfg.trees import parse_trees

_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


def test_gallery_trees_have_the_tokens_of_their_texts():
    tokenizer = spacy.blank("en")
    sentences = read_gallery()
    for sentence in sentences:
        tokens = [token.text for token in tokenizer(sentence.text)]
        assert [_BRACKETS.get(word, word) for word in sentence.tree.words] == tokens
    assert Counter(sentence.half for sentence in sentences) == {SEEN: 50, SET_ASIDE: 50}
    assert len({sentence.text for sentence in sentences}) == 100


def test_gallery_counts_trees_without_any_mistake():
    (gold,) = parse_trees("(S (NP (NNS Dogs)) (VP (VBP bark)) (. .))")
    assert is_right(gold, gold)
    (other,) = parse_trees("(S (NP (NNS Dogs)) (VP (VBD bark)) (. .))")
    assert is_right(gold, other)  # tags do not count
    for wrong in ("(S (NP (NNS Dogs)) (NP (VBP bark)) (. .))", "(S (NNS Dogs) (VP (VBP bark)) (. .))"):
        assert not is_right(gold, next(iter(parse_trees(wrong))))
    (punctuation,) = parse_trees("(S (NP (NNS Dogs)) (. bark) (. .))")
    assert not is_right(gold, punctuation)


def test_gallery_tells_halves_apart():
    sentences = read_gallery()
    rows = list(rows_of("en", sentences, [sentence.half == SEEN for sentence in sentences]))
    assert [row["right, %"] for row in rows[:2]] == [100, 0]
    assert all(row["sentences"].startswith(SEEN) for row in rows[2:])


def test_gallery_sentences_are_parsed_as_one():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser")
    sentence = next(each for each in read_gallery() if each.half == SEEN)
    assert parsed(nlp, sentence).words == sentence.tree.words
