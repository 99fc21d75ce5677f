"""Learning a span layer from sentences that a grammar has read which did not learn from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import COUNT, POSITIVE, at_least
from spacy_lpcfg.evaluation.calibration import fit_temperature
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.stacking._spans import SpanDescent
from spacy_lpcfg.stacking.candidates import Candidates
from spacy_lpcfg.stacking.layer import UNCHANGED, SpanLayer
from spacy_lpcfg.stacking.marginals import bracket_probabilities


@dataclass(frozen=True)
class LayerSettings:
    """How a span layer is learned: by AdaGrad, with averaged weights.

    n_epochs (int): passes over all sentences, in an order that is drawn anew.
    rate (float): of AdaGrad; start (float): of its sums of squared gradients.
    penalty (float): of half the squared weight of each feature, once an epoch.
    min_count (int): features of fewer candidates are left out.
    min_words (int): words that are seen fewer times are features by their signature only.
    RAISES (ValueError): If a setting is out of range.
    """

    n_epochs: int = 5
    rate: float = 0.1
    start: float = 1.0
    penalty: float = 6.0
    min_count: int = 5
    min_words: int = 3

    def __post_init__(self) -> None:
        COUNT(n_epochs=self.n_epochs, min_count=self.min_count, min_words=self.min_words)
        POSITIVE(rate=self.rate, start=self.start)
        at_least(0)(penalty=self.penalty)


SHARES = np.array([0.2, 0.4, 0.4])
"""Of a learned layer, see `SpanLayer`: the grammar's own keeps trees right as a whole."""


class ReadSentence(NamedTuple):
    """A sentence that a grammar has read which did not learn from it.

    words (list of str): of the sentence.
    posteriors (Posteriors): what the grammar thinks of it.
    is_gold (uint8, (n_brackets,)): whether the tree of the treebank has each bracket of the posteriors.
    """

    words: list[str]
    posteriors: Posteriors
    is_gold: np.ndarray


def fit_layer(sentences: Sequence[ReadSentence], settings: LayerSettings) -> SpanLayer:
    """The layer that is learned from sentences; without any it leaves posteriors as they are."""
    counts = Counter(word for sentence in sentences for word in sentence.words)
    words = tuple(sorted(word for word, count in counts.items() if count >= settings.min_words))
    reader = SpanLayer(words, *_nothing())
    lessons = [reader.candidates(sentence.words, sentence.posteriors) for sentence in sentences]
    keys, n_seen = _frequent(lessons, settings.min_count)
    descent = SpanDescent(keys, settings.penalty / n_seen, UNCHANGED, settings.rate, settings.start)
    random = np.random.default_rng(0)
    for lesson in lessons:
        descent.places(lesson.keys)
    for _ in range(settings.n_epochs):
        for i in random.permutation(len(lessons)).tolist():
            _learn(descent, lessons[i], sentences[i].is_gold)
    weights, dense = descent.averages()
    return SpanLayer(words, keys, weights.astype(np.float16), dense, SHARES.copy())


def _learn(descent: SpanDescent, lesson: Candidates, is_gold: np.ndarray) -> None:
    """A step for -ln P of what is gold: of each bracket by itself, and of the set of those that are.

    The gradient of both by a score is the probability, less 1 for a gold bracket. The keys of the lesson are places.
    """
    scores = descent.scores(lesson.keys, lesson.dense)
    gradients = bracket_probabilities(lesson.bounds, scores) - is_gold[:, None]
    descent.step(lesson.keys, lesson.dense, gradients)


def _nothing() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Keys, weights, dense weights and shares of the layer without features."""
    blank = SpanLayer.blank()
    return blank.keys, blank.weights, blank.dense, blank.shares


def _frequent(lessons: Sequence[Candidates], min_count: int) -> tuple[np.ndarray, np.ndarray]:
    """The keys of at least so many candidates, int32 growing, and of how many, int64."""
    keys, counts = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    for some in _batches(lessons):
        flat = np.concatenate([lesson.keys.ravel() for lesson in some])
        more, n_more = np.unique(flat[flat >= 0], return_counts=True)
        keys, places = np.unique(np.concatenate([keys, more]), return_inverse=True)
        counts = np.bincount(places, weights=np.concatenate([counts, n_more]), minlength=len(keys)).astype(np.int64)
    kept = counts >= min_count
    return keys[kept], counts[kept]


def _batches(lessons: Iterable[Candidates]) -> Iterator[list[Candidates]]:
    rest = iter(lessons)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


_AT_ONCE = 1000  # sentences whose features are counted together


# Calibration -------------------------------------------------------------------------------------


def layer_temperature(sentences: Sequence[ReadSentence], settings: LayerSettings, *, bracket_cost: float) -> float:
    """The temperature of what a layer says of sentences that it did not learn from; 1 if there are none.

    A layer of its own is learned from four fifths of the sentences, for the trees of the others.
    """
    tested = sentences[::_FIFTH]
    layer = fit_layer([sentence for i, sentence in enumerate(sentences) if i % _FIFTH], settings)
    scores, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    for words, posteriors, is_gold in tested:
        found = layer.rescore(words, posteriors).brackets
        if not any(end - start == len(words) for start, end, _ in found):
            continue
        gold = dict(zip(found, is_gold.tolist(), strict=True))
        tree = mbr_brackets(found, len(words), cost=bracket_cost)
        scores.append(np.array([found[span] for span in tree]))
        right.append(np.array([gold[span] for span in tree], dtype=bool))
    p = np.concatenate(scores)
    return fit_temperature(p, np.concatenate(right)) if len(p) else 1.0


_FIFTH = 5
