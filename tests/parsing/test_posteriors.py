from hypothesis import given
from hypothesis import strategies as st
from oracles.posteriors import mean_of, mirror_of

from spacy_lpcfg.combination.parser import mean
from spacy_lpcfg.parsing.result import Posteriors

P = st.floats(0, 1) | st.just(1.0)


def posteriors(n_words: int) -> st.SearchStrategy[Posteriors]:
    """Draw posteriors of any brackets and tags, in any order."""
    bounds = st.tuples(st.integers(0, n_words - 1), st.integers(1, n_words)).filter(lambda pair: pair[0] < pair[1])
    spans = st.tuples(bounds, st.sampled_from(["S", "NP", "VP"])).map(lambda pair: (*pair[0], pair[1]))
    of_word = st.dictionaries(st.sampled_from(["DT", "NN", "VB"]), P)
    return st.builds(
        Posteriors,
        st.dictionaries(spans, P, max_size=15),
        st.lists(of_word, min_size=n_words, max_size=n_words),
        st.booleans(),
    )


SOME = st.integers(1, 6).flatmap(lambda n_words: st.lists(posteriors(n_words), min_size=1, max_size=4))


def assert_same(found: Posteriors, expected: Posteriors) -> None:
    """To the last bit, and in the same order."""
    assert list(found.brackets.items()) == list(expected.brackets.items())
    assert [list(of_word.items()) for of_word in found.tags] == [list(of_word.items()) for of_word in expected.tags]
    assert found.is_of_one == expected.is_of_one


@given(SOME, st.lists(st.floats(0.1, 1), min_size=4, max_size=4))
def test_means_are_weighted_sums(some, shares):
    shares = shares[: len(some)]
    weights = [share / sum(shares) for share in shares]
    assert_same(mean(some, weights), mean_of(some, weights))


@given(SOME)
def test_mirror_image_has_brackets_from_the_other_end(some):
    assert_same(some[0].mirrored(), mirror_of(some[0]))
