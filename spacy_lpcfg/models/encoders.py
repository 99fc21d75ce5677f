"""Pretrained encoders by name: those of models that come with the package, of saved models, and of folders."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.learners import AUTO, NONE
from spacy_lpcfg.models import has_pretrained
from spacy_lpcfg.models.loading import load, pretrained_model


class PretrainedEncoder(NamedTuple):
    """An encoder with a span classifier that was learned on its vectors, if there is one."""

    encoder: Encoder
    classifier: SpanClassifier | None


def find_encoder(name: str, lang: str) -> PretrainedEncoder | None:
    """Return an encoder by its name; None if it is `NONE`, or `AUTO` and the package has none for the language.

    name (str): A folder of an exported encoder (`Encoder.from_folder`), with the classifier that it was tuned with in
        classifier.bin if there is one; the file of a saved model that has an encoder; the name of such a model that
        comes with the package; or `AUTO` or `NONE`.
    lang (str): The language for `AUTO`.
    RAISES (ValueError): If the model has no encoder, or the folder holds none. (OSError): If there is no such file.
    """
    if name == NONE or (name == AUTO and not has_pretrained(lang)):
        return None
    if Path(name).is_dir() and not has_pretrained(name):
        path = Path(name) / "classifier.bin"
        classifier = SpanClassifier.from_disk(path) if path.is_file() else None
        return PretrainedEncoder(Encoder.from_folder(name), classifier)
    model = pretrained_model(lang) if name == AUTO else load(name)
    if isinstance(model, EvidenceGrammar) and isinstance(model.evidence, EncoderEvidence):
        return PretrainedEncoder(model.evidence.encoder, model.evidence.classifier)
    if name == AUTO:
        return None
    raise ValueError(
        f"Expected an encoder, in a folder with encoder.onnx and vocab.txt or in a model with evidence, got {name!r}, "
        f"which is {model.summary}."
    )
