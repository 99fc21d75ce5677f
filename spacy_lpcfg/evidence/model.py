"""Evidence from a pretrained encoder and a span classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spacy_lpcfg.evidence.classifier import Chain, SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.parsing.evidence import Evidence
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import with_prefixes, without_prefixes

PARTS = ("encoder", "classifier")


class EncoderEvidence:
    """Evidence from a pretrained encoder and a span classifier; an `EvidenceModel`.

    encoder (Encoder): The encoder, which computes a vector of each word.
    classifier (SpanClassifier): The classifier, which was trained on vectors of the encoder.
    """

    kind: ClassVar = "encoder"

    def __init__(self, encoder: Encoder, classifier: SpanClassifier) -> None:
        self.encoder, self.classifier = encoder, classifier

    @property
    def chains(self) -> tuple[Chain, ...]:
        return self.classifier.chains

    @property
    def tags(self) -> tuple[str, ...]:
        return self.classifier.tags

    @property
    def summary(self) -> str:
        """The name of the encoder, from its card."""
        return str(self.encoder.card.get("name", "an encoder"))

    @property
    def n_bytes(self) -> int:
        """Approximate memory that the evidence takes while parsing, in bytes."""
        return 4 * len(self.encoder.model)

    def evidence(self, sentences: Sequence[Sequence[str]]) -> list[Evidence]:
        """Return the evidence for each sentence.

        sentences (sequence of sequence of str): The words of each sentence in treebank spelling.
        RAISES (ImportError): If onnxruntime is not installed. (ModelError): If the encoder cannot be run, or does not
            fit the classifier.
        """
        if sentences and self.encoder.width != self.classifier.width:
            raise ModelError(
                f"Expected an encoder with vectors of {self.classifier.width} numbers, as the span classifier has "
                f"learned from, got one with {self.encoder.width}: learn the model again with this encoder."
            )
        vectors = self.encoder.vectors(sentences)
        return [self.classifier.evidence_of(*each) for each in zip(vectors, sentences, strict=True)]

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name; names begin with "encoder." or "classifier."."""
        return with_prefixes({"encoder": self.encoder.to_values(), "classifier": self.classifier.to_values()})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> EncoderEvidence:
        """Create the evidence from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        encoder, classifier = without_prefixes(values, PARTS)
        return cls(Encoder.from_values(encoder), SpanClassifier.from_values(classifier))
