"""A neural classifier of spans and tags from word vectors (Kitaev and Klein 2018, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.parsing.evidence import LARGEST_LOG_ODDS, Evidence, span_bounds
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.products import product
from spacy_lpcfg.storage.container import Stored, pack, refuse_others, unpack
from spacy_lpcfg.storage.reader import check_room
from spacy_lpcfg.storage.validation import Consistency, are_texts, is_array
from spacy_lpcfg.trees.transforms import join_chain, split_chain, unescape_token

Chain = tuple[str, ...]

SHAPES: dict[str, tuple[str, ...]] = {
    "cases": ("n_cases", "width"),
    "before": ("width", "hidden"),
    "before_bias": ("hidden",),
    "after": ("width", "hidden"),
    "after_bias": ("hidden",),
    "span_gain": ("hidden",),
    "span_shift": ("hidden",),
    "span_bias": ("hidden",),
    "span_outputs": ("hidden", "n_chains"),
    "span_output_bias": ("n_chains",),
    "tag_hidden": ("width", "hidden"),
    "tag_gain": ("hidden",),
    "tag_shift": ("hidden",),
    "tag_bias": ("hidden",),
    "tag_outputs": ("hidden", "n_tags"),
    "tag_output_bias": ("n_tags",),
}
"""The names and shapes of the weights; `SpanClassifier` says what each is."""

N_CASES = 6
EPSILON = 1e-5
"""Added to variances in layer norms."""
_KIND, _VERSION = "span classifier", 1
_CHUNK = 4_096  # spans whose hidden units are in memory at once
_require = Consistency("span classifier", ModelError).require


def case_of(word: str) -> int:
    """Return the class of letter case of a word, from 0 to 5.

    The classes are 0 no letter with case, 1 lower, 2 capitalized, 3 upper, 4 mixed, 5 any word with a digit.
    """
    if any(map(str.isdigit, word)):
        return 5
    if word.lower() == word.upper():
        return 0
    if word == word.lower():
        return 1
    if word[:1].isupper() and word[1:] == word[1:].lower():
        return 2
    return 3 if word == word.upper() else 4


def cases_of(words: Sequence[str]) -> np.ndarray:
    """Return the class of letter case (`case_of`) of each word in treebank spelling, int64 (n_words,)."""
    return np.array([case_of(unescape_token(word)) for word in words], np.int64)


@dataclass(frozen=True, eq=False)
class SpanClassifier(Stored):
    """A feed-forward classifier of the unary chains of spans and of the tags of words, with one hidden layer each.

    The hidden layer of a span [i, j) is ReLU(layer norm(post j - post i + span_bias)). Fence post k is the position
    between words k - 1 and k. Its vector is the sum of two linear maps: `before` applied to the vector of the word on
    its left, and `after` applied to the vector of the word on its right; both are zero beyond the edges of the
    sentence.

    chains (tuple[tuple[str, ...], ...]): The unary chains that spans can have, outermost label first.
    tags (tuple[str, ...]): The tags.
    weights (mapping of str to array): The weights, float16 or float32, of the shapes that `SHAPES` lists. `cases` are
        embeddings of letter case (`case_of`), added to word vectors. `..._bias` is added before layer norm, `..._gain`
        and `..._shift` belong to layer norm. `span_outputs` give log-odds against "no bracket", `tag_outputs` logits.
    """

    chains: tuple[Chain, ...]
    tags: tuple[str, ...]
    weights: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, chains: Sequence[Chain], tags: Sequence[str], weights: Mapping[str, np.ndarray]) -> SpanClassifier:
        """Create a classifier from weights, rounding them to float16."""
        return cls(tuple(chains), tuple(tags), {name: read_only(w.astype(np.float16)) for name, w in weights.items()})

    def evidence_of(self, vectors: np.ndarray, words: Sequence[str]) -> Evidence:
        """Compute the evidence for a sentence.

        vectors (float32, (n_words, width)): The vector of each word.
        words (sequence of str): The words in treebank spelling.
        """
        vectors = vectors + self._floats["cases"][cases_of(words)]
        return Evidence(self._log_odds(fence_posts(*word_units(vectors, self._floats))), self._log_tags(vectors))

    def _log_odds(self, posts: np.ndarray) -> np.ndarray:
        weights = self._floats
        starts, ends = span_bounds(len(posts) - 1)
        log_odds = np.empty((len(starts), len(self.chains)), np.float32)
        for at in range(0, len(starts), _CHUNK):
            part = slice(at, at + _CHUNK)
            hidden = posts[ends[part]]
            hidden -= posts[starts[part]]
            hidden += weights["span_bias"]
            log_odds[part] = product(activations(hidden, weights, "span"), weights["span_outputs"])
        log_odds += weights["span_output_bias"]
        return np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, out=log_odds)

    def _log_tags(self, vectors: np.ndarray) -> np.ndarray:
        weights = self._floats
        hidden = product(vectors, weights["tag_hidden"]) + weights["tag_bias"]
        outputs = product(activations(hidden, weights, "tag"), weights["tag_outputs"])
        return log_softmax(outputs + weights["tag_output_bias"])

    @cached_property
    def _floats(self) -> dict[str, np.ndarray]:
        return {name: read_only(weights.astype(np.float32)) for name, weights in self.weights.items()}

    def to_bytes(self) -> bytes:
        """Serialize the classifier for a file of its own."""
        return pack(_KIND, _VERSION, self.to_values())

    @classmethod
    def from_bytes(cls, data: bytes) -> SpanClassifier:
        """Read the classifier that `to_bytes` returned.

        RAISES (ValueError): If the data are damaged, or not of a span classifier.
        """
        return cls.from_values(unpack(_KIND, _VERSION, data))

    @property
    def width(self) -> int:
        """Number of dimensions of the word vectors that the classifier takes."""
        return int(self.weights["cases"].shape[1])

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name."""
        return {"chains": tuple(map(join_chain, self.chains)), "tags": self.tags, **self.weights}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> SpanClassifier:
        """Create a classifier from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        refuse_others(values, ("chains", "tags", *SHAPES))
        chains, tags, weights = values["chains"], values["tags"], {name: values[name] for name in SHAPES}
        _require("chains", are_texts(chains) and bool(chains))
        _require("tags", are_texts(tags) and bool(tags))
        for name in ("cases", "before"):
            _require(name, isinstance(weights[name], np.ndarray) and weights[name].ndim == len(SHAPES[name]))
        sizes = {"n_cases": N_CASES, "n_chains": len(chains), "n_tags": len(tags)}
        sizes |= {"width": weights["cases"].shape[1], "hidden": weights["before"].shape[1]}
        for name, weight in weights.items():
            _require(name, is_array(weight, "float16", *(sizes[size] for size in SHAPES[name])))
        check_room(2 * sum(weight.nbytes for weight in weights.values()), what="A span classifier by it")
        return cls(tuple(tuple(split_chain(chain)) for chain in chains), tags, weights)


def word_units(vectors: np.ndarray, weights: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return what each word adds to the fence posts (positions between words) beside it, two arrays (n_words, hidden).

    vectors (float32, (n_words, width)): The vectors of the words, with the embeddings of letter case.
    weights (mapping of str to array): The weights of a classifier by name.
    RETURNS (pair of arrays): The first (`before`) is added to the post after each word, the second (`after`) to the
        post before each word.
    """
    before, after = (product(vectors, weights[side]) + weights[f"{side}_bias"] for side in ("before", "after"))
    return before, after


def fence_posts(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the vectors of the fence posts (positions between words) of a sentence of n words, (n + 1, hidden).

    before, after (array, (n, hidden)): The contributions of the words, from `word_units`.
    """
    posts = np.zeros((len(before) + 1, before.shape[1]), before.dtype)
    posts[1:] = before
    posts[:-1] += after
    return posts


def activations(hidden: np.ndarray, weights: Mapping[str, np.ndarray], head: str) -> np.ndarray:
    """Apply layer norm and ReLU to the hidden units (n, hidden) of a head, "span" or "tag", in place; return them."""
    normalize(hidden)
    hidden *= weights[f"{head}_gain"]
    hidden += weights[f"{head}_shift"]
    return np.maximum(hidden, 0, out=hidden)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the log-softmax of each row of logits, (n, n_classes)."""
    logits = logits - logits.max(1, keepdims=True, initial=-np.inf)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def normalize(hidden: np.ndarray) -> np.ndarray:
    """Normalize each row to mean 0 and variance 1, in place; return the scaling factor of each row, (n, 1)."""
    hidden -= hidden.mean(1, keepdims=True)
    factors = 1 / np.sqrt(np.einsum("ij,ij->i", hidden, hidden)[:, None] / hidden.shape[1] + EPSILON)
    hidden *= factors
    return factors
