"""Files and ONNX folders of pretrained encoders, with the span classifier that was tuned with the encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_lpcfg.evidence.classifier import SpanClassifier
from spacy_lpcfg.evidence.encoder import Encoder
from spacy_lpcfg.evidence.model import PARTS
from spacy_lpcfg.evidence.pretrained.hub import HubEncoder, card_of
from spacy_lpcfg.evidence.pretrained.tokenizers import read_pieces
from spacy_lpcfg.extras import extra
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import Stored, compressed, pack, read_file, unpack, with_prefixes, without_prefixes
from spacy_lpcfg.storage.files import PathLike

KIND, _VERSION = "encoder", 1
_MODELS = ("encoder.onnx", "model.onnx", "onnx/model.onnx")


@dataclass(frozen=True, eq=False)
class PretrainedEncoder(Stored):
    """A pretrained encoder with an optional span classifier, saved in a file of its own.

    encoder (Encoder): The encoder.
    classifier (SpanClassifier or None): A span classifier that was trained on vectors of the encoder; None without one.
    """

    encoder: Encoder
    classifier: SpanClassifier | None = None

    def to_bytes(self) -> bytes:
        """Serialize the encoder and the classifier, compressed."""
        parts: dict[str, Mapping[str, Any]] = {"encoder": self.encoder.to_values()}
        if self.classifier is not None:
            parts["classifier"] = self.classifier.to_values()
        return compressed(pack(KIND, _VERSION, with_prefixes(parts)))

    @classmethod
    def from_bytes(cls, data: bytes) -> PretrainedEncoder:
        """Deserialize the bytes that `to_bytes` returned.

        RAISES (ValueError): If the data are damaged, or not of an encoder.
        """
        encoder, classifier = without_prefixes(unpack(KIND, _VERSION, data), PARTS)
        try:
            return cls(Encoder.from_values(encoder), SpanClassifier.from_values(classifier) if classifier else None)
        except KeyError as error:
            raise ModelError(f"This encoder lacks {error}: copy it, or make it again.") from error

    @classmethod
    def from_folder(cls, path: PathLike) -> PretrainedEncoder:
        """Read an encoder from a folder with encoder.onnx, model.onnx or onnx/model.onnx, and its vocabulary.

        Optional files are card.json or README.md, for metadata, and classifier.bin, a span classifier on the vectors of
        the encoder.

        path (str or Path): The folder.
        RAISES (ModelError): If the folder lacks a file or has a damaged one. (OSError): If a file cannot be read.
        """
        folder = Path(path)
        if (model := onnx_in(folder)) is None:
            raise ModelError(f"Expected a folder with an encoder in ONNX, such as {_MODELS[0]}; '{folder}' lacks it.")
        data = read_file(model)
        encoder = Encoder(data, read_pieces(folder), card_of(folder, hashlib.sha256(data).hexdigest()))
        classifier = folder / "classifier.bin"
        return cls(encoder, SpanClassifier.from_disk(classifier) if classifier.is_file() else None)


def onnx_in(folder: Path) -> Path | None:
    """Return the path of the ONNX encoder in a folder; None if there is none."""
    return next((path for name in _MODELS if (path := folder / name).is_file()), None)


def exported(hub: HubEncoder, *, quantized: bool = True) -> Encoder:
    """Export an encoder to ONNX, the format in which the parser runs it.

    hub (HubEncoder): The encoder.
    quantized (bool): Whether weights have 8 bits instead of 32.
    RAISES (ImportError): If onnx is not installed.
    """
    extra("onnx", "The export of an encoder", "encoder")
    from spacy_lpcfg.evidence.pretrained.graph import encoder_model

    return Encoder(encoder_model(hub.weights, quantized=quantized), hub.pieces, hub.card)
