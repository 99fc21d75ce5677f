"""Brackets that treebanks leave flat, beside the kernel that leaves them out of a bracketer's trees."""

import numpy as np
import pytest

from spacy_lpcfg.bracketing._spans import SpanScores, span_keys
from spacy_lpcfg.bracketing.binary_trees import best_tree
from spacy_lpcfg.bracketing.extensions.flat_brackets import FLAGS, without_flat

TAGS = ("ADJ", "ADV", "CCONJ", "DET", "NOUN", "PRON", "VERB", "X")


@pytest.mark.parametrize("seed", range(20))
def test_flat_brackets_are_those_of_the_kernel(seed):
    draw = np.random.default_rng(seed)
    n = 7
    symbols = draw.integers(len(TAGS), size=n).astype(np.uint8)
    flags = np.array([FLAGS.get(tag, 0) for tag in TAGS] + [0] * (256 - len(TAGS)), np.uint8)
    keys, _ = span_keys(np.array([n], np.int32), symbols, np.zeros(n, np.int32))
    distinct, first = np.unique(keys, return_index=True)
    values = draw.random(len(first)).astype(np.float32)
    kernel = SpanScores(distinct, values, 0.0, 0.0, flags)
    expected, _ = kernel.decode(symbols.tobytes(), np.zeros(n, np.int32), 0)
    weights, by_key = np.zeros((n + 1, n + 1)), dict(zip(distinct.tolist(), values.tolist(), strict=True))
    spans = [(i, j) for i in range(n - 1) for j in range(i + 2, n + 1)]
    for (i, j), key in zip(spans, keys.tolist(), strict=True):
        weights[i, j] = by_key[key]
    binary = [(i, j, "X") for i, j in best_tree(weights)]
    tags = [TAGS[symbol] for symbol in symbols]
    assert [(i, j) for i, j, _ in without_flat(binary, tags)][1:] == expected


def test_flat_brackets_stay_where_they_are_asked_for():
    spans, tags = [(0, 3, "S"), (1, 3, "X")], ["DET", "ADJ", "NOUN"]
    assert without_flat(spans, tags) == spans[:1]
    assert without_flat(spans, tags, keep=[(1, 3, "any")]) == spans
