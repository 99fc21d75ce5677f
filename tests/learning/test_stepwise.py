"""Stepwise EM against EM over all trees."""

import numpy as np
import pytest
from oracles.latent import split_of

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.learning import EM, LexicalSettings, Pivot, SplitMerge, StateSmoothing, StepwiseEM
from spacy_lpcfg.learning.em import EMFit, random_start
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED
from spacy_lpcfg.learning.limits import MOST_WORDS
from spacy_lpcfg.trees import Tree, parse_trees


@pytest.fixture
def fit(sample) -> EMFit:
    split = split_of(sample, 3, LexicalSettings())
    return EMFit(split, random_start(split, 1.0, 0), StateSmoothing(), start_smoothing=UNSMOOTHED)


def shuffled(trees: list[Tree], seed: int) -> list[Tree]:
    return [trees[i] for i in np.random.default_rng(seed).permutation(len(trees))]


@pytest.mark.parametrize("start", [EM, Pivot])
def test_batches_of_all_trees_are_iterations_of_em(sample, start):
    trees, history = sample[:40], []
    wanted = start(n_states=3, n_iterations=3).fit(trees, on_step=history.append)
    online = StepwiseEM(start(n_states=3, n_iterations=1)).online(iter(trees))
    found = [online.step(shuffled(trees, seed)) for seed in range(2)]
    assert found == [step.log_likelihood for step in history[-2:]]
    assert online.grammar().to_bytes() == wanted.to_bytes()


@pytest.mark.parametrize("learner", [Pivot(n_states=3), SplitMerge(n_states=2, n_iterations=0)])
def test_start_is_the_grammar_before_any_batch(sample, learner):
    assert StepwiseEM(learner).fit(sample[:40]).to_bytes() == learner.fit(sample[:40]).to_bytes()


def test_counts_of_batches_add_up(fit, sample):
    """Trees are independent given the parameters."""
    split, latent = fit.split, fit.split.maximize(fit.expected, UNSMOOTHED)
    whole = split.expect(latent)
    parts = [split.expect(latent, trees=np.arange(start, len(sample), 3)) for start in range(3)]
    for name, total in vars(whole).items():
        np.testing.assert_allclose(sum(getattr(part, name) for part in parts), total, rtol=1e-4, atol=1e-5)


def test_counts_of_a_batch_stand_for_all_trees(fit, sample):
    """A share goes to those of the batch, times the number of trees over that of the batch."""
    before, batch = fit.expected, np.arange(0, len(sample), 3)
    of_batch = fit.split.expect(fit.split.maximize(before, UNSMOOTHED), trees=batch)
    fit.step(batch, share=0.25)
    for name in ("rules", "words", "forms", "symbols", "roots"):
        wanted = 0.75 * getattr(before, name) + 0.25 * len(sample) / len(batch) * getattr(of_batch, name)
        np.testing.assert_allclose(getattr(fit.expected, name), wanted, rtol=1e-5, atol=1e-6)


def test_batches_raise_the_likelihood(sample):
    """Epoch after epoch, and beyond that of the treebank PCFG, which is that of the start."""
    online = StepwiseEM(EM(n_states=4, tokens_per_state=5, n_iterations=0)).online(sample)
    epochs = [shuffled(sample, seed) for seed in range(6)]
    totals = [sum(online.step(epoch[at : at + 25]) for at in range(0, 100, 25)) for epoch in epochs]
    assert (np.diff(totals) > 0).all()
    whole = StepwiseEM(EM(n_states=4, tokens_per_state=5, n_iterations=0)).online(sample)
    assert online.step(sample) > totals[-1] > whole.step(sample) + 50


def test_symbols_that_many_batches_lack_keep_their_distributions():
    """Their counts become ever smaller, but not the parameters."""
    cat = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))))"
    wow = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (INTJ (UH wow) (RB so))))"
    trees = [*parse_trees([cat, cat, wow])]
    online = StepwiseEM(EM(n_states=2, n_iterations=1)).online(trees)
    for _ in range(400):
        online.step(trees[:1])
    assert np.isfinite(Parser(online.grammar()).tree_log_probability(trees[2]))
    assert online.step(trees) < 0


def test_trees_count_as_often_as_the_treebank_has_them(sample):
    once, twice = (StepwiseEM(EM(n_states=2, n_iterations=0)).online(sample) for _ in range(2))
    assert once.step(sample[:20]) == twice.step(sample[:20] * 2)
    assert once.grammar().to_bytes() == twice.grammar().to_bytes()


@pytest.mark.parametrize("functions", [False, True])
def test_trees_that_are_left_out_move_no_others(functions):
    """Trees beyond the limits, and of empty elements only; with functions, trees that differ in nothing else."""
    nouns = [f"(NP-{role} (NN {word}))" for role in ("SBJ", "TMP") for word in ("dog", "cat")]
    kept = [*parse_trees(f"(S {noun} (VP (VBZ sleeps)))" for noun in nouns)]
    long, empty = ([*parse_trees([text])] for text in (f"(S {'(NN dog) ' * (MOST_WORDS + 1)})", "(S (-NONE- *))"))
    learner = StepwiseEM(EM(n_states=2, n_iterations=0, functions=functions))
    with_others, alone = learner.online([*long, kept[0], *empty, *kept[1:]]), learner.online(kept)
    for batch in ([kept[2]], [*kept[:2], *long], kept[3:]):
        assert with_others.step([*batch, *empty]) == alone.step([tree for tree in batch if tree not in long])
    assert with_others.grammar().to_bytes() == alone.grammar().to_bytes()
    assert with_others.step(long) == 0


def test_unknown_trees_and_empty_batches_are_refused(sample):
    online = StepwiseEM(EM(n_states=2, n_iterations=0)).online(sample)
    with pytest.raises(ValueError, match="got one of other labels or words: 'Zyzzogeton sleeps'"):
        online.step(parse_trees(["(S (NP (NN Zyzzogeton)) (VP (VBZ sleeps)))"]))
    with pytest.raises(ValueError, match="at least one tree in a batch"):
        online.step([])


@pytest.mark.parametrize("alpha", [0.5, 1.1])
def test_impossible_alpha_is_refused(alpha):
    with pytest.raises(ValueError, match="Expected an alpha above"):
        StepwiseEM(EM(), alpha)
