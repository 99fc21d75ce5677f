"""Learning of a span layer from held-out posteriors of a grammar."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.batches import in_batches
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
    """Settings of learning a span layer: AdaGrad with averaged weights.

    n_epochs (int): Number of passes over all sentences, each in random order.
    rate (float): Learning rate of AdaGrad.
    start (float): Initial sum of squared gradients of AdaGrad.
    penalty (float): Factor of the L2 penalty (half the sum of the squared weights), applied once an epoch in total.
    min_count (int): Features of fewer candidates are dropped.
    min_words (int): Words that occur less often than this are represented by their signature.
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
"""`SpanLayer.shares` of a learned layer; the share of the grammar's posteriors keeps trees consistent."""


class ReadSentence(NamedTuple):
    """A training sentence with the posteriors of a grammar that did not learn from it.

    words (list of str): The words.
    posteriors (Posteriors): The grammar's posteriors.
    is_gold (uint8, (n_brackets,)): Whether each bracket of the posteriors is in the gold tree.
    """

    words: list[str]
    posteriors: Posteriors
    is_gold: np.ndarray


def fit_layer(sentences: Sequence[ReadSentence], settings: LayerSettings) -> SpanLayer:
    """Learn a layer from sentences; without any it leaves posteriors unchanged."""
    counts = Counter(word for sentence in sentences for word in sentence.words)
    words = tuple(sorted(word for word, count in counts.items() if count >= settings.min_words))
    reader = replace(SpanLayer.blank(), words=words)
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
    """Take a gradient step on the negative log-likelihood: of each bracket alone, and of the set of gold brackets.

    The gradient of both losses by a score is the probability, minus 1 for a gold bracket. The keys of the lesson have
    been replaced by their indices in the table.
    """
    scores = descent.scores(lesson.keys, lesson.dense)
    gradients = bracket_probabilities(lesson.bounds, scores) - is_gold[:, None]
    descent.step(lesson.keys, lesson.dense, gradients)


def _frequent(lessons: Sequence[Candidates], min_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of at least `min_count` candidates, sorted, int32, and their counts, int64."""
    keys, counts = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    for batch in in_batches(lessons, _AT_ONCE):
        flat = np.concatenate([lesson.keys.ravel() for lesson in batch])
        more, n_more = np.unique(flat[flat >= 0], return_counts=True)
        keys, indices = np.unique(np.concatenate([keys, more]), return_inverse=True)
        counts = np.bincount(indices, weights=np.concatenate([counts, n_more]), minlength=len(keys)).astype(np.int64)
    is_frequent = counts >= min_count
    return keys[is_frequent], counts[is_frequent]


_AT_ONCE = 1000  # sentences whose features are counted together


# Calibration -------------------------------------------------------------------------------------


def layer_temperature(sentences: Sequence[ReadSentence], settings: LayerSettings, *, bracket_cost: float) -> float:
    """Fit the temperature of a layer's probabilities on held-out sentences; 1 if no sentence has a whole tree.

    For this, a layer is learned from four fifths of the sentences and applied to the others.
    """
    tested = sentences[::_FIFTH]
    layer = fit_layer([sentence for i, sentence in enumerate(sentences) if i % _FIFTH], settings)
    scores, right = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    for words, posteriors, is_gold in tested:
        rescored = layer.rescore(words, posteriors).brackets
        if not any(end - start == len(words) for start, end, _ in rescored):
            continue
        gold = dict(zip(rescored, is_gold.tolist(), strict=True))
        tree = mbr_brackets(rescored, len(words), cost=bracket_cost)
        scores.append(np.array([rescored[span] for span in tree]))
        right.append(np.array([gold[span] for span in tree], dtype=bool))
    p = np.concatenate(scores)
    return fit_temperature(p, np.concatenate(right)) if len(p) else 1.0


_FIFTH = 5
