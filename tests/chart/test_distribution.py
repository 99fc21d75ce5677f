"""P(tree | words) of a forest against the list of all trees: n-best trees, samples, entropy, state vectors."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from grammars import WORDS, grammar_of, one_state, random_grammar, random_model
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.enumeration import all_trees, items, marginals, model_of, total, weight

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.chart.k_best import KBest
from spacy_lpcfg.grammar import grammar_from_pcfg
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.parsing.distribution import MAX_N_BEST, MAX_SAMPLES, ListedDistribution
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize

SEEDS = st.integers(0, 10**6)
CASES = given(SEEDS, st.integers(1, 5))


def weights_of_trees(grammar, words) -> dict[Tree, float]:
    """P(tree, words) of all n-ary trees: several binary ones may stand for one."""
    model, found = model_of(grammar), defaultdict(float)
    for tree in all_trees(model, words):
        found[expand_unaries(unbinarize(tree))] += weight(model, tree)
    return {tree: value for tree, value in found.items() if value > 0}


def case(seed, n, **shape):
    """A random grammar, a sentence, the weights of its trees and their distribution by the parser."""
    grammar = random_grammar(seed, **shape)
    known = [word for word in WORDS if word in grammar.lexicon.words]  # the list of trees has those of no other
    words = np.random.default_rng(seed).choice(known, n).tolist()
    parser = Parser(grammar, settings=EXHAUSTIVE)
    return parser, words, weights_of_trees(grammar, words), parser.distribution(words)


@CASES
def test_n_best_are_all_trees_by_falling_probability(seed, n):
    parser, words, expected, distribution = case(seed, n)
    found = distribution.n_best(1000)
    whole = sum(expected.values())
    assert {each.tree for each in found} == set(expected)
    assert [each.probability for each in found] == sorted((each.probability for each in found), reverse=True)
    for tree, log_probability, probability in found:
        assert probability == pytest.approx(expected[tree] / whole, rel=1e-4, abs=1e-6)
        assert log_probability == pytest.approx(np.log(expected[tree]), abs=1e-4)
        assert parser.tree_log_probability(tree) == pytest.approx(np.log(expected[tree]), abs=1e-4)
    assert parser.n_best(words, n=2) == found[:2]
    parse = parser.parse(words)
    if parse.is_parsed and expected:
        assert parse.probability == pytest.approx(expected[parse.tree] / whole, rel=1e-4, abs=1e-6)
    if expected:
        assert distribution.log_probability == pytest.approx(np.log(whole), abs=1e-5)
    else:
        assert np.isnan(distribution.log_probability)


@CASES
def test_entropy_is_an_upper_bound(seed, n):
    *_, expected, distribution = case(seed, n)
    assert not distribution.entropy() < bits(expected) - 1e-4
    assert np.isnan(distribution.entropy()) == (not expected)


def test_entropy_is_close():
    gaps = [distribution.entropy() - bits(expected) for *_, expected, distribution in (case(k, 5) for k in range(20))]
    assert np.nanmean(gaps) < 0.02


@settings(max_examples=20)
@CASES
def test_entropy_is_exact_with_one_state(seed, n):
    model = random_model(seed, most_states=1, interminals=("NP", "S", "S|VP", "VP"))
    grammar = grammar_of(model, one_state(model, seed), is_proper=True)
    words = np.random.default_rng(seed).choice(WORDS, n).tolist()
    expected = weights_of_trees(grammar, words)
    found = Parser(grammar, settings=EXHAUSTIVE).distribution(words).entropy()
    assert found == pytest.approx(bits(expected), abs=1e-4) or not expected


def bits(weights: dict[Tree, float]) -> float:
    """The entropy of trees of these weights."""
    shares = np.array(list(weights.values())) / (sum(weights.values()) or 1)
    return float(-(shares * np.log2(shares)).sum())


@pytest.mark.parametrize("store", [Tensors.from_dense, Tensors.sparsify])
@pytest.mark.parametrize("seed", range(2))
def test_samples_are_drawn_by_their_probability(seed, store):
    model = random_model(seed)
    grammar = grammar_of(model, one_state(model, seed), is_proper=True, store=store)
    words, n = np.random.default_rng(seed).choice(WORDS, 4).tolist(), 4000
    expected = weights_of_trees(grammar, words)
    drawn = Counter(Parser(grammar, settings=EXHAUSTIVE).distribution(words).samples(n, seed=1))
    whole = sum(expected.values())
    assert sum(drawn.values()) == (n if expected else 0)
    for tree, value in expected.items():
        p = value / whole
        assert drawn[tree] / n == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 1e-3)


def test_samples_repeat_themselves_by_seed():
    *_, distribution = case(0, 5)
    assert distribution.samples(20, seed=3) == distribution.samples(20, seed=3)
    assert distribution.samples(20, seed=3) != distribution.samples(20, seed=4)


@settings(max_examples=20)
@CASES
def test_k_best_are_all_trees_of_a_forest_in_order(seed, n):
    parser, words, *_ = case(seed, n)
    forest, model = parser.forest(words), model_of(parser.grammar)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=forest.n_edges)
    table, edges = forest.item_table(), forest.edge_table()
    is_root = (table[:, 1] - table[:, 0] == n) & (parser.grammar.root_weights[table[:, 2]] > 0)
    found = list(KBest(forest, scores, np.where(is_root, 0.0, -np.inf)).trees())
    assert len({tuple(nodes) for nodes in found}) == len(found) == len(all_trees(model, words))
    of_edge = {tuple(edge[:3]): score for edge, score in zip(edges.tolist(), scores, strict=True)}
    sums = [_sum(nodes, table[:, :2].tolist(), of_edge) for nodes in found]
    assert sums == sorted(sums, reverse=True)


def test_n_best_of_a_deep_tree_does_not_recurse():
    grammar = grammar_from_pcfg("S -> A S [0.5] | A A [0.5]\nA -> 'a' [1.0]")
    assert len(Parser(grammar).n_best(["a"] * 600, 2)) == 1


def _sum(nodes, spans, of_edge):
    """Score of a tree given by its items in pre-order."""
    total, stack = 0.0, []
    for node in reversed(nodes):
        if spans[node][1] - spans[node][0] > 1:
            left, right = stack.pop(), stack.pop()
            total += of_edge[node, left, right]
        stack.append(node)
    return total


def test_tree_log_probability_of_what_the_grammar_cannot_make():
    parser = Parser(random_grammar(0))
    for tree in parse_trees(["(X (N ant))", "(S (N ant) (Y bee))"]):
        assert parser.tree_log_probability(tree) == -np.inf


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 5), st.booleans())
def test_state_vectors_multiply_to_posteriors_of_their_constituent(seed, n, proper):
    grammar = random_grammar(seed, proper=proper)
    model, words = model_of(grammar), np.random.default_rng(seed).choice(WORDS, n).tolist()
    parser = Parser(grammar, settings=EXHAUSTIVE)
    vectors = parser.states(words)
    if not all_trees(model, words):
        assert vectors == []
        return
    parse, expected, whole = parser.parse(words), marginals(model, words, items), total(model, words)
    scale = sum(abs(weight(model, tree)) for tree in all_trees(model, words)) / abs(whole)
    for each in vectors:
        posterior = expected[each.symbol, each.start, each.end] / whole
        assert float(each.inside @ each.outside) == pytest.approx(posterior, abs=1e-4 * scale)
        assert each.inside.shape == each.outside.shape == (grammar.n_states[grammar.symbols.index(each.symbol)],)
    assert [(each.start, each.end) for each in vectors] == list(
        dict.fromkeys([*((i, j) for i, j, _ in _with_words(parse))])
    )


def _with_words(parse):
    """Brackets and words in pre-order."""
    spans = [*parse.spans, *((i, i + 1, "") for i in range(len(parse.words)))]
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def test_inside_vectors_of_a_word_are_its_emissions():
    grammar = random_grammar(1, most_states=3)
    parser = Parser(grammar, settings=EXHAUSTIVE)
    for words in (["ant"], ["bee", "cat", "dog"], ["cat", "cat"]):
        for each in parser.states(words):
            if each.end == each.start + 1:
                expected = model_of(grammar).lexical[each.symbol, words[each.start]]
                assert each.inside * np.exp(each.log_scale) == pytest.approx(expected, rel=1e-5)


def test_a_distribution_needs_one_proper_grammar():
    spectral = random_grammar(0, proper=False)
    with pytest.raises(ValueError, match="Use one proper grammar"):
        Parser(spectral).distribution(["ant"])
    with pytest.raises(ValueError, match="Use one proper grammar"):
        Parser(spectral).tree_log_probability(next(parse_trees(["(S (N ant))"])))


def test_a_sentence_in_pieces_has_an_empty_distribution():
    parser = SegmentingParser(Parser(random_grammar(0)), Limits(150))
    distribution = parser.distribution(["ant"] * 200)
    assert distribution.n_best(1) == distribution.samples(1) == []
    assert np.isnan([distribution.entropy(), distribution.log_probability]).all()
    assert parser.states(["ant"] * 200) == []


def test_a_listed_distribution_is_its_shares():
    one, other = parse_trees(["(S (A a))", "(S (B a))"])
    listed = ListedDistribution([(one, np.log(0.1)), (other, np.log(0.3))])
    assert [(each.tree, each.probability) for each in listed.n_best(5)] == [
        (other, pytest.approx(0.75)),
        (one, pytest.approx(0.25)),
    ]
    assert listed.entropy() == pytest.approx(-0.75 * np.log2(0.75) + 0.5)
    assert Counter(listed.samples(4000))[one] / 4000 == pytest.approx(0.25, abs=0.04)
    with pytest.raises(ValueError, match="from 1 to 10,000, got 0"):
        listed.n_best(0)


def test_numbers_of_trees_are_bounded():
    of_a_forest = next(found for *_, expected, found in (case(seed, 4) for seed in range(20)) if expected)
    for distribution in (of_a_forest, ListedDistribution(())):
        for n in (0, MAX_N_BEST + 1, 2**63):
            with pytest.raises(ValueError, match=f"n to be a whole number from 1 to 10,000, got {n}"):
                distribution.n_best(n)
        with pytest.raises(ValueError, match="n to be a whole number from 1 to 100,000, got 10000000"):
            distribution.samples(10**7)
    assert ListedDistribution(()).n_best(MAX_N_BEST) == ListedDistribution(()).samples(MAX_SAMPLES) == []
