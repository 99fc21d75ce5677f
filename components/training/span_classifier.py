"""Training of a component's span classifier, which also trains the tok2vec whose vectors it uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example as DocExample
from thinc.api import set_dropout_rate, to_numpy

from spacy_lpcfg.chart.evidence_parser import EvidenceWeights
from spacy_lpcfg.components.classifier_holder import ClassifierHolder
from spacy_lpcfg.components.doc.read import rooted_trees
from spacy_lpcfg.components.doc.sentences import sentence_bounds, words_of
from spacy_lpcfg.evidence.gradients import Example, Weights, add_gradients, vector_gradients
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.evidence.learning import ClassifierSettings, Labels, first_weights
from spacy_lpcfg.evidence.pipeline import PipelineEvidence
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.base import keeps_functions
from spacy_lpcfg.learning.limits import is_learnable
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root
from spacy_lpcfg.trees.tree import Tree

_POWERS = 0.3, 0.5  # of evidence that is learned from the treebank alone; a pretrained tok2vec loses little by them
_SAMPLE = 10  # Docs that a tok2vec of its own is initialized by
_NO_VECTORS = np.empty((0, 0))


class ClassifierTraining(NamedTuple):
    """Training of a component's span classifier on spaCy Examples.

    model (ClassifierHolder): The model of the component: tok2vec, classifier weights and grammar.
    learner (Learner): The setting `learner` of the component.
    key (str): Key of the gold trees in `Doc.spans` of the reference Docs.
    """

    model: ClassifierHolder
    learner: Any
    key: str

    @property
    def grammar_learner(self) -> Any:
        """The learner of the grammar alone, without evidence."""
        return self.learner.learner if isinstance(self.learner, EvidenceLearner) else self.learner

    def begin(self, examples: Sequence[DocExample]) -> None:
        """Initialize the classifier with random weights; keep an existing one if the Examples have no gold trees.

        examples (sequence of Example): The training corpus.
        RAISES (ValueError): As in `begin_classifier`.
        """
        golds = [gold for of_doc in self._golds(examples) for gold in of_doc]
        if golds or self.model.classifier is None:
            begin_classifier(self.model, golds, [eg.predicted for eg in examples])

    def add_batch(self, examples: Sequence[DocExample], drop: float) -> tuple[float, int]:
        """Add the gradients of a batch to the gradients of the model; do nothing without a classifier or tokens.

        drop (float): The dropout rate, from 0 to 1.
        RETURNS (float, int): The loss, and the number of sentences skipped because of a label or tag that the
            classifier lacks; (0.0, 0) if nothing was done.
        """
        docs = [eg.predicted for eg in examples]
        if self.model.classifier is None or not any(map(len, docs)):
            return 0.0, 0
        return add_batch(self.model, docs, self._golds(examples), drop=drop)

    def _golds(self, examples: Sequence[DocExample]) -> list[list[Gold]]:
        functions = keeps_functions(self.learner)
        return [list(golds_of(eg, self.key, functions=functions)) for eg in examples]


class Gold(NamedTuple):
    """A gold tree, aligned with the tokens of the predicted Doc.

    tree (Tree): The normalized tree, without its artificial root.
    positions (list of int): For each word the index of its token in the predicted Doc.
    """

    tree: Tree
    positions: list[int]


def golds_of(example: DocExample, key: str, *, functions: bool) -> Iterator[Gold]:
    """Yield the gold trees of an Example from which a parser can learn, with each word aligned to a predicted token.

    A word aligned to several tokens gets the last one; a sentence with an unaligned word is left out.

    key (str): Key of the trees in `Doc.spans` of the reference.
    functions (bool): Whether labels keep their function labels, as in NP-SBJ.
    """
    reference = example.reference
    if key not in reference.spans:
        return
    tokens = example.alignment.y2x
    for rooted, (start, end) in zip(rooted_trees(reference, key), sentence_bounds(reference), strict=True):
        tree = rooted and normalize_rooted(rooted, functions=functions)
        of_words = [tokens[i] for i in words_of(reference, start, end)]
        if tree and is_learnable(tree, Counter()) and all(map(len, of_words)):
            yield Gold(strip_root(tree)[1], [int(positions[-1]) for positions in of_words])


def begin_classifier(model: ClassifierHolder, golds: Sequence[Gold], docs: Sequence[Doc]) -> None:
    """Initialize the tok2vec and a random span classifier, and combine the classifier with the model's grammar.

    The random seed is drawn from numpy's global generator, which spaCy seeds.

    model (ClassifierHolder): The model. Its attribute `learned` has a grammar at first, and the grammar with evidence
        of the classifier afterwards.
    golds (sequence of Gold): All training sentences; they determine the labels and tags of the classifier.
    docs (sequence of Doc): Predicted Docs; the first 10 that are not empty initialize the tok2vec.
    RAISES (ValueError): If the model has learned no grammar, or no tree has a constituent.
    """
    grammar = model.learned.without_evidence if model.learned is not None else None
    if not isinstance(grammar, Grammar):
        raise ValueError(
            "Expected a learner of a grammar, to which a span classifier adds evidence, got one that has learned a "
            f"{type(grammar).__name__}: take another learner, or leave out the setting `model`."
        )
    model.tok2vec.initialize(X=[doc for doc in docs if len(doc)][:_SAMPLE])
    labels = Labels.of([gold.tree for gold in golds], ClassifierSettings.least_count)
    examples = [labels.example(gold.tree, _NO_VECTORS) for gold in golds]
    rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002  spaCy sets the seed of numpy's own generator
    weights: dict[str, Any] = first_weights(labels, model.tok2vec.get_dim("nO"), model.hidden, examples, rng)
    for name, weight in weights.items():
        model.set_param(name, weight)
    evidence = PipelineEvidence(tuple(labels.chains), tuple(labels.tags))
    model.learned = EvidenceGrammar(grammar, evidence, EvidenceWeights(*_POWERS))


def add_batch(
    model: ClassifierHolder, docs: Sequence[Doc], golds: Sequence[Sequence[Gold]], *, drop: float
) -> tuple[float, int]:
    """Add the gradients of the classifier's weights on a batch to the model, and backpropagate into the tok2vec.

    model (ClassifierHolder): The model.
    docs (sequence of Doc): The predicted Docs of the batch.
    golds (sequence of sequence of Gold): The gold trees of each Doc.
    drop (float): The dropout rate of the tok2vec and of the word vectors that the classifier reads, from 0 to 1.
    RETURNS (float, int): The loss of the batch, and the number of sentences skipped because of a label or tag that the
        classifier lacks.
    """
    classifier = model.classifier
    assert classifier is not None
    set_dropout_rate(model.tok2vec, drop)
    outputs, backprop = model.tok2vec.begin_update(docs)
    vectors: list[Any] = [np.asarray(to_numpy(rows), np.float32) for rows in outputs]
    d_vectors = [np.zeros_like(rows) for rows in vectors]
    labels = Labels.of_classes(classifier.chains, classifier.tags)
    examples: list[Example] = []
    places: list[tuple[int, list[int]]] = []
    n_unknown = 0
    for i, gold in ((i, gold) for i, of_doc in enumerate(golds) for gold in of_doc):
        try:
            examples.append(labels.example(gold.tree, vectors[i][gold.positions]))
            places.append((i, gold.positions))
        except KeyError:
            n_unknown += 1
    loss = 0.0
    if examples:
        loss, d_words = _add_gradients(model, dict(classifier.weights), examples, drop)
        ends = np.cumsum([len(positions) for _, positions in places])[:-1]
        for (i, positions), rows in zip(places, np.split(d_words, ends), strict=True):
            np.add.at(d_vectors[i], positions, rows)  # several words may be of one token
    backprop([model.tok2vec.ops.asarray2f(rows) for rows in d_vectors])  # even zeros: others listen as well
    return loss, n_unknown


def _add_gradients(
    model: ClassifierHolder, weights: Weights, examples: Sequence[Example], drop: float
) -> tuple[float, np.ndarray]:
    """Add the gradients of the classifier's weights to the model; return the loss and the gradients of word vectors.

    RETURNS (float, float32 (n_words, width)): The loss, and its gradient with respect to the vector of each word.
    """
    gradients: dict[str, Any] = {name: np.zeros_like(weight) for name, weight in weights.items()}
    shape = sum(len(example.tags) for example in examples), len(weights["before"])
    kept: Any = model.ops.get_dropout_mask(shape, drop)
    loss, d_products = add_gradients(gradients, weights, examples, scale=1.0, kept=kept)
    for name, gradient in gradients.items():
        model.inc_grad(name, gradient)
    return loss, vector_gradients(d_products, weights, kept)
