"""Required and forbidden spans: the constrained chart is the list of all trees, filtered."""

import numpy as np
import pytest
from grammars import WORDS, random_grammar
from hypothesis import given
from hypothesis import strategies as st
from networks import tiny
from oracles.enumeration import all_trees, brackets, model_of, weight

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.isbn import IncrementalParser
from spacy_lpcfg.parsing.constraints import ANY, Constraints, crosses, find_crossing
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import BACKED_OFF, PARSED, UNCONSTRAINED
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize

N_WORDS = 5
SPANS = st.tuples(st.integers(0, N_WORDS - 1), st.integers(1, N_WORDS)).filter(lambda span: span[0] < span[1])
LABELS = st.sampled_from([ANY, "NP", "S", "VP"])
LABELLED = st.builds(lambda span, label: (*span, label), SPANS, LABELS)
CONSTRAINTS = st.builds(
    Constraints,
    st.lists(LABELLED, max_size=1).map(tuple),
    st.lists(LABELLED, max_size=3).map(tuple),
    st.lists(SPANS, max_size=1).map(tuple),
)


@given(st.integers(0, 10**6), CONSTRAINTS)
def test_the_constrained_chart_has_the_trees_that_satisfy_them(seed, constraints):
    grammar = random_grammar(seed)
    model, words = model_of(grammar), np.random.default_rng(seed).choice(WORDS, N_WORDS).tolist()
    parser = Parser(grammar, settings=EXHAUSTIVE)
    kept = {}
    for tree in all_trees(model, words):
        if constraints.allow((i, j, label) for label, i, j in brackets(tree)):
            plain = expand_unaries(unbinarize(tree))
            kept[plain] = kept.get(plain, 0.0) + weight(model, tree)
    found = parser.distribution(Query(words, constraints=constraints)).n_best(1000)
    assert {each.tree for each in found} == {tree for tree, value in kept.items() if value > 0}
    for each in found:
        assert each.probability == pytest.approx(kept[each.tree] / sum(kept.values()), abs=1e-4)
    parse = parser.parse(Query(words, constraints=constraints))
    assert parse.status in ((PARSED,) if kept else (BACKED_OFF, UNCONSTRAINED, parser.parse(words).status))
    assert constraints.allow(parse.spans) == (parse.status != UNCONSTRAINED)


@given(CONSTRAINTS)
def test_a_beam_keeps_the_derivations_that_satisfy_constraints(constraints):
    parser = IncrementalParser(tiny("feed-forward"))
    words = ["a", "b", "new", "c", "a"]
    everything = parser.n_best(words, n=30)
    kept = [each.tree for each in everything if constraints.allow(each.tree.spans())]
    assert [each.tree for each in parser.n_best(Query(words, constraints=constraints), n=30)] == kept
    parse = parser.parse(Query(words, constraints=constraints))
    assert constraints.allow(parse.spans) or parse.status == UNCONSTRAINED
    if any(constraints.allow(each.tree.spans()) for each in parser.n_best(words, n=10)):
        assert parse.status == PARSED


def test_constraints_of_a_sentence_in_pieces_are_looked_at_afterwards():
    parser, words = Parser(random_grammar(0)), ["ant"] * 200
    assert parser.parse(Query(words, constraints=Constraints(whole=((0, 200),)))).status == "segmented"
    assert parser.parse(Query(words, constraints=Constraints(required=((3, 177, "Q"),)))).status == UNCONSTRAINED


@pytest.mark.parametrize("span", [(0, 6, ANY), (2, 2, ANY), (-1, 3, ANY)])
def test_constraints_refuse_what_is_no_span(span):
    for parser in (Parser(random_grammar(0)), IncrementalParser(tiny("feed-forward"))):
        with pytest.raises(ValueError, match="within the 5 words"):
            parser.parse(Query(["ant"] * 5, constraints=Constraints(required=(span,))))


def test_whole_spans_may_be_part_of_flat_ones():
    tree = [(0, 4, "NP"), (0, 1, "X")]
    assert Constraints(whole=((1, 3),)).allow(tree)
    assert not Constraints(required=((1, 3, ANY),)).allow(tree)
    assert not Constraints(whole=((0, 2),)).allow([(0, 4, "S"), (1, 4, "VP")])


@given(st.lists(SPANS, max_size=6))
def test_constraints_that_cross_are_found(spans):
    crossing = find_crossing(spans)
    assert (crossing is not None) == any(crosses(*one, *other) for one in spans for other in spans)
    assert crossing is None or (crosses(*crossing[0], *crossing[1]) and {*crossing} <= {*spans})
