"""Learning of evidence from sparse features: softmax regression, trained with AdaGrad, for tags and then for spans.

Features of spans use predicted tags. The tags of a training tree are predicted by a model that has learned from other
trees (jackknifing), so that they are wrong as often as the tags of a new sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.evidence._features import descend, feature_keys, sum_rows
from spacy_lpcfg.evidence.atoms import FeatureVocabulary, post_atoms, span_atoms
from spacy_lpcfg.evidence.classifier import log_softmax
from spacy_lpcfg.evidence.features import FeatureEvidence, FeatureTable
from spacy_lpcfg.evidence.learning import Labels
from spacy_lpcfg.evidence.templates import END_TABLE, SPAN_TABLE, START_TABLE, WORD_TABLE
from spacy_lpcfg.parsing.evidence import span_bounds
from spacy_lpcfg.trees.tree import Tree

_RATE = 0.2  # the first one of AdaGrad, which falls linearly to 0
_START = 1.0  # the first sum of squared gradients of AdaGrad
_N_FOLDS = 4  # parts of the trees whose tags are predicted by learning from the others
_LEAST_WORDS = 3  # words that are rarer are represented by their signature
MOST_WEIGHTS = 1 << 27
"""Maximum number of weights of a feature table (512 MiB during learning); rarer features are left out."""


@dataclass(frozen=True, kw_only=True)
class FeatureSettings:
    """Settings of the learner of sparse features.

    n_epochs, n_tag_epochs (int): Number of training epochs for spans and for tags.
    least_count (int): Features of gold brackets, and of fence posts (positions between words), that occur fewer times
        in the training trees are left out.
    least_tag_count (int): Features for the tags of words that occur fewer times are left out.
    least_chains (int): Unary chains of several labels that occur fewer times are replaced by their first label.
    RAISES (ValueError): If a setting is not a whole number from 1 on.
    """

    n_epochs: int = 3
    n_tag_epochs: int = 4
    least_count: int = 4
    least_tag_count: int = 2
    least_chains: int = 20

    def __post_init__(self) -> None:
        COUNT(n_epochs=self.n_epochs, n_tag_epochs=self.n_tag_epochs)
        COUNT(least_count=self.least_count, least_tag_count=self.least_tag_count)
        COUNT(least_chains=self.least_chains)


class Lesson(NamedTuple):
    """A training sentence of n words: atoms (hashed properties, which features consist of) and gold classes.

    atoms (int32, (n, n_atoms)): The atoms of each word in its context, from `FeatureVocabulary.word_atoms`.
    names (int32, (n,)): The atom of each word alone, from `FeatureVocabulary.word_atoms`.
    tags (int64, (n,)): The index of each word's gold tag, from `Labels.tags_of`.
    spans (int64, (n (n + 1) / 2,)): The gold class of each span, from `Labels.spans_of`.
    """

    atoms: np.ndarray
    names: np.ndarray
    tags: np.ndarray
    spans: np.ndarray


def learn_features(trees: Iterable[Tree], *, settings: FeatureSettings, seed: int = 0) -> FeatureEvidence:
    """Train log-linear models of tags and of spans on trees, by minimizing cross-entropy.

    trees (iterable of Tree): Normalized trees.
    settings (FeatureSettings): Numbers of epochs, and frequencies below which features are left out.
    seed (int): Seed of the order of trees.
    RETURNS (FeatureEvidence): The models, with weights rounded to 8 bits.
    RAISES (ValueError): If there is no tree with a constituent.
    """
    treebank = list(trees)
    labels = Labels.of(treebank, settings.least_chains)
    lexicon = _lexicon(treebank, labels)
    lessons = [
        Lesson(*lexicon.word_atoms(tree.words), labels.tags_of(tree), labels.spans_of(tree)) for tree in treebank
    ]
    learner = _Learner(settings, len(labels.chains), len(labels.tags), np.random.default_rng(seed))
    of_words = learner.word_table(lessons)
    of_spans = learner.span_table(lessons, learner.predicted_tags(lessons))
    return FeatureEvidence(tuple(labels.chains), tuple(labels.tags), lexicon, of_words.rounded(), of_spans.rounded())


def _lexicon(treebank: Sequence[Tree], labels: Labels) -> FeatureVocabulary:
    tags: dict[str, Counter[str]] = {}
    for tree in treebank:
        for word, tag in zip(tree.words, tree.tags, strict=True):
            tags.setdefault(word, Counter())[tag] += 1
    words = sorted(word for word, counts in tags.items() if sum(counts.values()) >= _LEAST_WORDS)
    likely = [labels.tags[max(sorted(tags[word]), key=tags[word].__getitem__)] for word in words]
    return FeatureVocabulary(tuple(words), np.array(likely, np.int32))


@dataclass(frozen=True, eq=False)
class _Learner:
    settings: FeatureSettings
    n_chains: int
    n_tags: int
    rng: np.random.Generator

    def word_table(self, lessons: Sequence[Lesson]) -> FeatureTable:
        """Learn the weights of the features of words, over several epochs of AdaGrad."""
        keys = [feature_keys(lesson.atoms, WORD_TABLE) for lesson in lessons]
        frequent = _frequent(keys, self.settings.least_tag_count, self.n_tags)
        learned = Descent.of(frequent, self.n_tags, _START)
        rows = [learned.table.rows(each) for each in keys]
        for rate, i in self._steps(len(lessons), self.settings.n_tag_epochs):
            learned.word_step(rows[i], lessons[i].tags, rate)
        return learned.table

    def predicted_tags(self, lessons: Sequence[Lesson]) -> list[np.ndarray]:
        """Predict the tags of each sentence with a model trained on the other folds; return gold tags for fewer than 4.

        RETURNS (list of int64 (n,)): The index of each word's tag, for each sentence.
        """
        if len(lessons) < _N_FOLDS:
            return [lesson.tags for lesson in lessons]
        folds = np.arange(len(lessons)) * _N_FOLDS // len(lessons)
        tags = []
        for fold in range(_N_FOLDS):
            table = self.word_table([lessons[i] for i in np.flatnonzero(folds != fold).tolist()])
            for i in np.flatnonzero(folds == fold).tolist():
                tags.append(table.scores(feature_keys(lessons[i].atoms, WORD_TABLE)).argmax(1))
        return tags

    def span_table(self, lessons: Sequence[Lesson], tags: Sequence[np.ndarray]) -> FeatureTable:
        """Learn the weights of the features of spans, given the tags of each sentence."""
        keys = np.concatenate([_bracket_keys(*each) for each in zip(lessons, tags, strict=True)])
        frequent = _frequent([keys], self.settings.least_count, self.n_chains)
        learned = Descent.of(frequent, self.n_chains, _START)
        for rate, i in self._steps(len(lessons), self.settings.n_epochs):
            learned.span_step(lessons[i], tags[i], rate)
        return learned.table

    def _steps(self, n: int, n_epochs: int) -> Iterator[tuple[float, int]]:
        """Yield the learning rate and the index of the sentence of each step, in random order."""
        order = [i for _ in range(n_epochs) for i in self.rng.permutation(n).tolist()]
        for step, i in enumerate(order):
            yield _RATE * (1 - step / len(order)), i


def _frequent(keys: Iterable[np.ndarray], least_count: int, n_classes: int) -> np.ndarray:
    """Return the keys that occur at least `least_count` times, ascending.

    If their weights would exceed `MOST_WEIGHTS`, only the most frequent keys are returned.
    """
    distinct, counts = np.unique(np.concatenate([each.ravel() for each in keys]), return_counts=True)
    is_frequent = (counts >= least_count) & (distinct >= 0)
    distinct, counts = distinct[is_frequent], counts[is_frequent]
    commonest = np.argsort(-counts, kind="stable")[: MOST_WEIGHTS // n_classes]
    return distinct[np.sort(commonest)]


def _bracket_keys(lesson: Lesson, tags: np.ndarray) -> np.ndarray:
    """Return the keys of the features of all fence posts and of the gold brackets of a sentence, int32 (n_keys,)."""
    posts = post_atoms(lesson.names, tags)
    starts, ends = (bounds[lesson.spans > 0] for bounds in span_bounds(len(tags)))
    across = feature_keys(span_atoms(posts, starts, ends, tags), SPAN_TABLE)
    return np.concatenate([feature_keys(posts, START_TABLE), feature_keys(posts, END_TABLE), across], axis=None)


class Descent(NamedTuple):
    """The state of AdaGrad: weights, which are updated in place, and sums of squared gradients.

    table (FeatureTable): The features with float32 weights.
    squares (float32, (n_features, n_classes)): Sum of the squared gradients of each weight, plus the initial value.
    """

    table: FeatureTable
    squares: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, n_classes: int, start: float) -> Descent:
        """Start AdaGrad with weights of 0.

        keys (int32, (n_features,)): The keys of the features, ascending.
        n_classes (int): Number of classes.
        start (float): Initial value of the sums of squared gradients.
        """
        weights = np.zeros((len(keys), n_classes), np.float32)
        return cls(FeatureTable(keys, weights), np.full_like(weights, start))

    def word_step(self, rows: np.ndarray, tags: np.ndarray, rate: float) -> None:
        """Take a gradient step on the cross-entropy of the tags of a sentence.

        rows (int32, (n, n_templates)): The rows of the features of each word, from `FeatureTable.rows`.
        tags (int64, (n,)): The index of each word's gold tag.
        rate (float): The learning rate.
        """
        gradients = np.exp(log_softmax(sum_rows(rows, self.table.weights)))
        gradients[np.arange(len(tags)), tags] -= 1
        self._descend(rows, gradients, rate)

    def span_step(self, lesson: Lesson, tags: np.ndarray, rate: float) -> None:
        """Take a gradient step on the cross-entropy of the classes of all spans of a sentence.

        The gradient of a feature of a fence post is the sum over all spans that begin, or end, there.

        lesson (Lesson): The sentence with the gold classes of its spans.
        tags (int64, (n,)): The index of each word's predicted tag.
        rate (float): The learning rate.
        """
        posts = post_atoms(lesson.names, tags)
        starts, ends = span_bounds(len(tags))
        at_start = self.table.rows(feature_keys(posts[:-1], START_TABLE))
        at_end = self.table.rows(feature_keys(posts[1:], END_TABLE))
        across = self.table.rows(feature_keys(span_atoms(posts, starts, ends, tags), SPAN_TABLE))
        scores = sum_rows(across, self.table.weights)
        scores += sum_rows(at_start, self.table.weights)[starts]
        scores += sum_rows(at_end, self.table.weights)[ends - 1]
        gradients = _span_gradients(scores, lesson.spans)
        by_end = np.argsort(ends, kind="stable")
        self._descend(across, gradients, rate)
        self._descend(at_start, _group_sums(gradients, starts), rate)
        self._descend(at_end, _group_sums(gradients[by_end], ends[by_end]), rate)

    def _descend(self, rows: np.ndarray, gradients: np.ndarray, rate: float) -> None:
        descend(rows, gradients, self.table.weights, self.squares, rate, _LEAST)


def _span_gradients(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the gradient of the spans' cross-entropy with respect to their scores, (n_spans, n_chains).

    scores (float32, (n_spans, n_chains)): The scores of the chains; "no bracket" has the score 0.
    classes (int64, (n_spans,)): The gold classes: 0 for no bracket, i + 1 for chain i.
    """
    most = np.maximum(scores.max(1, keepdims=True), 0)
    p = np.exp(scores - most)
    p /= p.sum(1, keepdims=True) + np.exp(-most)
    brackets = np.flatnonzero(classes)
    p[brackets, classes[brackets] - 1] -= 1
    return p


def _group_sums(rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the sums of consecutive rows of the same group."""
    return np.add.reduceat(rows, np.flatnonzero(np.diff(groups, prepend=-1)), 0)


_LEAST = 1e-3  # gradients of which no step is taken
