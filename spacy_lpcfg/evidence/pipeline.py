"""Evidence that a span classifier computes from the word vectors of a spaCy pipeline, which come with each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacy_lpcfg.evidence.classifier import Chain, SpanClassifier
from spacy_lpcfg.parsing.evidence import Evidence
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import refuse_others
from spacy_lpcfg.storage.validation import Consistency, are_texts
from spacy_lpcfg.trees.transforms import join_chain, split_chain

_require = Consistency("evidence of a pipeline", ModelError).require


@dataclass(frozen=True, eq=False)
class PipelineEvidence:
    """Evidence model that computes nothing: a component of the pipeline adds the evidence to each query.

    It stores only the labels of the evidence; the component trains the span classifier.

    chains (tuple[tuple[str, ...], ...]): The unary chains of the columns of `Evidence.spans`.
    tags (tuple[str, ...]): The tags of the columns of `Evidence.tags`.
    """

    chains: tuple[Chain, ...]
    tags: tuple[str, ...]

    kind: ClassVar = "pipeline"
    summary: ClassVar = "the pipeline's vectors"
    n_bytes: ClassVar = 0

    def evidence(self, sentences: Sequence[Sequence[str]]) -> list[Evidence]:
        """Raise ModelError for any sentence, since its evidence has to come with the query; return [] for no sentences.

        RAISES (ModelError): If there are sentences.
        """
        if sentences:
            raise ModelError(
                "Expected evidence with the query, since the model has learned from vectors that its pipeline makes; "
                "got words alone: parse texts or Docs by the pipeline, or set evidence = false."
            )
        return []

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name."""
        return {"chains": tuple(map(join_chain, self.chains)), "tags": self.tags}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> PipelineEvidence:
        """Create the evidence from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        refuse_others(values, ("chains", "tags"))
        for name in ("chains", "tags"):
            _require(name, are_texts(values[name]) and bool(values[name]))
        return cls(tuple(tuple(split_chain(chain)) for chain in values["chains"]), values["tags"])


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """The word vectors of a sentence, from which a classifier computes the evidence; an `EvidenceSource`.

    classifier (SpanClassifier): The classifier.
    vectors (float32, (n_words, width)): The word vectors.
    words (sequence of str): The words in treebank spelling.
    """

    classifier: SpanClassifier
    vectors: np.ndarray
    words: Sequence[str]

    def computed(self) -> Evidence:
        """Compute the evidence from the vectors."""
        return self.classifier.evidence_of(self.vectors, self.words)

    def part(self, start: int, end: int) -> SentenceVectors:
        """Return the vectors of the words [start, end)."""
        return SentenceVectors(self.classifier, self.vectors[start:end], self.words[start:end])
