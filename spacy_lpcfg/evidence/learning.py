"""Learning of a span classifier from trees, on the vectors of a frozen encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from spacy_lpcfg.checks import BELOW_1, COUNT, at_least
from spacy_lpcfg.evidence.classifier import N_CASES, SHAPES, Chain, SpanClassifier, cases_of
from spacy_lpcfg.evidence.gradients import Example, Weights, add_gradients
from spacy_lpcfg.trees.tree import Tree

_CHUNK = 256  # sentences that are encoded together
_WARM_UP = 0.06  # share of the steps in which the rate rises
_CASE_SCALE = 0.02  # of the first embeddings of cases
_NEW_SCALE = 0.2  # of the first output weights of labels that the classifier to start from lacks
_MOMENTS = 0.9, 0.999
_EPSILON = 1e-8


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings:
    """Settings of the learner of span classifiers.

    n_epochs (int): Minimum number of training epochs.
    least_steps (int): Minimum number of optimizer steps: epochs are added until there are as many. Ignored if training
        starts from a given classifier.
    hidden (int): Number of hidden units for spans, and for tags.
    rate (float): The learning rate of AdamW at its peak, after which it falls linearly to 0.
    decay (float): Weight decay of AdamW, for matrices.
    batch_words (int): Maximum number of words of a batch, unless one sentence has more.
    dropout (float): Dropout rate of the units of the word vectors.
    least_count (int): Unary chains of several labels that occur fewer times are replaced by their first label.
    RAISES (ValueError): If a setting is out of range.
    """

    n_epochs: int = 5
    least_steps: int = 1_000
    hidden: int = 250
    rate: float = 6e-3
    decay: float = 0.01
    batch_words: int = 200
    dropout: float = 0.1
    least_count: int = 5

    def __post_init__(self) -> None:
        COUNT(n_epochs=self.n_epochs, hidden=self.hidden, batch_words=self.batch_words)
        COUNT(least_steps=self.least_steps, least_count=self.least_count)
        at_least(0)(rate=self.rate, decay=self.decay)
        BELOW_1(dropout=self.dropout)


class WordEncoder(Protocol):
    """Interface of an encoder that computes a vector of each word, such as `Encoder`.

    width (int): Number of dimensions of a word vector.
    vectors (method): Takes the words of each sentence in treebank spelling, and returns an array for each sentence,
        float (n_words, width).
    """

    @property
    def width(self) -> int: ...

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]: ...


def learn_classifier(
    encoder: WordEncoder,
    trees: Iterable[Tree],
    *,
    settings: ClassifierSettings,
    seed: int = 0,
    start: SpanClassifier | None = None,
) -> SpanClassifier:
    """Train a span classifier on the vectors of a frozen encoder.

    The loss is the cross-entropy of all spans plus half the cross-entropy of all tags, per word.

    encoder (WordEncoder): The encoder, which is not trained.
    trees (iterable of Tree): Normalized trees.
    settings (ClassifierSettings): Settings of the network and of training.
    seed (int): Seed of the first weights, of the order of trees and of dropout.
    start (SpanClassifier or None): A classifier on vectors of this encoder to start from, such as the one that was
        tuned with it, so that few trees suffice. Its weights are copied, except for chains and tags that the trees
        lack.
    RAISES (ValueError): If there is no tree with a constituent, or if `start` has another number of hidden units or
        another width of word vectors.
    """
    treebank = list(trees)
    return _learn(encoder, treebank, Labels.of(treebank, settings.least_count), settings, seed, start)


def continue_classifier(
    encoder: WordEncoder,
    trees: Iterable[Tree],
    *,
    start: SpanClassifier,
    settings: ClassifierSettings,
    seed: int = 0,
) -> SpanClassifier:
    """Continue the training of a span classifier on further trees.

    The result has all chains and tags of `start`, with the same indices, followed by chains and tags that only the
    trees have.

    encoder (WordEncoder): The encoder, which is not trained.
    trees (iterable of Tree): Normalized trees.
    start (SpanClassifier): The classifier, learned on vectors of the encoder.
    settings (ClassifierSettings): Settings of training. `hidden` and `least_steps` are ignored.
    seed (int): Seed of the order of trees, of dropout and of the weights of new chains and tags.
    RAISES (ValueError): As for `learn_classifier`.
    """
    treebank = list(trees)
    labels = Labels.of(treebank, settings.least_count).after(start)
    settings = replace(settings, hidden=len(start.weights["before_bias"]))
    return _learn(encoder, treebank, labels, settings, seed, start)


def _learn(
    encoder: WordEncoder,
    trees: Sequence[Tree],
    labels: Labels,
    settings: ClassifierSettings,
    seed: int,
    start: SpanClassifier | None,
) -> SpanClassifier:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):  # sums do not depend on the machine's number of threads
        examples = [labels.example(tree, vectors) for tree, vectors in _encoded(encoder, trees)]
        weights = _fit(examples, labels, encoder.width, settings, seed, start)
    return SpanClassifier.of(tuple(labels.chains), tuple(labels.tags), weights)


def interpolated(start: SpanClassifier, other: SpanClassifier, share: float) -> SpanClassifier:
    """Interpolate the weights of two classifiers (Wortsman et al. 2022): `(1 - share) * start + share * other`.

    start (SpanClassifier): A classifier.
    other (SpanClassifier): The result of `continue_classifier` from `start`. Chains and tags that only `other` has keep
        their weights.
    share (float): Weight of `other`, from 0 to 1.
    """
    weights = {}
    for name, weight in other.weights.items():
        mixed = weight.astype(np.float32)
        known = mixed[..., : start.weights[name].shape[-1]]
        known += (1 - share) * (start.weights[name].astype(np.float32) - known)
        weights[name] = mixed
    return SpanClassifier.of(other.chains, other.tags, weights)


def _encoded(encoder: WordEncoder, trees: Sequence[Tree]) -> Iterator[tuple[Tree, np.ndarray]]:
    """Yield the trees with the vectors of their words, rounded to float16 to take half the memory."""
    order = sorted(trees, key=len)  # so that little of a batch is padding
    for at in range(0, len(order), _CHUNK):
        chunk = order[at : at + _CHUNK]
        vectors = encoder.vectors([tree.words for tree in chunk])
        yield from zip(chunk, (each.astype(np.float16) for each in vectors), strict=True)


class Labels(NamedTuple):
    """The classes that a span classifier predicts: unary chains of spans, and tags of words.

    chains (dict of tuple of str to int): Unary chains, outermost label first, with their indices from 0.
    tags (dict of str to int): Tags with their indices from 0.
    """

    chains: dict[Chain, int]
    tags: dict[str, int]

    @classmethod
    def of(cls, trees: Sequence[Tree], least_count: int) -> Labels:
        """Collect the classes of trees, in alphabetical order.

        trees (sequence of Tree): Normalized trees.
        least_count (int): Unary chains of several labels that occur fewer times are not classes; their first label is.
        RAISES (ValueError): If there is no tree with a constituent.
        """
        counts = Counter(chain for tree in trees for chain in _chains(tree).values())
        firsts = {chain[:1] for chain in counts}
        if not firsts:
            raise ValueError("Expected trees with constituents to learn a span classifier from, got none.")
        chains = sorted(firsts | {chain for chain, count in counts.items() if count >= least_count})
        return cls.of_classes(chains, sorted({tag for tree in trees for tag in tree.tags}))

    @classmethod
    def of_classes(cls, chains: Iterable[Chain], tags: Iterable[str]) -> Labels:
        """Create labels that number chains and tags in the order given."""
        return cls({chain: i for i, chain in enumerate(chains)}, {tag: i for i, tag in enumerate(tags)})

    def after(self, start: SpanClassifier) -> Labels:
        """Return the labels of a classifier, with the same indices, followed by further labels of `self`."""
        return Labels.of_classes(dict.fromkeys([*start.chains, *self.chains]), dict.fromkeys([*start.tags, *self.tags]))

    def example(self, tree: Tree, vectors: np.ndarray) -> Example:
        """Return the gold classes of a tree's spans and words, with the vectors of the words.

        tree (Tree): A normalized tree of n words.
        vectors (float, (n, width)): The word vectors.
        RAISES (KeyError): If a tag of the tree, or the first label of one of its chains, is not among the labels.
        """
        return Example(vectors, cases_of(tree.words), self.spans_of(tree), self.tags_of(tree))

    def tags_of(self, tree: Tree) -> np.ndarray:
        """Return the index of each word's tag, int64 (n_words,).

        RAISES (KeyError): If a tag is not among the labels.
        """
        return np.array([self.tags[tag] for tag in tree.tags])

    def spans_of(self, tree: Tree) -> np.ndarray:
        """Return the class of each span of a tree of n words, int64 (n (n + 1) / 2,), in the order of `span_bounds`.

        The class is 0 for no bracket and i + 1 for chain i. A chain that is not among the labels counts as its first
        label.

        RAISES (KeyError): If the first label of a chain is not among the labels either.
        """
        n = len(tree.words)
        spans = np.zeros(n * (n + 1) // 2, np.int64)
        for (start, end), chain in _chains(tree).items():
            number = self.chains.get(chain)
            row = start * n - start * (start - 1) // 2 + end - start - 1
            spans[row] = 1 + (self.chains[chain[:1]] if number is None else number)
        return spans


def _chains(tree: Tree) -> dict[tuple[int, int], Chain]:
    """Return the unary chain of labels, outermost first and without tags, of each span with a bracket."""
    chains: dict[tuple[int, int], Chain] = {}
    for start, end, label in tree.spans():
        chains[start, end] = (*chains.get((start, end), ()), label)
    return chains


def _fit(
    examples: Sequence[Example],
    labels: Labels,
    width: int,
    settings: ClassifierSettings,
    seed: int,
    start: SpanClassifier | None,
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = first_weights(labels, width, settings.hidden, examples, rng)
    if start is not None:
        _start_at(weights, start, labels)
    batches = _all_batches(examples, settings, 1 if start else settings.least_steps, rng)
    optimizer = AdamW(weights, settings.decay)
    warm_up = max(_WARM_UP * len(batches), 1)
    for step, batch in enumerate(batches):
        gradients = {name: np.zeros_like(weight) for name, weight in weights.items()}
        n_words = sum(len(example.tags) for example in batch)
        kept = _kept((n_words, width), settings.dropout, rng)
        add_gradients(gradients, weights, batch, scale=1 / n_words, kept=kept)
        share = min((step + 1) / warm_up, (len(batches) - step) / (len(batches) - warm_up + 1))
        optimizer.step(weights, gradients, settings.rate * share)
    return weights


def _start_at(weights: Weights, start: SpanClassifier, labels: Labels) -> None:
    """Copy the weights of a classifier into `weights`; output weights of new labels are only scaled down.

    RAISES (ValueError): If the sizes of hidden layers or word vectors differ.
    """
    for name, weight in weights.items():
        other = start.weights[name]
        if SHAPES[name][-1] not in ("n_chains", "n_tags"):
            if other.shape != weight.shape:
                raise ValueError(
                    f"Expected a classifier to start from with {name} of the shape {weight.shape}, got {other.shape}: "
                    "take the classifier of this encoder, and the number of hidden units that it has."
                )
            weight[...] = other
            continue
        columns: Mapping[Any, int] = labels.chains if SHAPES[name][-1] == "n_chains" else labels.tags
        if weight.ndim > 1:
            weight *= _NEW_SCALE
        for i, label in enumerate(start.chains if columns is labels.chains else start.tags):
            if label in columns:
                weight[..., columns[label]] = other[..., i]


def _all_batches(
    examples: Sequence[Example], settings: ClassifierSettings, least_steps: int, rng: np.random.Generator
) -> list[list[Example]]:
    batches: list[list[Example]] = []
    n_epochs = 0
    while n_epochs < settings.n_epochs or len(batches) < least_steps:
        batches += _batches(examples, settings.batch_words, rng)
        n_epochs += 1
    return batches


def first_weights(
    labels: Labels, width: int, hidden: int, examples: Sequence[Example], rng: np.random.Generator
) -> Weights:
    """Initialize weights: random matrices of variance 1 / n_inputs, gains of 1, output biases from class frequencies.

    labels (Labels): The classes.
    width, hidden (int): The sizes of word vectors and of hidden layers.
    examples (sequence of Example): Sentences from which the frequencies of classes are counted; vectors are not read.
    rng (Generator): Source of random numbers.
    RETURNS (dict of str to float32 array): The weights by name, of the shapes in `SHAPES`.
    """
    sizes = {"n_cases": N_CASES, "width": width, "hidden": hidden}
    sizes |= {"n_chains": len(labels.chains), "n_tags": len(labels.tags)}
    weights = {}
    for name, shape in SHAPES.items():
        dimensions = tuple(sizes[size] for size in shape)
        if len(dimensions) == 1:
            weights[name] = np.full(dimensions, name.endswith("_gain"), np.float32)
        else:
            scale = _CASE_SCALE if name == "cases" else dimensions[0] ** -0.5
            weights[name] = (rng.standard_normal(dimensions) * scale).astype(np.float32)
    # most spans are no bracket: without this, half of the steps are spent on learning so
    spans = np.bincount(np.concatenate([example.spans for example in examples]), minlength=sizes["n_chains"] + 1)
    tags = np.bincount(np.concatenate([example.tags for example in examples]), minlength=sizes["n_tags"])
    weights["span_output_bias"][:] = np.log(np.maximum(spans[1:], 1) / max(spans[0], 1))
    weights["tag_output_bias"][:] = np.log(np.maximum(tags, 1) / tags.sum())
    return weights


def _batches(examples: Sequence[Example], n_words: int, rng: np.random.Generator) -> Iterator[list[Example]]:
    """Yield examples in random order, in batches of at most `n_words` words; a longer sentence is a batch by itself."""
    batch: list[Example] = []
    n = 0
    for i in rng.permutation(len(examples)):
        size = len(examples[i].tags)
        if batch and n + size > n_words:
            yield batch
            batch, n = [], 0
        batch.append(examples[i])
        n += size
    yield batch


def _kept(shape: tuple[int, int], dropout: float, rng: np.random.Generator) -> np.ndarray:
    """Return a dropout mask, float32: 0 for the share `dropout` of units, and 1 / (1 - dropout) for the others."""
    kept = rng.random(shape, np.float32) >= dropout
    return kept * np.float32(1 / (1 - dropout))


class AdamW:
    """The optimizer AdamW (Loshchilov and Hutter 2019) for float32 weights by name.

    weights (dict of str to array): The weights, of which only the shapes are read here.
    decay (float): Weight decay, for matrices only.
    """

    def __init__(self, weights: Weights, decay: float) -> None:
        self.decay = decay
        self.n_steps = 0
        self.means = {name: np.zeros_like(weight) for name, weight in weights.items()}
        self.squares = {name: np.zeros_like(weight) for name, weight in weights.items()}

    def step(self, weights: Weights, gradients: Weights, rate: float) -> None:
        """Update the weights in place.

        weights, gradients (dict of str to array): The weights, and the gradient of the loss with respect to each of
            them.
        rate (float): The learning rate.
        """
        self.n_steps += 1
        first, second = _MOMENTS
        correction = (1 - second**self.n_steps) ** 0.5 / (1 - first**self.n_steps)
        for name, weight in weights.items():
            mean, square, gradient = self.means[name], self.squares[name], gradients[name]
            mean += (1 - first) * (gradient - mean)
            square += (1 - second) * (gradient * gradient - square)
            if weight.ndim > 1:
                weight *= 1 - rate * self.decay
            weight -= rate * correction * mean / (np.sqrt(square) + _EPSILON)
