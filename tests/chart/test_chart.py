"""Charts against enumeration: forests, marginals, decoded trees, long sentences."""

from dataclasses import replace

import numpy as np
import pytest
from grammars import (
    WORDS,
    forward,
    grammar_of,
    hmm_model,
    of_low_rank,
    one_state,
    random_grammar,
    random_model,
    rebased,
    sentences,
    skewed,
)
from oracles.enumeration import (
    Model,
    all_trees,
    cancellation,
    edges,
    goodman_score,
    items,
    marginals,
    model_of,
    pcfg_of,
    total,
)

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.chart._forest import best_tree
from spacy_lpcfg.grammar.tensors import EXACT, Tensors

PROPER = pytest.mark.parametrize("proper", [True, False], ids=["proper", "signed"])
SEEDS = pytest.mark.parametrize("seed", range(3))


def named_items(grammar, forest, values):
    return {
        (grammar.symbols[a], i, j): value
        for (i, j, a, _), value in zip(forest.item_table().tolist(), values.tolist(), strict=True)
    }


def named_edges(grammar, forest, values):
    table = forest.item_table()
    named = {}
    for (target, left, right, rule), value in zip(forest.edge_table().tolist(), values.tolist(), strict=True):
        (i, j, a, _), (_, k, b, _), (_, _, c, _) = table[[target, left, right]].tolist()
        assert grammar.rules[rule].tolist() == [a, b, c]
        named[(*(grammar.symbols[symbol] for symbol in (a, b, c)), i, k, j)] = value
    return named


def assert_equal(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for part, value in expected.items():
        assert found[part] == pytest.approx(value, abs=tolerance), part


@SEEDS
def test_coarse_posteriors_equal_enumeration(seed):
    grammar = random_grammar(seed)
    pcfg, parser = pcfg_of(grammar), Parser(grammar, settings=EXHAUSTIVE)
    for words in sentences(grammar, seed):
        forest, weight = parser.forest(words), total(pcfg, words)
        assert forest.log_probability == pytest.approx(np.log(weight), rel=1e-12)
        for named, posteriors, parts in (
            (named_items, forest.item_posteriors(), items),
            (named_edges, forest.edge_posteriors(), edges),
        ):
            expected = {part: value / weight for part, value in marginals(pcfg, words, parts).items()}
            assert_equal(named(grammar, forest, posteriors), expected, 1e-12)


STORED = {  # whether a model is proper, its most states, how it is changed and stored, and how many tensors stay exact
    "proper": (True, 3, lambda model, seed: model, Tensors.from_dense, range(25, 26)),
    "signed": (False, 3, lambda model, seed: model, Tensors.from_dense, range(25, 26)),
    "factored": (True, 6, lambda model, seed: of_low_rank(model), Tensors.factorize, range(3, 23)),
    "factored and signed": (False, 6, lambda model, seed: of_low_rank(model), Tensors.factorize, range(3, 23)),
    "sparse": (True, 6, skewed, Tensors.sparsify, range(20)),
    "sparse with many states": (True, 11, skewed, Tensors.sparsify, range(20)),
}


@pytest.mark.parametrize("name", STORED)
@SEEDS
def test_marginals_equal_enumeration(seed, name):
    """The kernels apply factors, or blocks and what is left of a tensor; enumeration sees what these make."""
    proper, most_states, change, store, n_exact = STORED[name]
    changed = change(random_model(seed, most_states=most_states, proper=proper), seed)
    grammar = grammar_of(changed, one_state(changed, seed), is_proper=proper, store=store)
    assert np.count_nonzero(grammar.tensors.forms == EXACT) in n_exact
    model, parser = model_of(grammar), Parser(grammar, settings=EXHAUSTIVE)
    tested = sentences(grammar, seed, lengths=(1, 2, 3, 4, 5, 6) if most_states == 3 else (3, 5))
    assert len(tested) > 3
    for words in tested:
        forest = parser.forest(words)
        found, weight, left = parser.marginals(forest), total(model, words), cancellation(model, words)
        log_probability = np.log(weight) if weight > 0 else np.nan
        assert np.sign(found.total) == np.sign(weight)
        assert found.log_probability == pytest.approx(log_probability, abs=1e-6 / left, nan_ok=True)
        of_parse = log_probability if proper else np.nan
        assert parser.parse(words).log_probability == pytest.approx(of_parse, abs=1e-6, nan_ok=True)
        for named, values, parts in ((named_items, found.items(), items), (named_edges, found.edges(), edges)):
            expected = {part: value / weight for part, value in marginals(model, words, parts).items()}
            assert_equal(named(grammar, forest, values), expected, 3e-6 / left)


@pytest.mark.parametrize("threshold", [0.02, 0.1])
@SEEDS
def test_pruning_keeps_what_reaches_the_thresholds(seed, threshold):
    """Items and edges by their posteriors; everything, where no tree would be left."""
    grammar = random_grammar(seed)
    pcfg = pcfg_of(grammar)
    parser = Parser(grammar, settings=replace(EXHAUSTIVE, threshold=threshold, edge_threshold=threshold + 0.01))
    for words in sentences(grammar, seed, lengths=(4, 6)):
        weight = total(pcfg, words)
        item, edge = (marginals(pcfg, words, parts) for parts in (items, edges))
        likely = {part for part, value in item.items() if value / weight >= threshold}
        applied = {
            (a, b, c, i, k, j)
            for (a, b, c, i, k, j), value in edge.items()
            if value / weight >= threshold + 0.01 and {(a, i, j), (b, i, k), (c, k, j)} <= likely
        }
        is_left = any(set(items(tree)) <= likely and set(edges(tree)) <= applied for tree in all_trees(pcfg, words))
        forest = parser.forest(words)
        found = named_items(grammar, forest, forest.item_posteriors())
        assert set(found) == (likely if is_left else set(item))
        found = named_edges(grammar, forest, forest.edge_posteriors())
        assert set(found) == (applied if is_left else set(edge))


@PROPER
@pytest.mark.parametrize("absolute", [True, False])
@SEEDS
def test_best_tree_maximises_summed_rule_marginals(seed, proper, absolute):
    """Goodman (1996) on the marginals of section 2.1, footnote 3, of Cohen et al. (2013), against all trees."""
    grammar = random_grammar(seed, proper=proper)
    parser = Parser(grammar, settings=replace(EXHAUSTIVE, absolute=absolute))
    for words in sentences(grammar, seed):
        forest = parser.forest(words)
        found = parser.marginals(forest)
        read = np.abs if absolute else np.asarray
        edge, item = read(found.edges()), read(found.items())
        by_edge, by_item = named_edges(grammar, forest, edge), named_items(grammar, forest, item)
        scores = [goodman_score(tree, by_edge, by_item) for tree in all_trees(model_of(grammar), words)]
        nodes = best_tree(forest, edge, item).tolist()
        table = forest.item_table()
        assert len(nodes) == 2 * len(words) - 1
        (best,) = (
            tree
            for tree in all_trees(model_of(grammar), words)
            if [(a, i, j) for a, i, j in _pre_order(tree)]
            == [(grammar.symbols[a], i, j) for i, j, a, _ in table[nodes].tolist()]
        )
        assert goodman_score(best, by_edge, by_item) == pytest.approx(max(scores), rel=1e-9)


def _pre_order(tree):
    order, stack = [], [(tree, 0)]
    while stack:
        node, start = stack.pop()
        order.append((node.label, start, start + len(node)))
        if not node.is_leaf:
            left, right = node.children
            stack += [(right, start + len(left)), (left, start)]
    return order


def test_best_tree_of_an_empty_forest_is_empty():
    model = Model({"S": np.ones(1)}, {("S", "D", "N"): np.ones((1, 1, 1))}, {})
    model.lexical.update({("D", "ant"): np.ones(1), ("N", "bee"): np.ones(1)})
    forest = Parser(grammar_of(model, model, is_proper=True), settings=EXHAUSTIVE).forest(["bee", "ant"])
    assert (forest.n_items, forest.n_edges, forest.log_probability) == (0, 0, -np.inf)
    assert len(best_tree(forest, np.empty(0), np.empty(0))) == 0


def hidden_markov_model(m=3):
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(m), m), rng.dirichlet(np.ones(len(WORDS)), m), 0.01


@pytest.mark.parametrize("basis", [None, 0, 1])
@pytest.mark.parametrize("n_words", [1, 2, 30, 300])
def test_long_sentences_neither_underflow_nor_overflow(n_words, basis):
    """Right-branching chains of 300 words, whose probability is no float, against the forward algorithm."""
    hmm = hidden_markov_model()
    model = hmm_model(*hmm)
    latent = model if basis is None else rebased(model, basis)
    grammar = grammar_of(latent, one_state(model, 0), is_proper=basis is None)
    words = np.random.default_rng(n_words).choice(WORDS, n_words).tolist()
    parser = Parser(grammar, settings=EXHAUSTIVE)
    forest = parser.forest(words)
    found = parser.marginals(forest)
    assert found.log_probability == pytest.approx(forward(*hmm, [*map(WORDS.index, words)]), rel=1e-6, abs=1e-5)
    assert found.items().sum() == pytest.approx(2 * n_words - 1, rel=1e-4)
    parse = parser.parse(words)
    assert parse.status == "parsed"
    assert parse.spans == [(i, n_words, "S") for i in range(n_words - 1)]


def test_weights_of_any_magnitude_neither_underflow_nor_overflow():
    """Parameters times a constant a rule or word: the weight takes their powers, the marginals stay."""
    model = hmm_model(*hidden_markov_model())
    words = np.random.default_rng(1).choice(WORDS, 300).tolist()
    found = []
    for scale in (1e-12, 1.0, 1e12):
        scaled = Model(
            model.roots,
            {rule: tensor * scale for rule, tensor in model.binary.items()},
            {row: vector * scale for row, vector in model.lexical.items()},
        )
        parser = Parser(grammar_of(scaled, one_state(scaled, 0), is_proper=False), settings=EXHAUSTIVE)
        forest = parser.forest(words)
        found.append(parser.marginals(forest))
    small, plain, large = found
    powers = (2 * len(words) - 1) * np.log(1e12)
    assert small.log_probability == pytest.approx(plain.log_probability - powers, rel=1e-5)
    assert large.log_probability == pytest.approx(plain.log_probability + powers, rel=1e-5)
    np.testing.assert_allclose(small.items(), plain.items(), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(large.items(), plain.items(), rtol=1e-3, atol=1e-5)


def test_coarse_chart_of_extreme_probabilities():
    """Weights of 1e-30 a word over 300 words: far below the least float."""
    model = hmm_model(*hidden_markov_model())
    pcfg = one_state(model, 0)
    tiny = Model(pcfg.roots, pcfg.binary, {row: vector * 1e-30 for row, vector in pcfg.lexical.items()})
    words = np.random.default_rng(2).choice(WORDS, 300).tolist()
    forests = [
        Parser(grammar_of(model, weights, is_proper=True), settings=EXHAUSTIVE).forest(words)
        for weights in (pcfg, tiny)
    ]
    assert forests[1].log_probability == pytest.approx(forests[0].log_probability + 300 * np.log(1e-30), rel=1e-9)
    np.testing.assert_allclose(forests[1].item_posteriors(), forests[0].item_posteriors(), rtol=1e-9)
