"""Reader of folders of pretrained encoders in the layout of the Hugging Face hub."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_lpcfg.evidence.pieces import Pieces
from spacy_lpcfg.evidence.pretrained.safetensors import safetensors
from spacy_lpcfg.evidence.pretrained.tokenizers import read_pieces
from spacy_lpcfg.evidence.pretrained.weights import EncoderWeights, encoder_weights
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import read_file, read_meta

WEIGHTS = "model.safetensors"
_LICENCE = re.compile(r"^license: *[\"']?([\w .-]+)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class HubEncoder:
    """A pretrained encoder from a folder of the Hugging Face hub, before it is exported to ONNX.

    weights (EncoderWeights): The weights.
    pieces (Pieces): The tokenizer, which divides words into the pieces of the encoder's vocabulary.
    card (dict of str to str): Metadata: name, the SHA-256 of the weights, and licence and source if they are known.
    """

    weights: EncoderWeights
    pieces: Pieces
    card: dict[str, str]


def read_hub(folder: Path) -> HubEncoder:
    """Read an encoder of BERT's family from a folder in the layout of the Hugging Face hub.

    folder (Path): A folder with config.json, model.safetensors, and tokenizer.json, vocab.txt or *.model.
    RAISES (ModelError): If the folder lacks a file, or holds an encoder of another kind. (OSError): If a file cannot be
        read. (StorageError): If the weights are damaged.
    """
    for name in ("config.json", WEIGHTS):
        if not (folder / name).is_file():
            raise ModelError(_missing(folder, name))
    config = read_meta(read_file(folder / "config.json").decode("utf-8", "replace"))
    data = read_file(folder / WEIGHTS)
    weights = encoder_weights(config, safetensors(data, str(folder / WEIGHTS)))
    card = card_of(folder, hashlib.sha256(data).hexdigest())
    pieces = read_pieces(folder)
    n_rows = len(weights.words)
    if len(pieces.vocabulary) > n_rows:
        raise ModelError(
            f"Expected a vocabulary of at most {n_rows:,} pieces, as the encoder has embeddings of, got one of "
            f"{len(pieces.vocabulary):,}: are all files of '{folder}' from one encoder?"
        )
    return HubEncoder(weights, pieces, card)


def _missing(folder: Path, name: str) -> str:
    pickled = [path.name for path in folder.glob("*.bin")] if name == WEIGHTS and folder.is_dir() else []
    remedy = f"; {pickled[0]} is a pickle, which is not read: take the weights as safetensors" if pickled else ""
    return (
        f"Expected the folder of an encoder as the Hugging Face hub has it, with config.json, {WEIGHTS} and "
        f"tokenizer.json, vocab.txt or a SentencePiece model; '{folder}' lacks {name}{remedy}."
    )


def card_of(folder: Path, sha256: str) -> dict[str, str]:
    """Return the metadata of an encoder: the entries of card.json, or else the licence in README.md.

    folder (Path): The folder; its name is the encoder's name unless card.json has another.
    sha256 (str): SHA-256 of the weights in the folder, which replaces any in card.json.
    """
    path, page = folder / "card.json", folder / "README.md"
    card: dict[str, Any] = {"name": folder.resolve().name}
    if path.is_file():
        card |= read_meta(read_file(path).decode("utf-8", "replace"))
    elif page.is_file() and (match := _LICENCE.search(read_file(page).decode("utf-8", "replace"))):
        card["licence"] = match[1].strip()
    texts = {key: ", ".join(map(str, value)) if isinstance(value, list) else str(value) for key, value in card.items()}
    return {**texts, "sha256": sha256}
