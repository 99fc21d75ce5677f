"""Gradients of the loss of a span classifier, computed by backpropagation in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.evidence.classifier import fence_posts, normalize, word_units
from spacy_lpcfg.parsing.evidence import span_bounds

Weights: TypeAlias = dict[str, np.ndarray]
TAG_WEIGHT = 0.5
"""The weight of the cross-entropy of tags beside that of spans."""


class Example(NamedTuple):
    """A sentence of n words to learn from: its word vectors, and the correct class of each span and tag of each word.

    vectors (float16 or float32, (n, width)): The word vectors.
    cases (int64, (n,)): The class of letter case of each word, from `case_of`.
    spans (int64, (n (n + 1) / 2,)): The class of each span, in the order of `span_bounds`: 0 for no bracket, i + 1 for
        chain i.
    tags (int64, (n,)): The index of the tag of each word.
    """

    vectors: np.ndarray
    cases: np.ndarray
    spans: np.ndarray
    tags: np.ndarray


def add_gradients(
    gradients: Weights, weights: Weights, examples: Sequence[Example], *, scale: float, kept: np.ndarray
) -> tuple[float, Weights]:
    """Compute the loss of a batch of sentences, and add its gradients to `gradients` in place.

    The loss is the cross-entropy of spans, in nats, plus `TAG_WEIGHT` times the cross-entropy of tags, summed over the
    batch and multiplied by `scale`.

    gradients (dict of str to array): The sums of gradients so far, by the names of the weights.
    weights (dict of str to array): The weights, all of one type.
    examples (sequence of Example): The sentences.
    scale (float): Factor of the loss and of its gradients.
    kept (array, (n_words, width)): Dropout mask: factors of the units of all word vectors.
    RETURNS (float, dict of str to array): The loss, and its gradients with respect to three hidden layers, each
        (n_words, hidden), under the names of the weights that compute them: "before", "after" and "tag_hidden".
    """
    vectors, cases, tags = (
        np.concatenate(part) for part in zip(*((e.vectors, e.cases, e.tags) for e in examples), strict=True)
    )
    inputs = vectors * kept + weights["cases"][cases]
    units = word_units(inputs, weights)
    loss, d_units = _span_gradients(gradients, weights, examples, units, scale)
    hidden = inputs @ weights["tag_hidden"] + weights["tag_bias"]
    tag_loss, d_hidden = _head(gradients, weights, "tag", hidden, tags, scale * TAG_WEIGHT)
    by_case = np.eye(len(weights["cases"]), dtype=inputs.dtype)[:, cases]
    d_products = dict(zip(("before", "after", "tag_hidden"), (*d_units, d_hidden), strict=True))
    for name, d_outputs in d_products.items():
        gradients[name] += inputs.T @ d_outputs
        gradients["cases"] += by_case @ d_outputs @ weights[name].T
    for side, d_side in zip(("before", "after"), d_units, strict=True):
        gradients[f"{side}_bias"] += d_side.sum(0)
    return loss + tag_loss, d_products


def vector_gradients(d_products: Weights, weights: Weights, kept: np.ndarray) -> np.ndarray:
    """Return the gradients of the loss with respect to word vectors, (n_words, width).

    d_products (dict of str to array): The gradients that `add_gradients` returned.
    weights (dict of str to array), kept (array): As given to `add_gradients`.
    """
    d_inputs: np.ndarray = kept * sum(d_outputs @ weights[name].T for name, d_outputs in d_products.items())
    return d_inputs


def _span_gradients(
    gradients: Weights,
    weights: Weights,
    examples: Sequence[Example],
    units: tuple[np.ndarray, np.ndarray],
    scale: float,
) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """Add the gradients of the loss of spans; return the loss and its gradients with respect to `units`."""
    d_before, d_after = (np.empty_like(side) for side in units)
    loss, at = 0.0, 0
    for example in examples:
        n = len(example.tags)
        words = slice(at, at + n)
        differences = _differences(n, units[0].dtype.char)
        hidden = differences @ fence_posts(*(side[words] for side in units)) + weights["span_bias"]
        span_loss, d_hidden = _head(gradients, weights, "span", hidden, example.spans, scale)
        d_posts = differences.T @ d_hidden
        d_before[words], d_after[words] = d_posts[1:], d_posts[:-1]
        loss, at = loss + span_loss, at + n
    return loss, (d_before, d_after)


def _head(
    gradients: Weights, weights: Weights, head: str, hidden: np.ndarray, gold: np.ndarray, scale: float
) -> tuple[float, np.ndarray]:
    """Add the gradients of a classification head; return its loss and the gradients with respect to `hidden`.

    head (str): "span" or "tag".
    hidden (array, (n, hidden)): Hidden units before layer norm; overwritten.
    gold (int64, (n,)): The correct classes.
    """
    factors = normalize(hidden)
    active = hidden * weights[f"{head}_gain"]
    active += weights[f"{head}_shift"]
    np.maximum(active, 0, out=active)
    matrix, bias = f"{head}_outputs", f"{head}_output_bias"
    logits = active @ weights[matrix]
    logits += weights[bias]
    if head == "span":  # the logit of "no bracket" is 0
        logits = np.concatenate([np.zeros_like(logits[:, :1]), logits], axis=1)
    loss, d_logits = _cross_entropy(logits, gold, scale)
    d_logits = np.ascontiguousarray(d_logits[:, 1:]) if head == "span" else d_logits
    gradients[matrix] += active.T @ d_logits
    gradients[bias] += d_logits.sum(0)
    d_active = d_logits @ weights[matrix].T
    d_active *= active > 0
    gradients[f"{head}_gain"] += np.einsum("ij,ij->j", d_active, hidden)
    gradients[f"{head}_shift"] += d_active.sum(0)
    d_active *= weights[f"{head}_gain"]
    # of layer norm: its results have mean 0 and variance 1 whatever its inputs are
    d_active -= d_active.mean(1, keepdims=True)
    d_active -= hidden * (np.einsum("ij,ij->i", d_active, hidden)[:, None] / hidden.shape[1])
    d_active *= factors
    gradients[f"{head}_bias"] += d_active.sum(0)
    return loss, d_active


def _cross_entropy(logits: np.ndarray, gold: np.ndarray, scale: float) -> tuple[float, np.ndarray]:
    """Return the summed cross-entropy of all rows and its gradients with respect to the logits, both times `scale`.

    logits (array, (n, n_classes)): The logits; overwritten.
    gold (int64, (n,)): The correct classes.
    """
    rows = np.arange(len(gold))
    logits -= logits.max(1, keepdims=True)
    of_gold = logits[rows, gold]
    np.exp(logits, out=logits)
    sums = logits.sum(1, keepdims=True)
    loss = float(np.log(sums).sum() - of_gold.sum()) * scale
    logits /= sums
    logits[rows, gold] -= 1
    logits *= scale
    return loss, logits


@lru_cache(maxsize=64)
def _differences(n: int, dtype: str) -> csr_array:
    """Return the sparse matrix (n_spans, n + 1) that maps fence posts to end minus start of each span."""
    starts, ends = span_bounds(n)
    columns = np.stack([starts, ends], axis=1).ravel().astype(np.int32)
    values = np.tile(np.array([-1, 1], dtype), len(starts))
    return csr_array((values, columns, 2 * np.arange(len(starts) + 1, dtype=np.int32)), (len(starts), n + 1))
