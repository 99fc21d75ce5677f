"""The learned bracketer as a whole: what it gives for any input, that it survives storage, and how good it is."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import SAMPLE

from benchmarks.papers.baselines import gold_sentences
from spacy_lpcfg.bracketing import CCA, Bracketer, BracketerError, SelfTraining, SpectralBracketer, TagGroups
from spacy_lpcfg.bracketing.bracketer import bracketed_tree
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.evaluation.unlabelled import counted_brackets, unlabelled_totals
from spacy_lpcfg.trees import parse_trees, read_trees

TAGS = ["NN", "NNP", "DT", "JJ", "VBZ", "VBN", "IN", "CC", ",", ".", "``", "NOUN", "AUX", "PUNCT", "?!", ""]


def sentences():
    return read_tagged(SAMPLE / "train.mrg")


def test_brackets_make_trees():
    tags = ["DT", "NN", ",", "PRP", "VBZ", "."]
    tree = bracketed_tree(["the", "dog", ",", "it", "barks", "."], tags, ((0, 5), (0, 2), (3, 5)))
    expected = "(S (X (X (DT the) (NN dog)) (, ,) (X (PRP it) (VBZ barks))) (. .))"
    assert tree == next(iter(parse_trees(expected)))
    assert str(bracketed_tree(["go"], ["VB"], ())) == "(S (VB go))"


@pytest.fixture(scope="module")
def paper() -> Bracketer:
    return SpectralBracketer.variant("paper").fit(sentences)


@pytest.fixture(scope="module")
def default() -> Bracketer:
    return SpectralBracketer.variant("default").fit(sentences)


@pytest.fixture(params=["paper", "default"])
def bracketer(request) -> Bracketer:
    return request.getfixturevalue(request.param)


def check_brackets(bracketer: Bracketer, words, tags) -> None:
    """Check the promises of the interface for any sentence."""
    spans, scores = bracketer.bracket(words, tags)
    kept = [place for place, pair in enumerate(zip(tags, words, strict=True)) if not is_punctuation(*pair)]
    assert len(spans) == len(scores)
    assert all(0 <= score <= 1 for score in scores)
    assert list(spans) == sorted(set(spans), key=lambda span: (span[0], -span[1]))
    assert bool(spans) == (len(kept) > 1)
    if spans:
        assert spans[0] == (kept[0], kept[-1] + 1)
        assert scores[0] == 1
    for start, end in spans:
        assert {start, end - 1} <= set(kept)
        assert end - start > 1
    for (a, b), (c, d) in itertools.combinations(spans, 2):
        assert not a < c < b < d
        assert not c < a < d < b


@given(
    st.lists(st.tuples(st.sampled_from(["a", "The", ",", ";", "dog", "of", "."]), st.sampled_from(TAGS)), max_size=40)
)
def test_bracketer_brackets_any_sentence(paper, default, tokens):
    words, tags = [word for word, _ in tokens], [tag for _, tag in tokens]
    check_brackets(paper, words, tags)
    check_brackets(default, words, tags)


@pytest.mark.parametrize("n", [61, 300])
@pytest.mark.parametrize(
    "tags", [["NN"], ["DT", "NN", "VBZ", "DT", "JJ", "NN", ","], ["NN"] * 70 + [","], [","], ["??"]]
)
def test_bracketer_brackets_long_sentences(bracketer, n, tags):
    repeated = list(itertools.islice(itertools.cycle(tags), n))
    check_brackets(bracketer, [tag if tag == "," else "word" for tag in repeated], repeated)


def test_bracketer_of_the_paper_gives_binary_trees(paper):
    for words, tags in itertools.islice(sentences(), 50):
        n_kept = sum(not is_punctuation(tag, word) for word, tag in zip(words, tags, strict=True))
        assert len(paper.bracket(words, tags).spans) == max(n_kept - 1, 0)


def test_bracketer_needs_a_tag_for_each_word(bracketer):
    with pytest.raises(ValueError, match="3 words and 2 tags"):
        bracketer.bracket(["a", "b", "c"], ["NN", "NN"])


def test_bracketer_is_the_same_at_every_fit(default):
    again = SpectralBracketer().fit(sentences)
    some = list(itertools.islice(sentences(), 100))
    assert [again.bracket(*each) for each in some] == [default.bracket(*each) for each in some]


def test_bracketer_survives_bytes_files_and_pickling(bracketer, tmp_path):
    some = list(itertools.islice(sentences(), 50))
    expected = [bracketer.bracket(*each) for each in some]
    bracketer.to_disk(tmp_path / "bracketer")
    for copy in (
        Bracketer.from_bytes(bracketer.to_bytes()),
        Bracketer.from_disk(tmp_path / "bracketer"),
        pickle.loads(pickle.dumps(bracketer)),
    ):
        assert [copy.bracket(*each) for each in some] == expected
        assert copy.meta == bracketer.meta
        assert copy.to_bytes() == bracketer.to_bytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("groups", np.full(17, 99, np.int32)),
        ("keys", np.zeros(5, np.int64)),
        ("top_values", np.zeros(7, np.float32)),
        ("lexical", ["NOSUCHTAG word"]),
    ],
)
def test_bracketer_refuses_inconsistent_parts(default, name, value):
    """Parts of the right type, which do not fit the others; the rest is in tests/storage."""
    from spacy_lpcfg.storage.container import pack, unpack

    values = unpack("bracketer", 1, default.to_bytes())
    assert name in values
    with pytest.raises(BracketerError):
        Bracketer.from_bytes(pack("bracketer", 1, {**values, name: value}))


def test_bracketer_learns_from_a_stream_and_says_how_far_it_is():
    seen = []
    learner = SpectralBracketer(embedding=CCA(size=20), self_training=SelfTraining(n_rounds=2))
    learner.fit(lambda: iter(list(sentences())), progress=lambda step, n: seen.append((step, n)))
    assert ("covariances", 600) in seen
    assert [n for step, n in seen if step == "rounds"] == [1, 2]


@pytest.mark.parametrize(
    ("learner", "text", "message"),
    [
        (SpectralBracketer(), [((".",), (".",))] * 9, "at least one word"),
        (
            SpectralBracketer(embedding=CCA(size=3), m=3),
            [((word,), ("NN",)) for word in "abcdefgh"] * 9,
            "at least 3 pairs",
        ),
    ],
)
def test_bracketer_says_what_it_needs(learner, text, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(lambda: text)


@pytest.mark.parametrize(
    ("part", "setting", "value"),
    [(TagGroups, "n_groups", 0), (CCA, "window", 0), (CCA, "size", 0), (SelfTraining, "n_words", -1)],
)
def test_parts_of_the_bracketer_refuse_settings_out_of_range(part, setting, value):
    with pytest.raises(ValueError, match=f"Expected {setting} to be a whole number"):
        part(**{setting: value})


def test_bracketer_finds_the_brackets_of_a_treebank(shared_data):
    """Learned from the text of 3,501 sentences alone; benchmarks have more text."""
    wsj = shared_data / "wsj_sample"
    golds = list(gold_sentences(read_trees(wsj / "dev.mrg")))
    least = {"paper": {10: 60, 20: 41, 40: 32}, "default": {10: 77, 20: 68, 40: 62}}
    for name, limits in least.items():
        bracketer = SpectralBracketer.variant(name).fit(lambda: read_tagged(wsj / "train.mrg"))
        scores = [gold.score(counted_brackets(bracketer.bracket(*gold.tagged).spans, gold.keep)) for gold in golds]
        found = {limit: unlabelled_totals(scores, limit).f_with_sentence for limit in limits}
        assert all(found[limit] > f for limit, f in limits.items()), (name, found)
