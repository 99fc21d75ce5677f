from itertools import combinations, pairwise

import numpy as np
import pytest

from spacy_lpcfg.chart.fallbacks import fewest_pieces


@pytest.mark.parametrize("n_words", range(2, 7))
@pytest.mark.parametrize("seed", range(4))
def test_pieces_are_the_fewest_and_of_these_the_most_probable(n_words, seed):
    rng = np.random.default_rng(seed)
    logs = np.where(rng.random((n_words + 1, n_words + 1)) < 0.4, -50 * rng.random((n_words + 1, n_words + 1)), -np.inf)

    def rank(cuts):
        pieces = list(pairwise([0, *cuts, n_words]))
        is_possible = all(end == start + 1 or logs[start, end] > -np.inf for start, end in pieces)
        n_odd = sum(logs[piece] == -np.inf for piece in pieces)
        return is_possible, -len(pieces), -n_odd, sum(logs[piece] for piece in pieces if logs[piece] > -np.inf)

    every = [cuts for n in range(1, n_words) for cuts in combinations(range(1, n_words), n)]
    assert rank(fewest_pieces(logs)) == pytest.approx(max(map(rank, every)))


def test_word_without_a_tree_is_one_piece():
    logs = np.full((5, 5), -np.inf)
    logs[0, 3], logs[[0, 1, 2], [1, 2, 4]] = -50, -1
    assert fewest_pieces(logs) == [3]
