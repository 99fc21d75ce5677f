"""Trees on Docs whose tokens are merged and split afterwards, and on Docs that are put together."""

import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees as any_tree
from pipelines import copies, pipeline_by
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lpcfg.bracketing import Brackets
from spacy_lpcfg.components.doc.read import rooted_trees, trees
from spacy_lpcfg.components.doc.surprisal import surprisal_of
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.doc.write import set_brackets, set_parses, set_trees
from spacy_lpcfg.components.training.tagged_text import doc_sentences
from spacy_lpcfg.parsing.result import Parse
from spacy_lpcfg.trees import Tree, parse_trees

CITY = (
    "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (NP (NML (NNP New) (NNP York)) (NNP City)) (ADVP (RB there)))) (. .))"
)
RAIN = "(S (NP (PRP It)) (VP (VBD rained)))"
MERGED = "(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (NP (NNP New_York_City)) (ADVP (RB there)))) (. .))"
VOCAB = spacy.blank("en").vocab
CITY_TOKENS = slice(3, 6)


def parse_of(bracketed: str) -> Parse:
    (tree,) = parse_trees(bracketed)
    spans = tree.spans()
    scores = np.linspace(0.5, 0.9, len(spans), dtype=np.float32)
    tag_scores = np.linspace(0.1, 0.4, len(tree), dtype=np.float32)
    return Parse(tree.words, list(tree.tags), spans, scores, tag_scores, -float(len(tree)), "parsed", probability=0.25)


def parsed(*bracketed: str, set_tags: bool = True, key: str = KEY) -> Doc:
    """A Doc of such sentences, with entities and numbers of surprisal."""
    found = [parse_of(each) for each in bracketed]
    starts = [i == 0 for parse in found for i in range(len(parse.words))]
    doc = Doc(VOCAB, [word for parse in found for word in parse.words], sent_starts=starts)
    set_parses(doc, found, set_tags=set_tags, key=key)
    doc.spans[key].attrs["surprisal"] = np.arange(len(doc), dtype=float)
    return doc


def merge(doc: Doc, *slices: slice) -> Doc:
    with doc.retokenize() as retokenizer:
        for each in slices:
            retokenizer.merge(doc[each])
    return doc


def split(doc: Doc, i: int, *texts: str) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[i], list(texts), heads=[doc[i]] * len(texts))
    return doc


def shown(doc: Doc, key: str = KEY) -> list[str]:
    return [str(tree) for tree in trees(doc, key)]


@pytest.mark.parametrize("set_tags", [True, False])
def test_merged_tokens_are_leaves_of_the_same_tree(set_tags):
    doc = merge(parsed(CITY, RAIN, set_tags=set_tags), CITY_TOKENS)
    assert shown(doc) == [MERGED, RAIN]
    assert [span.label_ for span in doc.spans[KEY]][:6] == ["S", "NP", "VP", "NP", "NP", "ADVP"]
    assert doc.spans[KEY].attrs["status"] == ["parsed", "parsed"]


def test_merged_tokens_leave_scores_with_their_brackets():
    before = parse_of(CITY)
    doc = merge(parsed(CITY, RAIN), CITY_TOKENS)
    kept = [score for score, (_, _, label) in zip(before.span_scores, before.spans, strict=True) if label != "NML"]
    assert doc.spans[KEY].attrs["scores"][:6].tolist() == kept
    city = doc[3:4]._.constituency
    assert (city.labels, city.probability) == (("NP",), kept[4])
    assert doc[4]._.constituency.probability == kept[5]
    assert doc[2]._.constituency.probability == before.tag_scores[2]
    assert doc.spans[KEY].attrs["log_probabilities"].tolist() == [-8.0, -2.0]
    assert [root.probability for root in doc._.constituency] == [0.25, 0.25]


def test_merged_tokens_without_a_bracket_have_a_tag_and_no_score_of_it():
    doc = merge(parsed(CITY, set_tags=False), slice(3, 5))
    assert "(NP (NML (NNP New_York)) (NNP City))" in shown(doc)[0]
    flat = merge(parsed("(NP (DT the) (JJ old) (NN man))", set_tags=False), slice(1, 3))
    assert shown(flat) == ["(NP (DT the) (NN old_man))"]
    assert flat[1]._.constituency.probability is None
    assert flat[0]._.constituency.probability == pytest.approx(0.1)


def test_merged_tokens_have_the_surprisal_of_their_words():
    doc = merge(parsed(CITY), CITY_TOKENS)
    assert [surprisal_of(token) for token in doc] == [0, 1, 2, 3 + 4 + 5, 6, 7]


def test_merged_tokens_may_cross_brackets():
    doc = parsed("(S (NP (DT the) (JJ old)) (VP (VB man) (NP (DT the) (NNS boats))))", RAIN)
    merge(doc, slice(1, 3))
    with pytest.warns(UserWarning, match=r"cross brackets of doc.spans\['constituents'\].*'the old'.*2 in all.*before"):
        found = shown(doc)
    assert found == ["(S (DT the) (JJ old_man) (NP (DT the) (NNS boats)))", RAIN]
    assert doc.spans[KEY].attrs["status"] == ["retokenized", "parsed"]
    assert [root.probability for root in doc._.constituency] == [None, 0.25]
    assert len(doc.spans[KEY].attrs["scores"]) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shown(doc) == found


def test_merged_tokens_may_reach_into_the_next_sentence():
    doc = merge(parsed(CITY, RAIN), slice(7, 9))
    with pytest.warns(UserWarning, match="cross"):
        (tree,) = trees(doc)
    assert tree.words == ["The", "man", "saw", "New", "York", "City", "there", "._It", "rained"]
    attrs = doc.spans[KEY].attrs
    assert attrs["status"] == ["retokenized"]
    assert np.isnan(attrs["log_probabilities"]).tolist() == [True]


def test_merged_white_space_is_part_of_the_word():
    doc = Doc(VOCAB, ["\n", "It", " ", "rained"], spaces=[False] * 4, sent_starts=[1, 0, 0, 0])
    set_parses(doc, [parse_of(RAIN)])
    merge(doc, slice(0, 3))
    assert shown(doc) == ["(S (NP (PRP _It_)) (VP (VBD rained)))"]
    assert doc[0]._.constituency.probability == parse_of(RAIN).span_scores[1]


def test_split_tokens_are_leaves_below_the_same_brackets():
    doc = split(parsed(CITY, set_tags=False), 6, "th", "ere")
    assert "(ADVP (RB th) (RB ere))" in shown(doc)[0]
    assert [node.probability for node in doc[6:8]._.constituency.children] == [None, None]
    assert np.isnan(surprisal_of(doc[7]))
    assert surprisal_of(doc[8]) == 7


def test_split_and_merged_tokens_may_be_as_many_as_before():
    doc = parsed(CITY, RAIN, set_tags=False)
    n_tokens = len(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
        retokenizer.split(doc[9], ["rai", "ned"], heads=[doc[9], doc[9]])
    assert len(doc) == n_tokens
    assert [span.text for span in doc.spans[KEY] if span.label_ == "ADVP"] == ["there"]
    doc = parsed(CITY, RAIN, set_tags=False)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
        retokenizer.split(doc[9], ["rai", "ned"], heads=[doc[9], doc[9]])
    assert doc[7:10]._.constituency.bracketed == "(S (NP (PRP It)) (VP (VBD rai) (VBD ned)))"


def test_docs_can_be_kept_and_copied_before_and_after_tokens_are_merged():
    merged = copies(merge(parsed(CITY, RAIN), CITY_TOKENS))
    for doc in (*merged, *(merge(each, CITY_TOKENS) for each in copies(parsed(CITY, RAIN)))):
        assert shown(doc) == [MERGED, RAIN]
        assert len(doc.spans[KEY].attrs["scores"]) == len(doc.spans[KEY]) == 9
        merge(doc, slice(0, 2))
        assert shown(doc)[0].startswith("(S (NP (DT The_man))")


def test_merged_groups_can_be_iterated_first():
    group = merge(parsed(CITY, RAIN), CITY_TOKENS).spans[KEY]
    doc = merge(parsed(CITY, RAIN), CITY_TOKENS)
    assert [(s.text, len(s)) for s in doc.spans[KEY]][4:6] == [("New York City", 1), ("there", 1)]
    assert group.name == KEY


def test_groups_outlive_their_docs():
    assert parsed(RAIN).spans[KEY].attrs["status"] == ["parsed"]


def test_trees_of_treebanks_follow_merged_tokens():
    (tree,) = parse_trees(f"(TOP {CITY})")
    doc = Doc(VOCAB, list(tree.words))
    set_trees(doc, [tree])
    merge(doc, CITY_TOKENS)
    assert [str(each) for each in rooted_trees(doc)] == [f"(TOP {MERGED})"]


@given(any_tree(), st.data())
def test_merged_tokens_within_brackets_leave_all_other_brackets(tree, data):
    doc = Doc(VOCAB, [f"w{i}" for i in range(len(tree))])
    set_trees(doc, [Tree.from_spans([token.text for token in doc], tree.tags, tree.spans())])
    spans = [(span.start, span.end, span.label_) for span in doc.spans[KEY]]
    start, end, _ = data.draw(st.sampled_from(spans or [(0, 1, "")]))
    merge(doc, slice(start, end))
    new = [*range(start), *[start] * (end - start), *range(start + 1, len(tree))]
    outside = [each for each in spans if not (start <= each[0] and each[1] <= end) or each[:2] == (start, end)]
    wanted = [(new[i], new[j - 1] + 1, label) for i, j, label in outside]
    assert [(span.start, span.end, span.label_) for span in doc.spans[KEY]] == wanted


@pytest.fixture(scope="module")
def merging(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar)
    nlp.add_pipe("entity_ruler", first=True).add_patterns([{"label": "GPE", "pattern": "New York City"}])
    nlp.add_pipe("merge_entities")
    return nlp


def test_merged_docs_are_scored(merging):
    (tree,) = parse_trees("(S (NP (PRP I)) (VP (VBD saw) (NP (NNP New) (NNP York) (NNP City))) (. .))")
    gold = Doc(merging.vocab, list(tree.words))
    set_trees(gold, [tree])
    scores = merging.evaluate([Example(merging.make_doc(gold.text), gold)])
    assert scores["evalb_f"] > 0.5


def test_brackets_of_the_bracketer_follow_merged_tokens():
    words = ["We", "saw", "New", "York"]
    doc = Doc(VOCAB, words, pos=["PRON", "VERB", "PROPN", "PROPN"], sent_starts=[1, 0, 0, 0])
    (sentence,) = doc_sentences(doc, [(0, 4)], "pos")
    brackets = [Brackets([(0, 4), (1, 4), (2, 4)], [1.0, 0.5, 0.25])]
    tags = [sentence.tagged.tags]
    set_brackets(doc, [sentence.positions], brackets, ["parsed"], label="X", key="brackets", tags=tags)
    merge(doc, slice(2, 4))
    assert shown(doc, "brackets") == ["(X (PRON We) (X (VERB saw) (X (PROPN New_York))))"]
    assert doc.spans["brackets"].attrs["scores"].tolist() == [1.0, 0.5, 0.25]


@pytest.fixture
def docs():
    return [parsed(CITY, set_tags=False), parsed(RAIN, set_tags=False)]


@pytest.mark.parametrize("ensure_whitespace", [True, False])
def test_docs_together_keep_tags_scores_and_status(docs, ensure_whitespace):
    doc = Doc.from_docs(docs, ensure_whitespace=ensure_whitespace)
    assert shown(doc) == [CITY, RAIN]
    attrs = doc.spans[KEY].attrs
    for name in ("scores", "tag_scores", "log_probabilities", "tree_probabilities", "surprisal"):
        assert attrs[name].tolist() == [x for each in docs for x in each.spans[KEY].attrs[name].tolist()]
    assert attrs["status"] == ["parsed", "parsed"]
    assert doc[-2:]._.constituency.probability == pytest.approx(docs[1][:]._.constituency.probability)
    assert surprisal_of(doc[-1]) == 1
    again = Doc.from_docs([doc, docs[0]])
    assert shown(again) == [CITY, RAIN, CITY]
    assert shown(merge(again, CITY_TOKENS)) == [MERGED, RAIN, CITY]


def test_docs_together_with_one_that_has_no_trees():
    doc = Doc.from_docs([parsed(CITY), Doc(VOCAB, ["It", "rained", "."], sent_starts=[1, 0, 0])])
    assert str(doc[0].sent._.constituency) == CITY
    with pytest.raises(ValueError, match=r"no tree of 'It rained \.'.*Doc\.from_docs.*Parse it again"):
        trees(doc)


@pytest.mark.parametrize(("n_before", "n_after"), [(0, 0), (0, 1), (1, 0)])
def test_doc_alone_or_with_empty_ones_keeps_tags_scores_and_status(docs, n_before, n_after):
    empty = Doc(VOCAB)
    doc = Doc.from_docs([*[empty] * n_before, docs[0], *[empty] * n_after])
    assert shown(doc) == [CITY]
    assert doc[:]._.constituency.probability == pytest.approx(docs[0][:]._.constituency.probability)
    assert doc.spans[KEY].attrs["status"] == ["parsed"]
    doc.spans[KEY] = [Span(doc, span.start, span.end, "X") for span in doc.spans[KEY]]
    assert doc[:]._.constituency.probability is None


def test_docs_together_under_a_key_of_ones_own():
    docs = [parsed(RAIN, key="mine") for _ in range(2)]
    assert [node.label for node in Doc.from_docs(docs)._.constituency] == ["S", "S"]


def test_docs_of_a_parser_and_of_a_treebank_together_keep_all_tags():
    (tree,) = parse_trees(RAIN)
    gold = Doc(VOCAB, list(tree.words), sent_starts=[1, 0])
    set_trees(gold, [tree])
    assert shown(Doc.from_docs([parsed(CITY, set_tags=False), gold])) == [CITY, RAIN]


def test_docs_together_keep_the_root():
    (tree,) = parse_trees(f"(TOP {RAIN})")
    docs = [Doc(VOCAB, list(tree.words), sent_starts=[1, 0]) for _ in range(2)]
    for doc in docs:
        set_trees(doc, [tree])
    assert rooted_trees(Doc.from_docs(docs)) == [tree, tree]


def test_docs_together_say_when_scores_are_lost(docs):
    merge(docs[0], CITY_TOKENS)
    doc = Doc.from_docs(docs)
    with pytest.warns(UserWarning, match=r"no scores.*doc\._\.constituency.*before Doc\.from_docs, or parse"):
        root = doc._.constituency[0]
    assert root.probability is None


@pytest.mark.parametrize("loaded", [True, False])
def test_docs_together_after_a_look_at_merged_tokens(docs, loaded):
    docs = [Doc(VOCAB).from_bytes(doc.to_bytes()) for doc in docs] if loaded else docs
    trees(merge(docs[0], CITY_TOKENS))
    doc = Doc.from_docs(docs)
    assert shown(doc) == [MERGED, RAIN]
    assert doc[-2:]._.constituency.probability == pytest.approx(docs[1][:]._.constituency.probability)


def test_docs_together_that_get_other_spans_have_no_scores_of_the_old(docs):
    doc = docs[1]
    doc.spans[KEY] = list(doc.spans[KEY])[::-1]
    assert doc[-1]._.constituency.probability is None
    assert type(doc.spans[KEY]) is SpanGroup


def test_parts_of_docs_say_where_their_trees_are(docs):
    for part in (docs[0][1:4].as_doc(), docs[0][:].as_doc(copy_user_data=True)):
        with pytest.raises(ValueError, match=r"as_doc\(\).*span\._\.constituency"):
            trees(part)
    part = docs[0][1:4].as_doc(copy_user_data=True)
    set_parses(part, [parse_of("(S (A a) (B b) (C c))")])
    assert len([key for key in part.user_data if key[1] == "constituents_attrs"]) == 1


# What spaCy does not do, and the private ways that we go because of it


def test_spacy_makes_no_spans_of_a_group_after_a_merge():
    """Where this fails, `_fit` can read the spans of the group instead of its bytes."""
    doc = Doc(Vocab(), ["the", "old", "ferry", "left"])
    doc.spans["other"] = [doc[2:4]]
    merge(doc, slice(0, 2))
    with pytest.raises(IndexError, match="E035"):
        _ = doc.spans["other"][0]


def test_spacy_deletes_another_span_of_a_group():
    """Where this fails, `_fit` can delete spans and append others instead of writing bytes."""
    doc = Doc(Vocab(), ["the", "old", "ferry"])
    group = SpanGroup(doc, name="other", spans=[doc[0:1], doc[1:2], doc[2:3]])
    del group[1]
    assert [span.text for span in group] == ["old", "ferry"]


def test_spacy_leaves_attributes_of_groups_when_docs_are_put_together():
    """Where this fails, `_remember` and `_recall` can go, and the copy of the attributes in `doc.user_data`."""
    docs = [Doc(vocab, ["the", "ferry"]) for vocab in [Vocab()] for _ in range(2)]
    for doc in docs:
        doc.spans["other"] = SpanGroup(doc, name="other", attrs={"status": ["parsed"]}, spans=[doc[0:2]])
    joined = Doc.from_docs(docs).spans["other"]
    assert (len(joined), joined.attrs) == (2, {})


def test_spacy_has_no_groups_in_a_doc_of_a_span():
    """Where this fails, `span.as_doc()` may keep trees."""
    doc = Doc(Vocab(), ["the", "ferry"])
    doc.spans["other"] = [doc[0:2]]
    assert not doc[0:2].as_doc(copy_user_data=True).spans


@pytest.mark.parametrize("words", [["It"], ["It", "rained", "hard"]])
def test_tree_of_another_number_of_words_is_refused(words):
    (tree,) = parse_trees("(S (NP (PRP It)) (VP (VBD rained)))")
    with pytest.raises(ValueError, match=f"Expected a tree of {len(words)} words? for the sentence .* of 2 words"):
        set_trees(Doc(Vocab(), words=words), [tree])
