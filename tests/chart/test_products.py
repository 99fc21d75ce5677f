"""Matrix products in pieces."""

import numpy as np
import pytest

from spacy_lpcfg.products import product


@pytest.mark.parametrize("shape", [(0, 8, 4), (1, 384, 250), (27, 384, 250), (353, 250, 60), (60, 250, 101)])
def test_products_in_pieces_are_those_at_once(shape):
    n, k, m = shape
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(size).astype(np.float32) for size in ((n, k), (k, m)))
    np.testing.assert_allclose(product(x, y), x.astype(float) @ y.astype(float), atol=1e-4)
