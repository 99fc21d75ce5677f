"""Evidence by vectors that other components of a pipeline have made, `doc.tensor`, and a span classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.evidence.classifier import ByClassifier, SpanClassifier
from spacy_lpcfg.parsing.evidence import Evidence
from spacy_lpcfg.parsing.model import ModelError


@dataclass(frozen=True, eq=False)
class TensorEvidence(ByClassifier):
    """A span classifier that was learned on `doc.tensor`; a `VectorEvidenceModel`.

    classifier (SpanClassifier): The classifier.
    component (str): Name of the component that made the vectors, which a pipeline with the model needs as well.
    """

    classifier: SpanClassifier
    component: str

    kind: ClassVar = "tensor"

    @property
    def summary(self) -> str:
        """The component that made the vectors."""
        return f"doc.tensor by {self.component!r}"

    @property
    def n_bytes(self) -> int:
        """Approximate bytes of memory that it takes."""
        return sum(3 * weights.nbytes for weights in self.classifier.weights.values())

    def evidence_of(self, vectors: np.ndarray | None, words: Sequence[str]) -> Evidence:
        """Return the evidence for a sentence by the vectors of its words, (n_words, width).

        RAISES (ModelError): If there are no vectors, or they are of another width.
        """
        if vectors is None:
            raise ModelError(
                f"Expected vectors of the words, since the model has learned from doc.tensor by {self.component!r}, "
                "got words alone: parse Docs with nlp(text) by a pipeline with this component, or set evidence = false."
            )
        if vectors.shape != (len(words), self.classifier.width):
            raise ModelError(
                f"Expected {len(words)} vectors of {self.classifier.width} numbers, as the model has learned from "
                f"{self.component!r}, got an array of shape {vectors.shape}: put this component before the parser, and "
                "no other one that sets doc.tensor between them."
            )
        return self.classifier.evidence_of(vectors, words)

    def to_values(self) -> dict[str, Any]:
        """Return the values under which it is stored: the component, and the classifier's after its name and a dot."""
        values = {f"classifier.{name}": value for name, value in self.classifier.to_values().items()}
        return {"component": self.component, **values}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TensorEvidence:
        """Create the evidence from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        component = values["component"]
        if not isinstance(component, str):
            raise ModelError(f"Expected the name of a component, got {shown(component)}: copy or learn it again.")
        parts = {name.removeprefix("classifier."): part for name, part in values.items() if name != "component"}
        return cls(SpanClassifier.from_values(parts), component)


@dataclass(frozen=True, eq=False)
class KnownVectors:
    """Vectors of the sentences of a treebank, computed before learning; a `WordEncoder`.

    component (str): Name of the component that made them.
    vectors_of (dict): The vectors by the words of the sentence, float16 (n_words, width). A sentence that occurs twice
        has those of its first occurrence.
    """

    component: str
    vectors_of: Mapping[tuple[str, ...], np.ndarray]

    @property
    def width(self) -> int:
        """The size of the vectors."""
        return next(iter(self.vectors_of.values())).shape[1]

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Return the vectors of the words of each sentence."""
        return [self.vectors_of[tuple(words)] for words in sentences]
