"""Splitting and merging states, against the probabilities of trees under parameters that were split and merged."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import Model, tree_log_probability, weight
from oracles.latent import model_of_latent, random_fit, random_latent, skeletal_trees, split_of

from spacy_lpcfg.learning import LexicalSettings, SplitMerge
from spacy_lpcfg.learning.latent.merging import Merge, _cheapest, greedy_merges, merge_flow, merge_losses
from spacy_lpcfg.learning.latent.state_flows import flow
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED, Expected, Split
from spacy_lpcfg.learning.split_merge import split_flow, split_states
from spacy_lpcfg.trees import Tree, parse_trees

# No symbol stands twice in a tree.
BRACKETS = [
    "(S (NP (D a) (N b)) (VP (V c) (X d)))",
    "(S (NP (D e) (N d)) (VP (V a) (X b)))",
    "(S (NP (N d) (D b)) (X e))",
    "(S (Q (D b) (N d)) (VP (V e) (Y c)))",
    "(VP (V c) (X a))",
]


@pytest.fixture(scope="module", params=[0, 1, 2])
def small(request):
    """A split of small trees, random parameters, what the trees say of their nodes, and the trees."""
    split = split_of(list(parse_trees(BRACKETS)), 4)
    latent = random_latent(split, noise=2.0, seed=request.param)
    return split, latent, split.posteriors(latent), skeletal_trees(split)


def log_likelihood(model: Model, trees: Sequence[Tree]) -> float:
    return float(np.log([weight(model, tree) for tree in trees]).sum())


def merged(model: Model, symbol: str, group: np.ndarray, counts: np.ndarray) -> Model:
    """A model in which groups of states of a symbol are one each; what follows from it is their mean.

    group (int, (m,)): Of each state, from 0; counts (float, (m,)): by which the means are.
    """
    sums = np.eye(group.max() + 1)[group]
    means = sums * counts[:, None] / (sums.T @ counts)

    def change(tensor: np.ndarray, axis: int, matrix: np.ndarray) -> np.ndarray:
        return np.moveaxis(np.tensordot(tensor, matrix, (axis, 0)), -1, axis)

    binary = {}
    for rule, tensor in model.binary.items():
        for axis, name in enumerate(rule):
            if name == symbol:
                tensor = change(tensor, axis, sums if axis else means)
        binary[rule] = tensor
    return Model(
        {name: vector @ sums if name == symbol else vector for name, vector in model.roots.items()},
        binary,
        {key: vector @ means if key[0] == symbol else vector for key, vector in model.lexical.items()},
    )


# -------------------------------------------------------------------------------------------- losses


def vectors_of(split: Split, posteriors, a: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inside and outside vectors of the nodes of a symbol, and the counts of its states."""
    of_symbol = split.treebank.nodes.symbol == a
    m = split.n_states[a]
    return (posteriors.inside[of_symbol, :m], posteriors.outside[of_symbol, :m], split.sums(posteriors).symbols[a, :m])


def after_em(trees: list[Tree]) -> tuple[Split, Expected]:
    """Counts of three states a symbol, near a maximum of the likelihood, so that every merge loses some."""
    fit = random_fit(split_of(trees, 3, LexicalSettings()), UNSMOOTHED)
    for _ in range(12):
        fit.step()
    return fit.split, fit.expected


def test_loss_of_a_merge_is_that_of_the_likelihood(small):
    """Exactly, where no tree has two nodes of the symbol."""
    split, latent, posteriors, trees = small
    model = model_of_latent(split, latent)
    before = log_likelihood(model, trees)
    for a, m in enumerate(split.n_states):
        vectors = vectors_of(split, posteriors, a)
        for i, j in itertools.combinations(range(m), 2):
            group = merge_flow(m, [Merge(0.0, i, j)]).argmax(axis=1)
            changed = merged(model, split.treebank.nodes.symbols[a], group, vectors[-1])
            (loss,) = merge_losses(*vectors, i, np.array([j]))
            assert loss == pytest.approx(before - log_likelihood(changed, trees), rel=1e-3, abs=1e-5)


def test_losses_of_merges_add_up(small):
    """One after the other, down to one state."""
    split, latent, posteriors, trees = small
    model = model_of_latent(split, latent)
    before = log_likelihood(model, trees)
    for a, m in enumerate(split.n_states):
        vectors = vectors_of(split, posteriors, a)
        every = greedy_merges(*vectors)
        assert len(every) == m - 1
        for n in range(m):
            group = merge_flow(m, every[:n]).argmax(axis=1)
            changed = merged(model, split.treebank.nodes.symbols[a], group, vectors[-1])
            lost = sum(merge.loss for merge in every[:n])
            assert lost == pytest.approx(before - log_likelihood(changed, trees), rel=1e-3, abs=1e-5)


def test_first_merge_is_the_cheapest(small):
    split, _, posteriors, _ = small
    for a in np.flatnonzero(split.n_states > 1):
        m, vectors = split.n_states[a], vectors_of(split, posteriors, a)
        every = [loss for i in range(m - 1) for loss in merge_losses(*vectors, i, np.arange(i + 1, m))]
        assert greedy_merges(*vectors)[0].loss == min(every)


def test_halves_of_states_are_merged_for_nothing(sample):
    """If nothing makes them differ; and with nothing but the halves merged, parameters are what they were."""
    split, expected = after_em(sample)
    halves = [np.repeat(np.eye(m, dtype=np.float32) / 2, 2, axis=1) for m in split.n_states]
    twice, counts = flow(split, expected, halves)
    posteriors = twice.posteriors(twice.maximize(counts, UNSMOOTHED))
    for a in np.argsort(-split.treebank.counts.symbols)[:20]:
        m, vectors = split.n_states[a], vectors_of(twice, posteriors, a)
        for half in range(0, 2 * m, 2):
            assert merge_losses(*vectors, half, np.array([half + 1])) == pytest.approx(0.0, abs=0.01)
        assert sum(merge.loss for merge in greedy_merges(*vectors)[:m]) < 0.1
    again, back = flow(twice, counts, [matrix.T > 0 for matrix in halves])
    np.testing.assert_allclose(back.rules, expected.rules, rtol=1e-5)
    np.testing.assert_array_equal(again.n_states, split.n_states)


def test_loss_is_about_that_of_the_likelihood_in_real_trees(sample):
    """Symbols stand in a tree several times, so that it is an estimate."""
    split, expected = after_em(sample)
    posteriors = split.posteriors(split.maximize(expected, UNSMOOTHED))
    expected = split.sums(posteriors)
    start = split.expect(split.maximize(expected, UNSMOOTHED)).log_likelihood
    for a in np.argsort(-split.treebank.counts.symbols)[:6]:
        (merge, _) = greedy_merges(*vectors_of(split, posteriors, a))
        flows = [np.eye(m, dtype=np.float32) for m in split.n_states]
        flows[a] = merge_flow(3, [merge])
        fewer, counts = flow(split, expected, flows)
        loss = start - fewer.expect(fewer.maximize(counts, UNSMOOTHED)).log_likelihood
        assert merge.loss == pytest.approx(loss, rel=0.5)


def test_cheapest_merges_keep_their_order():
    """A cheap merge waits for a dear one of its symbol that has to be done before it."""
    of_symbols = [[Merge(5.0, 0, 1), Merge(1.0, 0, 2)], [], [Merge(2.0, 1, 2), Merge(6.0, 0, 1)]]
    assert [len(chosen) for chosen in _cheapest(of_symbols, 0)] == [0, 0, 0]
    assert [len(chosen) for chosen in _cheapest(of_symbols, 1)] == [0, 0, 1]
    assert [len(chosen) for chosen in _cheapest(of_symbols, 3)] == [2, 0, 1]
    assert [len(chosen) for chosen in _cheapest(of_symbols, 9)] == [2, 0, 2]


def test_merging_has_one_row_a_state():
    found = merge_flow(5, [Merge(0.0, 1, 3), Merge(0.0, 0, 1), Merge(0.0, 2, 4)])
    np.testing.assert_array_equal(found.argmax(axis=1), [0, 0, 1, 0, 1])
    np.testing.assert_array_equal(found.sum(axis=1), 1)


# --------------------------------------------------------------------------------------------- flows


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 14), st.randoms(use_true_random=False))
def test_halving_splits_the_most_frequent_states(is_split, most, random):
    wanted = np.array(is_split)
    counts = np.array([random.random() for _ in is_split])
    found = split_flow(wanted, counts, most)
    m, n = found.shape
    assert n == min(m + wanted.sum(), max(most, m))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    halves = (found > 0).sum(axis=1)
    assert set(found[found > 0]) <= {0.5, 1.0}
    assert not (halves[~wanted] > 1).any()
    spared = counts[wanted & (halves == 1)]
    assert len(spared) == 0 or spared.max() <= counts[halves == 2].min(initial=np.inf)


def test_halving_splits_a_state_that_never_occurs():
    assert split_flow(np.array([False, False, True]), np.zeros(3), 4).shape == (3, 4)


def test_splitting_without_noise_changes_no_probability(sample):
    split = split_of(sample, 3, LexicalSettings())
    expected = split.expect(random_latent(split, noise=1.0, seed=0))
    wanted = split.expect(split.maximize(expected, UNSMOOTHED))
    more, halves = split_states(split, expected, 5, 10.0, 0.0, np.random.default_rng(0))
    assert (more.n_states.max(), more.n_states.min()) == (5, 1)
    found = more.expect(more.maximize(halves, UNSMOOTHED))
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-6)
    assert found.rules.sum() == pytest.approx(wanted.rules.sum(), rel=1e-5)


def test_noise_makes_halves_differ(sample):
    split = split_of(sample, 1, LexicalSettings())
    expected = split.expect(random_latent(split, noise=0.0, seed=0))
    one, again, other = (
        split_states(split, expected, 2, 5.0, 0.2, np.random.default_rng(seed))[1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.rules, again.rules)
    assert not np.allclose(one.rules, other.rules)
    np.testing.assert_allclose(one.words.sum(axis=1), expected.words.sum(axis=1), rtol=0.25)


def test_flows_keep_all_counts(sample):
    """The shares are random; for every kind of count, and each symbol."""
    split = split_of(sample, 4, LexicalSettings())
    expected = split.expect(random_latent(split, noise=1.0, seed=0))
    rng = np.random.default_rng(0)
    flows = [rng.dirichlet(np.ones(rng.integers(1, 6)), size=m).astype(np.float32) for m in split.n_states]
    new, counts = flow(split, expected, flows)
    for name in ("words", "forms", "symbols", "roots"):
        np.testing.assert_allclose(getattr(counts, name).sum(axis=1), getattr(expected, name).sum(axis=1), rtol=1e-5)
    of_rules = (np.add.reduceat(part.rules, by.starts[:-1]) for part, by in ((counts, new), (expected, split)))
    np.testing.assert_allclose(*of_rules, rtol=1e-4)
    for rule, (a, b, c) in list(enumerate(split.treebank.counts.rules))[:20]:
        tensor = expected.rules[slice(*split.starts[rule : rule + 2])].reshape(split.shapes[rule])
        wanted = np.einsum("ijk,ix,jy,kz->xyz", tensor, flows[a], flows[b], flows[c])
        found = counts.rules[slice(*new.starts[rule : rule + 2])].reshape(new.shapes[rule])
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


# ---------------------------------------------------------------------------------------- the learner


def test_symbols_get_numbers_of_states_of_their_own(sample):
    """From one up to the most there may be, rounded up to a power of two or not."""
    for most in (3, 4):
        n_states = SplitMerge(n_states=most, tokens_per_state=5).fit(sample).n_states
        assert set(n_states) == set(range(1, most + 1))


@pytest.mark.slow
def test_merges_undo_a_share_of_the_splits(sample, monkeypatch):
    """Without merges every frequent symbol has all states, and with all splits undone every one has one."""

    def n_states(share: float):
        monkeypatch.setattr("spacy_lpcfg.learning.split_merge._MERGED", share)
        return SplitMerge(n_states=4, tokens_per_state=5).fit(sample).n_states

    all_split, half, none = map(n_states, (0.0, 0.5, 1.0))
    assert all_split.sum() > half.sum() > none.sum() == len(none)


def test_likelihood_rises_with_rounds(sample):
    found = []
    for most in (1, 2, 4):
        learner = SplitMerge(n_states=most, tokens_per_state=5, smoothing=UNSMOOTHED)
        grammar = learner.fit(sample, on_step=found.append)
        found.append(sum(tree_log_probability(grammar, tree) for tree in sample))
    one, two, four = found[3::4]
    assert one + 100 < two < four - 100
    assert [step.iteration for step in found[:3]] == [0, 1, 2]
