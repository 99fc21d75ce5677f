"""Training of the log-linear classifier of words in context (`grammar/classifier.py`) on a treebank, by AdaGrad."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacy_lpcfg.grammar._classifier import adagrad_epoch
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_ids
from spacy_lpcfg.grammar.windows import Windows
from spacy_lpcfg.learning.treebank.skeletons import NONE, Skeletons

_RATE = 0.2  # of AdaGrad, whose squared gradients begin at 1
_DROPOUT = 0.3  # share of a word's features that each pass leaves out
_N_EPOCHS = 6  # passes over the words
_MIN_COUNT = 3  # features that fewer words have are left out altogether
_MIN_WEIGHT = 0.05  # weights of a smaller absolute value are set to 0
# Words are drawn at random from a larger treebank. More would make parses no better, and cost more than their share, as
# the weights of their features outgrow the cache.
_MAX_EXAMPLES = 500_000
_SEED = 0


class Words(NamedTuple):
    """Training examples of the classifier: the n words of a treebank.

    keys (int32, (n, n_templates)): Feature keys of each word, as in `Windows`.
    terminals, symbols (int32, (n,)): The terminal of each word, and the preterminal symbol that emits it.
    boundaries (int8, (n, 2)): Whether a span of two words or more begins with the word, and whether a constituent of
        two words or more ends with it.
    """

    keys: np.ndarray
    terminals: np.ndarray
    symbols: np.ndarray
    boundaries: np.ndarray


def fit_classifier(words: Words, lexicon: Lexicon, n_symbols: int) -> Classifier:
    """Train a classifier: multinomial over the symbols that emit a word, logistic for beginnings and ends of spans.

    words (Words): Training examples; a random sample of `_MAX_EXAMPLES` is used if there are more.
    lexicon (Lexicon): The lexicon, which lists the symbols that may emit each terminal.
    n_symbols (int): Number of preterminals.
    """
    if len(words.keys) > _MAX_EXAMPLES:
        drawn = np.random.default_rng(_SEED).choice(len(words.keys), _MAX_EXAMPLES, replace=False)
        words = Words(*(part[drawn] for part in words))
    keys, features, counts = np.unique(words.keys, return_inverse=True, return_counts=True)
    is_frequent = counts >= _MIN_COUNT
    ids = np.where(is_frequent, np.cumsum(is_frequent) - 1, NONE).astype(np.int32)
    weights = _weights(words, ids[features].reshape(words.keys.shape), lexicon, is_frequent.sum(), n_symbols)
    weights[np.abs(weights) < _MIN_WEIGHT] = 0.0
    return Classifier.of(keys[is_frequent], weights)


def _weights(words: Words, features: np.ndarray, lexicon: Lexicon, n_features: int, n_symbols: int) -> np.ndarray:
    """Train the weights of the features by AdaGrad with feature dropout, float32 (n_features, n_symbols + 2).

    The outputs are the preterminals, then whether a span begins and whether one ends at the word.

    features (int32, (n, n_templates)): Feature ids of each word; `NONE` for features too rare to have weights.
    """
    rng = np.random.default_rng(_SEED)
    weights = np.zeros((n_features, n_symbols + 2), dtype=np.float32)
    squares = np.ones_like(weights)
    for _ in range(_N_EPOCHS):
        order = rng.permutation(len(features))
        shown = features[order]
        shown[rng.random(shown.shape, dtype=np.float32) < _DROPOUT] = NONE
        examples = words.terminals[order], words.symbols[order], words.boundaries[order]
        adagrad_epoch(shown, *examples, lexicon.offsets, lexicon.symbols, weights, squares, _RATE)
    return weights * np.float32(1 - _DROPOUT)


def read_words(nodes: Skeletons, terminal: np.ndarray, lexicon: Lexicon, symbol_weights: np.ndarray) -> Words:
    """Return the training examples of the classifier, one for each word of a treebank.

    nodes (Skeletons): The trees.
    terminal (int32, (n_nodes,)): The terminal of each leaf.
    lexicon (Lexicon): The lexicon of the grammar.
    symbol_weights (float64, (n_symbols,)): Share of each symbol among the nodes of the treebank. With the lexicon it
        gives the most probable tag of each word without context, a feature of the word and of its neighbours.
    """
    tag_of = tag_ids(nodes.preterminals, lexicon.tags)
    tags = lexicon.likely_tags(symbol_weights, tag_of)[terminal[nodes.leaves]]
    forms = [nodes.words[word] for word in nodes.word[nodes.leaves]]
    windows = Windows(lexicon.tags)
    first = np.flatnonzero(nodes.start[nodes.leaves] == 0).tolist()
    keys = [
        windows.keys(forms[start:end], tags[start:end])
        for start, end in zip(first, [*first[1:], len(forms)], strict=True)
    ]
    return Words(np.concatenate(keys), terminal[nodes.leaves], nodes.symbol[nodes.leaves], boundaries(nodes))


def boundaries(nodes: Skeletons) -> np.ndarray:
    """Mark the words at which a span of two words or more begins, or a constituent of two words or more ends.

    Spans are all nodes of the binarised trees, constituents only the nodes that do not come from binarisation.

    RETURNS (int8, (n_leaves, 2)): For each word 1 or 0: whether it begins a span, and whether it ends a constituent.
    """
    is_complete = np.array([not name.startswith("@") for name in nodes.symbols])[nodes.symbol[nodes.inner]]
    happens = np.zeros((len(nodes.leaves), 2), dtype=np.int8)
    happens[(nodes.first_word + nodes.start)[nodes.inner], 0] = True
    happens[(nodes.first_word + nodes.end)[nodes.inner[is_complete]] - 1, 1] = True
    return happens
