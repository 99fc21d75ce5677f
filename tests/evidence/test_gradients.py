"""The gradients of the span classifier, held against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_lpcfg.evidence.classifier import SHAPES
from spacy_lpcfg.evidence.gradients import Example, add_gradients, vector_gradients

SIZES = {"n_cases": 6, "width": 4, "hidden": 5, "n_chains": 3, "n_tags": 2}


def case(*sizes: int) -> tuple[dict[str, np.ndarray], list[Example], np.ndarray]:
    """Random weights, sentences of the given numbers of words, and dropout."""
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal([SIZES[size] for size in shape]) for name, shape in SHAPES.items()}
    examples = [
        Example(
            rng.standard_normal((n, 4)),
            rng.integers(0, 6, n),
            rng.integers(0, 4, n * (n + 1) // 2),
            rng.integers(0, 2, n),
        )
        for n in sizes
    ]
    return weights, examples, rng.integers(0, 3, (sum(sizes), 4)) / 2


def loss(weights: dict[str, np.ndarray], examples: list[Example], kept: np.ndarray) -> float:
    zeros = {name: np.zeros_like(weight) for name, weight in weights.items()}
    return add_gradients(zeros, weights, examples, scale=0.7, kept=kept)[0]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("sizes", [(1,), (3, 1, 2)])
def test_gradients_are_finite_differences(sizes, name):
    weights, examples, kept = case(*sizes)
    gradients = {each: np.zeros_like(weight) for each, weight in weights.items()}
    add_gradients(gradients, weights, examples, scale=0.7, kept=kept)
    for index in np.ndindex(weights[name].shape):
        losses = []
        for step in (1e-5, -1e-5):
            changed = weights[name].copy()
            changed[index] += step
            losses.append(loss({**weights, name: changed}, examples, kept))
        assert gradients[name][index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-5)


def test_gradients_of_vectors_are_finite_differences():
    weights, examples, kept = case(3, 1)
    zeros = {name: np.zeros_like(weight) for name, weight in weights.items()}
    _, d_products = add_gradients(zeros, weights, examples, scale=0.7, kept=kept)
    gradients = np.split(vector_gradients(d_products, weights, kept), [3])
    for example, gradient in zip(examples, gradients, strict=True):
        for index in np.ndindex(example.vectors.shape):
            losses = []
            for step in (1e-5, -1e-5):
                example.vectors[index] += step
                losses.append(loss(weights, examples, kept))
                example.vectors[index] -= step
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-5)


def test_gradients_loss_is_the_cross_entropy():
    weights, examples, kept = case(2)
    for name in weights:
        if "outputs" in name or "output_bias" in name:
            weights[name] = np.zeros_like(weights[name])
    assert loss(weights, examples, kept) == pytest.approx(0.7 * (3 * np.log(4) + 0.5 * 2 * np.log(2)))
