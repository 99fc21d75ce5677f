"""Groups of classes that were merged, beside a slow clustering of the definition."""

import numpy as np

from spacy_lpcfg.bracketing.extensions.groups import merge_groups


def test_groups_are_those_that_lose_least():
    """Against the sum over all pairs, step by step."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 50, size=(9, 9)).astype(float)
    rows = {(k,): np.concatenate([pairs[k], pairs[:, k]]) for k in range(2, 9)}

    def information(counts):
        return sum(n * np.log(n / counts.sum()) for n in counts if n)

    while len(rows) > 3:
        _, one, other = min(
            (information(rows[a]) + information(rows[b]) - information(rows[a] + rows[b]), a, b)
            for a in rows
            for b in rows
            if a < b
        )
        rows[(*one, *other)] = rows.pop(one) + rows.pop(other)
    groups = merge_groups(pairs, range(2, 9), 3)
    assert {frozenset(group) for group in groups} == {frozenset(group) for group in rows}
