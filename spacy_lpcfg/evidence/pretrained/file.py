"""An encoder as a file of its own, with the classifier that it was tuned with; and as a folder with ONNX."""

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
    """An encoder, with a span classifier that was learned on its vectors, if there is one."""

    encoder: Encoder
    classifier: SpanClassifier | None = None

    def to_bytes(self) -> bytes:
        """Serialize both, compressed."""
        parts: dict[str, Mapping[str, Any]] = {"encoder": self.encoder.to_values()}
        if self.classifier is not None:
            parts["classifier"] = self.classifier.to_values()
        return compressed(pack(KIND, _VERSION, with_prefixes(parts)))

    @classmethod
    def from_bytes(cls, data: bytes) -> PretrainedEncoder:
        """Deserialize what `to_bytes` returned.

        RAISES (ValueError): If the data are damaged, or something else.
        """
        encoder, classifier = without_prefixes(unpack(KIND, _VERSION, data), PARTS)
        try:
            return cls(Encoder.from_values(encoder), SpanClassifier.from_values(classifier) if classifier else None)
        except KeyError as error:
            raise ModelError(f"This encoder lacks {error}: copy it, or make it again.") from error

    @classmethod
    def from_folder(cls, path: PathLike) -> PretrainedEncoder:
        """Read an encoder in ONNX as it is: encoder.onnx, model.onnx or onnx/model.onnx, and its vocabulary.

        A card.json or README.md says what it is, and classifier.bin is a span classifier on its vectors, if there is
        one.
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
    """Return the file of an encoder in ONNX in a folder, if there is one."""
    return next((path for name in _MODELS if (path := folder / name).is_file()), None)


def exported(hub: HubEncoder, *, quantized: bool = True) -> Encoder:
    """Return an encoder as the parser runs it: in ONNX, with weights of 8 bits or of 32.

    RAISES (ImportError): If onnx is not installed.
    """
    extra("onnx", "The export of an encoder", "encoder")
    from spacy_lpcfg.evidence.pretrained.graph import encoder_model

    return Encoder(encoder_model(hub.weights, quantized=quantized), hub.pieces, hub.card)
