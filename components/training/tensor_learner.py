"""Learning from `doc.tensor`: the vectors that earlier components of the pipeline make are those of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import takewhile
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.doc.read import rooted_trees
from spacy_lpcfg.components.doc.sentences import sentence_bounds, words_of
from spacy_lpcfg.components.doc.tensors import word_vectors
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.evidence.tensors import KnownVectors
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.trees.transforms import strip_root
from spacy_lpcfg.trees.tree import Tree

_BATCH = 128  # Docs


@dataclass(frozen=True)
class TensorLearner(EvidenceLearner):
    """Learner of a grammar with evidence by `doc.tensor`, for a component that has a pipeline to make the vectors."""

    def with_vectors(self, known: KnownVectors) -> EvidenceLearner:
        """Return the learner on vectors of the sentences."""
        shared = {each.name: getattr(self, each.name) for each in fields(EvidenceLearner)}
        return EvidenceLearner(**{**shared, "encoder": known})

    def fit(
        self, trees: Iterable[Tree], *, held_out: Iterable[Tree] | None = None, on_step: OnStep | None = None
    ) -> EvidenceGrammar:
        """Raise ValueError: trees alone have no vectors."""
        raise ValueError(
            'With encoder = "doc.tensor" a parser learns as a component of a pipeline, from Examples (spacy train, '
            "nlp.initialize, or `initialize` of the component with nlp=nlp); got trees alone, which have no vectors."
        )


def known_vectors(nlp: Language | None, parser: Any, examples: Iterable[Example]) -> KnownVectors:
    """Return the vectors that the components before a parser make for its gold sentences.

    nlp (Language): The pipeline. Its disabled components run as well, since `spacy train` disables frozen ones.
    parser (LPCFGParser): The parser.
    examples (iterable of Example): Examples with trees; vectors are made for the words of their reference Docs.
    RAISES (ValueError): If there is no pipeline, or no component before the parser sets `doc.tensor` of every Doc.
    """
    if nlp is None:
        raise ValueError(f'{parser.name!r} has encoder = "doc.tensor", and needs the pipeline to learn: give nlp=nlp.')
    references = [eg.reference for eg in examples if parser.gold_key in eg.reference.spans]
    vectors: dict[tuple[str, ...], np.ndarray] = {}
    pipes = _pipes_up_to_tensor(nlp, parser, _unparsed(references[0])) if references else {}
    component = next(reversed(pipes), "")
    for batch in in_batches(references, _BATCH):
        docs = [_unparsed(doc) for doc in batch]
        for pipe in pipes.values():
            docs = list(pipe.pipe(docs)) if hasattr(pipe, "pipe") else [pipe(doc) for doc in docs]
        for reference, doc in zip(batch, docs, strict=True):
            for words, positions in _sentences(reference, parser.gold_key):
                of_words = word_vectors(doc, positions, parser.name, component).astype(np.float16)
                vectors.setdefault(words, of_words)
    return KnownVectors(component, vectors)


def _pipes_up_to_tensor(nlp: Language, parser: Any, doc: Doc) -> dict[str, Any]:
    """Return the components before the parser up to the last one that sets `doc.tensor` of a Doc.

    RAISES (ValueError): If none does.
    """
    pipes = dict(takewhile(lambda item: item[1] is not parser, nlp.components))
    names, n_needed = [*pipes], 0
    for number, pipe in enumerate(pipes.values(), start=1):
        before = doc.tensor
        doc = pipe(doc)
        n_needed = n_needed if doc.tensor is before else number
    if not n_needed:
        raise ValueError(
            f"{parser.name!r} learns from doc.tensor: expected a component before it that sets it, such as a trained "
            f"'tok2vec', got {', '.join(names) or 'none'}."
        )
    return {name: pipes[name] for name in names[:n_needed]}


def _unparsed(reference: Doc) -> Doc:
    """Return a Doc with the tokens and sentences of a reference Doc alone."""
    return Doc(
        reference.vocab,
        words=[token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
        sent_starts=[token.is_sent_start for token in reference],
    )


def _sentences(reference: Doc, key: str) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Yield the words of each tree, in treebank spelling, and their positions in the Doc."""
    for tree, (start, end) in zip(rooted_trees(reference, key), sentence_bounds(reference), strict=True):
        if tree:
            yield tuple(strip_root(tree)[1].words), words_of(reference, start, end)


def is_frozen(nlp: Language, component: str) -> bool:
    """Return whether training leaves a component as it is: it is frozen, or learns nothing, or there is none."""
    frozen = nlp.config.get("training", {}).get("frozen_components", ())
    pipe = dict(nlp.components).get(component)
    return component in frozen or not getattr(pipe, "is_trainable", False)
