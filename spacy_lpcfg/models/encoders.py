"""Look-up of pretrained encoders by name: in models of the package, saved models, encoder files and folders."""

from __future__ import annotations

from pathlib import Path

from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.evidence.pretrained.file import KIND, PretrainedEncoder
from spacy_lpcfg.learners import AUTO, NONE
from spacy_lpcfg.models import has_pretrained
from spacy_lpcfg.models.loading import load, pretrained_model
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.storage.container import kind_of, naming_file, read_file

_EXPECTED = (
    "Expected an encoder: a file that `spacy-lpcfg encoder` made, a folder with an encoder in ONNX, or a model with "
    "evidence"
)


def find_encoder(name: str, lang: str) -> PretrainedEncoder | None:
    """Load a pretrained encoder by name.

    name (str): One of the following:
        - the path of a file that `spacy-lpcfg encoder` made, or of a folder with an encoder in ONNX;
        - the path of a saved model with an encoder, or the name of such a model that comes with the package;
        - `AUTO` ("auto") for the encoder of the package's model for `lang`;
        - `NONE` ("none") for no encoder.
    lang (str): The language code for `AUTO`, such as "en".
    RETURNS (PretrainedEncoder or None): The encoder; None for `NONE`, or for `AUTO` if the package has no encoder for
        the language.
    RAISES (ValueError): If the model or folder has no encoder. (OSError): If there is no such file.
    """
    if name == NONE:
        return None
    if name == AUTO:
        return _encoder_of(pretrained_model(lang)) if has_pretrained(lang) else None
    path = Path(name)
    if not has_pretrained(name):
        if path.is_dir():
            return PretrainedEncoder.from_folder(path)
        if not path.exists():
            raise FileNotFoundError(f"{_EXPECTED}; there is no {name!r}.")
        if kind_of(data := read_file(path)) == KIND:
            with naming_file(path):
                return PretrainedEncoder.from_bytes(data)
    model = load(name)
    encoder = _encoder_of(model)
    if encoder is None:
        raise ValueError(f"{_EXPECTED}; got {name!r}, which is {model.summary}.")
    return encoder


def _encoder_of(model: ParsingModel) -> PretrainedEncoder | None:
    """Return the encoder of a grammar whose evidence comes from one; None for any other model."""
    if isinstance(model, EvidenceGrammar) and isinstance(model.evidence, EncoderEvidence):
        return PretrainedEncoder(model.evidence.encoder, model.evidence.classifier)
    return None
