from hypothesis import given
from hypothesis import strategies as st

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


def is_in_pre_order(brackets) -> bool:
    bounds = [(start, -end) for start, end, _ in brackets]
    return bounds == sorted(bounds)


def over(words: tuple[int, int], brackets) -> list[str]:
    return [label for *bounds, label in brackets if tuple(bounds) == words]


@given(SOME, st.lists(st.floats(0.1, 1), min_size=4, max_size=4))
def test_means_are_weighted_sums(some, shares):
    weights = [share / sum(shares[: len(some)]) for share in shares[: len(some)]]

    def mean(values, key):
        return min(sum(weight * of_one.get(key, 0.0) for weight, of_one in zip(weights, values, strict=True)), 1.0)

    found, all_brackets = Posteriors.mean(some, weights), [one.brackets for one in some]
    assert found.brackets == {span: mean(all_brackets, span) for brackets in all_brackets for span in brackets}
    assert is_in_pre_order(found.brackets)
    firsts = dict.fromkeys(span for brackets in all_brackets for span in brackets)
    assert all(over(span[:2], found.brackets) == over(span[:2], firsts) for span in firsts)
    for of_word, of_models in zip(found.tags, zip(*(one.tags for one in some), strict=True), strict=True):
        assert of_word == {tag: mean(of_models, tag) for tags in of_models for tag in tags}


@given(SOME)
def test_mirror_image_has_brackets_from_the_other_end(some):
    one, n_words = some[0], len(some[0].tags)
    mirrored = one.mirrored()
    assert mirrored.brackets == {(n_words - j, n_words - i, label): p for (i, j, label), p in one.brackets.items()}
    assert is_in_pre_order(mirrored.brackets)
    for start, end, _ in one.brackets:
        assert over((start, end), one.brackets) == over((n_words - end, n_words - start), mirrored.brackets)
    assert mirrored.tags == one.tags[::-1]
    assert mirrored.is_of_one == one.is_of_one
