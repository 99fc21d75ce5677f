"""Pipelines of one component, what they learn from, and what they write."""

from __future__ import annotations

import spacy
from paths import ROOT
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lpcfg.components.corpus import Treebank

SAMPLE = ROOT / "assets" / "sample"
LEARNED = {"lpcfg_parser": "grammar", "isbn_parser": "isbn", "spectral_bracketer": "bracketer"}
"""The attribute of each component that holds what it has learned."""


def pipeline_of(name: str, lang: str = "en", **config: object) -> Language:
    """A pipeline that splits sentences and has a component with these settings."""
    nlp = spacy.blank(lang)
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe(name, config=config)
    return nlp


def treebank(limit: int = 60) -> Treebank:
    """The first trees of the sample."""
    return Treebank(SAMPLE / "train.mrg", limit=limit)


def annotations(doc: Doc) -> list:
    """All that a parsing component wrote to a Doc that has been through no other."""
    (group,) = doc.spans.values()
    spans = [(span.start, span.end, span.label_) for span in group]
    arrays = [str(group.attrs[name]) for name in ("scores", "log_probabilities", "tag_scores")]
    return [spans, arrays, group.attrs["status"], [token.tag_ for token in doc]]
