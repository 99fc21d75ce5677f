"""The gallery of sentences is in order: text and tree have the same tokens, and both halves are as large."""

from collections import Counter

import spacy
from pipelines import pipeline_by

from benchmarks.accuracy.gallery import NEARLY, RIGHT, SEEN, SET_ASIDE, WRONG, parsed, read_gallery, rows_of, verdict
from spacy_lpcfg.trees import parse_trees

_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


def test_gallery_trees_have_the_tokens_of_their_texts():
    tokenizer = spacy.blank("en")
    sentences = read_gallery()
    for sentence in sentences:
        tokens = [token.text for token in tokenizer(sentence.text)]
        assert [_BRACKETS.get(word, word) for word in sentence.tree.words] == tokens
    assert Counter(sentence.half for sentence in sentences) == {SEEN: 100, SET_ASIDE: 200}
    assert len({sentence.text for sentence in sentences}) == 300


def test_gallery_counts_trees_without_any_mistake():
    (gold,) = parse_trees("(S (NP (NNS Dogs)) (VP (VBP bark)) (. .))")
    assert verdict(gold, gold) == RIGHT
    (other,) = parse_trees("(S (NP (NNS Dogs)) (VP (VBD bark)) (. .))")
    assert verdict(gold, other) == RIGHT  # tags do not count
    for wrong in ("(S (NP (NNS Dogs)) (NP (VBP bark)) (. .))", "(S (NNS Dogs) (VP (VBP bark)) (. .))"):
        assert verdict(gold, next(iter(parse_trees(wrong)))) == NEARLY
    (flat,) = parse_trees("(FRAG (NNS Dogs) (VBP bark) (. .))")
    assert verdict(gold, flat) == WRONG
    (punctuation,) = parse_trees("(S (NP (NNS Dogs)) (. bark) (. .))")
    assert verdict(gold, punctuation) == WRONG  # it has other words


def test_gallery_tells_halves_apart():
    sentences = read_gallery()
    rows = list(rows_of("en", sentences, [RIGHT if sentence.half == SEEN else NEARLY for sentence in sentences]))
    assert [(row["right, %"], row["nearly, %"], row["wrong, %"]) for row in rows[:2]] == [(100, 0, 0), (0, 100, 0)]
    assert all(row["sentences"].startswith(SEEN) for row in rows[2:])


def test_gallery_sentences_are_parsed_as_one(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar)
    sentence = next(each for each in read_gallery() if each.half == SEEN)
    assert parsed(nlp, sentence).words == sentence.tree.words
