"""Scores of spans and the trees of the best scores, against enumeration; self-training."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.binary_trees import shapes

from benchmarks.papers.simulated_trees import spans
from spacy_lpcfg.bracketing._spans import ADVERB, MODIFIER, NOMINAL, OPENS_NONE, VERB, SpanScores, best_trees, span_keys
from spacy_lpcfg.bracketing.extensions.self_training import SelfTraining, Text, train, tree_mask


def rows(n: int) -> list[tuple[int, int]]:
    """Spans of a sentence in the order of the kernel."""
    return [(i, j) for i in range(n) for j in range(i + 2, n + 1)]


def text_of(sentences: list[list[int]], segments: list[list[int]] | None = None) -> Text:
    segments = segments or [[0] * len(each) for each in sentences]
    return Text(
        np.array([len(each) for each in sentences], np.int32),
        np.array(list(itertools.chain(*sentences)), np.uint8),
        np.array(list(itertools.chain(*segments)), np.int32),
        np.ones(len(sentences), np.int32),
    )


@given(st.lists(st.integers(2, 7), min_size=1, max_size=3), st.integers(0, 10_000), st.booleans())
def test_self_training_best_trees_are_those_of_enumeration(lengths, seed, is_free):
    rng = np.random.default_rng(seed)
    scores = [dict(zip(rows(n), rng.normal(size=len(rows(n))), strict=True)) for n in lengths]
    splits = [0 if is_free else int(rng.integers(1, n)) for n in lengths]
    flat = np.array([value for each in scores for value in each.values()])
    found = best_trees(np.array(lengths, np.int32), flat, np.array(splits, np.int32))
    start = 0
    for n, score, split in zip(lengths, scores, splits, strict=True):
        trees = [set(spans(tree)) for tree in shapes(0, n)]
        allowed = [tree for tree in trees if not split or all((i, j) == (0, n) or not i < split < j for i, j in tree)]
        best = max(allowed, key=lambda tree: sum(score[span] for span in tree))
        chosen = found[start : start + len(score)].astype(bool)
        assert {span for span, is_in in zip(rows(n), chosen, strict=True) if is_in} == best
        start += len(score)


def key_of_yield(symbols: list[int], segments: list[int]) -> tuple:
    n = len(symbols)
    length = n if n < 6 else sum(n >= bound for bound in (6, 8, 11, 16, 24)) + 5
    inner = tuple(symbols) if n < 6 else (symbols[0], symbols[-1])
    return (length, inner, segments[0] != segments[-1])


def key_of_context(symbols: list[int], segments: list[int], i: int, j: int) -> tuple:
    left = (symbols[i - 1], segments[i - 1] != segments[i]) if i > 0 else None
    right = (symbols[j], segments[j - 1] != segments[j]) if j < len(symbols) else None
    return left, right


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=2, max_size=30))
def test_self_training_keys_tell_apart_what_they_should(tokens):
    symbols = [symbol for symbol, _ in tokens]
    segments = list(itertools.accumulate(int(gap) for _, gap in tokens))
    text = text_of([symbols], [segments])
    yields, contexts = span_keys(text.lengths, text.symbols, text.segments)
    expected = {"yields": {}, "contexts": {}}
    for (i, j), a, b in zip(rows(len(symbols)), yields.tolist(), contexts.tolist(), strict=True):
        assert expected["yields"].setdefault(key_of_yield(symbols[i:j], segments[i:j]), a) == a
        assert expected["contexts"].setdefault(key_of_context(symbols, segments, i, j), b) == b
        assert a >= 0 > b
    for keys in expected.values():
        assert len(set(keys.values())) == len(keys)


def scores_of(keys: np.ndarray, values: np.ndarray, flags: dict[int, int] | None = None) -> SpanScores:
    by_symbol = np.array([(flags or {}).get(symbol, 0) for symbol in range(256)], np.uint8)
    return SpanScores(keys, values.astype(np.float32), -3.0, -2.0, by_symbol)


def test_self_training_decodes_by_the_table_and_backs_off():
    text = text_of([[1, 2, 3, 4]])
    yields, contexts = span_keys(text.lengths, text.symbols, text.segments)
    place = rows(4).index((1, 4))
    table = scores_of(np.array([yields[place], contexts[place]]), np.array([4.0, 1.0]))
    spans_found, scores = table.decode(bytes([1, 2, 3, 4]), text.segments, 0)
    assert spans_found == [(1, 4), (2, 4)]
    assert scores == pytest.approx([1 / (1 + np.exp(-5)), 1 / (1 + np.exp(5))])
    assert table.decode(bytes([1, 2, 3, 4]), text.segments, 3)[0][0] == (0, 3)


NOMINALS = dict.fromkeys((1, 2, 3), NOMINAL | MODIFIER)


@pytest.mark.parametrize(
    ("symbols", "split", "branching", "flags", "kept"),
    [
        *((bytes([9, 1, 2, 3, 3]), 1, [(1, 5), (2, 5), (3, 5)], *case) for case in (
            ({}, [0, 1, 2]),
            (NOMINALS, [0]),
            ({1: MODIFIER, 2: NOMINAL}, [0, 2]),
            ({1: NOMINAL, 2: NOMINAL}, [0, 1, 2]),
            ({2: OPENS_NONE}, [0, 2]),
            ({1: ADVERB, 2: VERB}, [1, 2]),
            ({2: ADVERB, 1: VERB}, [0, 1, 2]),
        )),
        *((bytes([1, 2, 3, 3, 9]), 4, [(0, 4), (0, 3), (0, 2)], *case) for case in (({}, [0, 1, 2]), (NOMINALS, [0]))),
    ],
)  # fmt: skip
def test_self_training_leaves_out_what_is_flat(symbols, split, branching, flags, kept):
    """Of trees that branch to the right and to the left."""
    segments = np.zeros(5, np.int32)
    keys, _ = span_keys(np.array([5], np.int32), np.frombuffer(symbols, np.uint8), segments)
    scores = scores_of(keys[[rows(5).index(span) for span in branching]], np.full(3, 10.0), flags)
    assert scores.decode(symbols, segments, split)[0] == [branching[i] for i in kept]


def test_self_training_mask_has_the_trees():
    lengths = np.array([3, 4], np.int32)
    mask = tree_mask(lengths, [np.array([[1, 3]]), np.array([[0, 4], [0, 2], [2, 4]])])
    found = [span for span, is_in in zip(rows(3) + rows(4), mask, strict=True) if is_in]
    assert found == [(0, 3), (1, 3), (0, 2), (0, 4), (2, 4)]


def test_self_training_scores_are_log_odds():
    text = text_of([[1, 2, 3]] * 3 + [[4, 2, 3]])
    trees = tree_mask(text.lengths, [np.array([[1, 3]])] * 3 + [np.array([[0, 2]])])
    setting = SelfTraining(n_rounds=1, elsewhere=2.0)
    table = train(text, trees, setting)
    (key,) = span_keys(np.array([2], np.int32), np.array([2, 3], np.uint8), np.zeros(2, np.int32))[0]
    found = table.values[list(table.keys).index(key)]
    # (2 3) is three times in a tree and once not, (1 2) three times not, (4 2) once in a tree; the two whole sentences
    # do not count, and the sixth yield is the unseen one
    in_trees = (3 + 0.5) / (4 + 6 * 0.5)
    elsewhere = (1 + 2.0) / (4 + 6 * 2.0)
    assert found == pytest.approx(np.log(in_trees / elsewhere))
    assert table.unseen[0] == pytest.approx(np.log((0.5 / 7) / (2 / 16)))


def test_self_training_spreads_what_is_frequent():
    """One sentence in ten begins with a wrong tree; its spans are like those of the others."""
    text = text_of([[9, 1, 2]] * 50)
    trees = tree_mask(text.lengths, [np.array([[1, 3]])] * 45 + [np.array([[1, 3]])] * 5)
    wrong = tree_mask(text.lengths, [np.array([[1, 3]])] * 45 + [np.array([[0, 2]])] * 5)
    free = text._replace(splits=np.zeros(50, np.int32))
    tables = [train(free, start, SelfTraining(n_rounds=3)) for start in (trees, wrong)]
    assert np.array_equal(tables[0].keys, tables[1].keys)
    np.testing.assert_allclose(tables[0].values, tables[1].values)
