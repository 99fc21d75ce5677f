"""The span classifier that a component trains on the vectors of the pipeline's tokens: `spacy-lpcfg.SpanClassifier.v1`.

A span classifier predicts, from word vectors, the labels over each span of words and the tag of each word.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

from spacy_lpcfg.checks import COUNT
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.evidence.classifier import N_CASES, SHAPES, SpanClassifier
from spacy_lpcfg.evidence.pipeline import PipelineEvidence, SentenceVectors
from spacy_lpcfg.models.kinds import model_from_bytes
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.storage.container import pack, refuse_others, unpack

_KIND, _VERSION = "grammar with a trained span classifier", 1
_PARTS = ("model", "weights")


class ClassifierHolder(ModelHolder[ParsingModel]):
    """A thinc Model: a span classifier on top of a tok2vec, trained together; it also holds the grammar of the parser.

    A span classifier predicts, from word vectors, the labels over each span of words and the tag of each word.
    Registered as `spacy-lpcfg.SpanClassifier.v1`, for the setting `model` of `lpcfg_parser`.

    tok2vec (Model[list[Doc], list[Floats2d]]): The layer that computes the vectors: a listener to a component before
        the parser, such as `spacy.Tok2VecListener.v1`, or a separate tok2vec.
    hidden (int): Number of hidden units of each of the two hidden layers, one for spans and one for tags.
    RAISES (ValueError): If `hidden` is not a positive whole number.
    """

    def __init__(self, tok2vec: Model, hidden: int = 250) -> None:
        COUNT(hidden=hidden)
        super().__init__("span_classifier", model_from_bytes, layers=[tok2vec], params=dict.fromkeys(SHAPES))
        self.hidden = hidden

    @property
    def tok2vec(self) -> Model:
        """The tok2vec layer, which computes the vectors of tokens."""
        return self.layers[0]

    @property
    def classifier(self) -> SpanClassifier | None:
        """The classifier with the current weights; None before training."""
        evidence = getattr(self.learned, "evidence", None)
        if not isinstance(evidence, PipelineEvidence):
            return None
        weights: dict[str, Any] = {name: self.get_param(name) for name in SHAPES}
        return SpanClassifier(evidence.chains, evidence.tags, weights)

    def evidence_of(self, docs: Sequence[Doc]) -> list[Any]:
        """Return, for each Doc, a callable that computes the classifier's evidence for words of the Doc.

        docs (sequence of Doc): Docs that the components before the parser have processed.
        RETURNS (list): For each Doc a callable `(positions, words) -> SentenceVectors`, which takes the token indices
            of the words of a sentence and the words in treebank spelling. None for a Doc without tokens; None for all
            Docs before training.
        RAISES (ValueError): If a Doc has no vectors, or vectors of another width than in training.
        """
        classifier, filled = self.classifier, [doc for doc in docs if len(doc)]
        if classifier is None or not filled:
            return [None] * len(docs)
        rows = self.tok2vec.predict(filled)
        vectors = iter([_checked(*pair, classifier.width) for pair in zip(filled, rows, strict=True)])
        return [partial(_sentence, classifier, next(vectors)) if len(doc) else None for doc in docs]

    # Storage

    def to_bytes(self) -> bytes:
        return pack(_KIND, _VERSION, {"model": super().to_bytes(), "weights": Model.to_bytes(self)})

    def from_bytes(self, bytes_data: bytes) -> Model:
        values = unpack(_KIND, _VERSION, bytes_data)
        refuse_others(values, _PARTS)
        held, weights = self.held, Model.to_bytes(self)
        try:
            super().from_bytes(values["model"])
            Model.from_bytes(self, values["weights"])
            self._check_shapes()
        except Exception:
            self.held = held
            Model.from_bytes(self, weights)
            raise
        return self

    def _check_shapes(self) -> None:
        """Raise ModelError if shapes of weights do not fit the numbers of labels and tags, the tok2vec and `hidden`."""
        classifier = self.classifier
        if classifier is None:
            return
        sizes = {"n_cases": N_CASES, "n_chains": len(classifier.chains), "n_tags": len(classifier.tags)}
        sizes |= {"width": self.tok2vec.get_dim("nO"), "hidden": self.hidden}
        for name, shape in SHAPES.items():
            expected = tuple(sizes[size] for size in shape)
            if np.shape(classifier.weights[name]) != expected:
                raise ModelError(
                    f"Expected weights {name} of the shape {expected}, got {np.shape(classifier.weights[name])}: load "
                    "the pipeline with the config that it was trained with, or copy it again."
                )


def _sentence(
    classifier: SpanClassifier, rows: np.ndarray, positions: Sequence[int], words: Sequence[str]
) -> SentenceVectors:
    """Return the word vectors of a sentence as evidence: the rows of its Doc's vectors at the words' positions."""
    return SentenceVectors(classifier, rows[list(positions)], words)


def _checked(doc: Doc, rows: Any, width: int) -> np.ndarray:
    """Return the vectors of a Doc, float32 (n_tokens, width).

    RAISES (ValueError): If the shape differs, or all are zero, which means that the listener's component did not run.
    """
    vectors = np.asarray(to_numpy(rows), np.float32)
    if vectors.shape != (len(doc), width) or not vectors.any():
        got = "zeros" if vectors.shape == (len(doc), width) else f"an array of shape {vectors.shape}"
        raise ValueError(
            f"Expected a vector of {width} numbers for each of {len(doc)} tokens, got {got}: put the component that "
            "the parser listens to before it in the pipeline, and let it run, or set evidence = false."
        )
    return vectors
