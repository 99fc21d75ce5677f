import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.cell_masks import allowed_symbols

from spacy_lpcfg.chart.cells import SymbolSets, bracket_mask
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import parse_trees

FEW = [
    "(S (NP (DT the) (JJ old) (NN cat)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (NNP Rome))))))",
    "(S (VP (VB go)))",
    "(NP (NP (NN home)))",
]
MANY = [f"(S (X{i} (Y{i} (NN a)) (X{i} (NN b))) (NN c) (NN d))" for i in range(70)]


@pytest.fixture(scope="module", params=[FEW, MANY], ids=["few labels", "many labels"])
def grammar(request):
    return TreebankPCFG().fit(parse_trees(request.param))


@given(st.data())
def test_bracket_mask_allows_what_trees_of_these_brackets_have(grammar, data):
    n_words = data.draw(st.integers(1, 6))
    bounds = st.tuples(st.integers(0, n_words - 1), st.integers(1, n_words)).filter(lambda pair: pair[0] < pair[1])
    spans = st.tuples(bounds, st.sampled_from([*grammar.labels, "none"])).map(lambda pair: (*pair[0], pair[1]))
    brackets = data.draw(st.lists(spans, max_size=12, unique=True))
    mask = bracket_mask(brackets, n_words, SymbolSets(grammar))
    assert np.array_equal(mask.rows[mask.cells].astype(bool), allowed_symbols(brackets, n_words, grammar))
    closed = ~mask.rows[mask.cells].any(axis=2)
    assert (mask.cells[closed] == 0).all()
