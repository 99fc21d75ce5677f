"""Hidden Markov models as right-branching trees: the same weights, and learned from sequences."""

import itertools
import runpy
from types import SimpleNamespace

import numpy as np
import pytest
from grammars import forward
from oracles.enumeration import model_of_estimate, weight
from oracles.latent import PLAIN
from paths import ROOT

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.learning import Smoothing, Spectral

EXAMPLE = ROOT / "examples" / "hmm.py"
UNSMOOTHED = Smoothing(c=0.0, nu=1.0, max_lexical=0.0)


@pytest.fixture(scope="module")
def example() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(EXAMPLE)))


def sequences(n_symbols: int, longest: int):
    return itertools.chain.from_iterable(itertools.product(range(n_symbols), repeat=n) for n in range(1, longest + 1))


def test_operators_of_the_example_are_those_of_the_hmm(example):
    start, operators = example.true_operators()
    for sequence in sequences(3, 4):
        symbols = [example.SYMBOLS[x] for x in sequence]
        state = start
        for symbol in symbols[:-1]:
            state = state @ operators[symbol]
        found = (state @ operators[symbols[-1] + example.END]).item()
        hmm = example.START, example.TRANSITION, example.EMISSION, example.STOP
        assert np.log(found) == pytest.approx(forward(*hmm, sequence))


@pytest.fixture(scope="module")
def learned(example):
    return example.learn(list(example.sample(3000, seed=1)))


def test_learned_hmm_predicts_like_the_true_one(example, learned):
    names = learned.symbols
    assert learned.n_states[names.index("S")] == 3
    assert all(learned.n_states[names.index(x)] == 1 for x in example.SYMBOLS)
    true, found = example.true_operators(), example.learned_operators(learned)
    for sequence in sequences(4, 3):
        history = [example.SYMBOLS[x] for x in sequence]
        np.testing.assert_allclose(example.predict(*found, history), example.predict(*true, history), atol=0.06)


def test_learned_hmm_parses_sequences(example, learned):
    parser = Parser(learned)
    for sequence in [*example.sample(20, seed=2), ["a", "b"] * 150]:
        assert parser.parse([*sequence, "."]).tree == example.tree_of(sequence)


@pytest.mark.slow
def test_error_of_sequence_probabilities_falls(example):
    """Weights of all sequences of up to four symbols, in float64 and without lexical smoothing."""
    hmm = example.START, example.TRANSITION, example.EMISSION, example.STOP
    errors = []
    for size in (200, 1800):
        totals = []
        for seed in range(2):
            trees = map(example.tree_of, example.sample(size, seed=seed))
            model = model_of_estimate(Spectral(n_states=3, lexical=PLAIN).estimate(trees), UNSMOOTHED)
            found = {s: weight(model, example.tree_of([example.SYMBOLS[x] for x in s])) for s in sequences(4, 4)}
            totals.append(sum(abs(p - np.exp(forward(*hmm, sequence))) for sequence, p in found.items()))
        errors.append(np.mean(totals))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.05


def test_example_runs(example, capsys):
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    for line in lines[1:]:
        *_, a, b, c, d = numbers = [float(number) for number in line.split()[1:]]
        assert len(numbers) == 8
        assert a + b + c + d == pytest.approx(1.0, abs=0.01)
