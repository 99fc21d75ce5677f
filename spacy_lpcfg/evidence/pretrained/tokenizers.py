"""Reading of the tokenizers of pretrained encoders: tokenizer.json, vocab.txt, or a model of SentencePiece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import unpack
from typing import Any

import numpy as np
import srsly

from spacy_lpcfg.checks import shown
from spacy_lpcfg.evidence.pieces import Pieces, UnigramPieces, WordPieces
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import read_file

_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
"""The first pieces of XLM-R, in place of SentencePiece's own first three."""
_N_OWN = 3  # special pieces of SentencePiece: <unk>, <s>, </s>
_MASK = "<mask>"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # types of fields
_PIECES, _TRAINER, _MODEL_TYPE, _UNIGRAM = 1, 2, 3, 1  # numbers of fields of a model of SentencePiece, and a value


def read_pieces(folder: Path) -> Pieces:
    """Read the tokenizer of an encoder from its folder: tokenizer.json, else vocab.txt, else a SentencePiece *.model.

    RAISES (ModelError): If there is no vocabulary, or it is of another kind or damaged. (OSError): If a file cannot be
        read.
    """
    try:
        if (folder / "tokenizer.json").is_file():
            return _from_json(_json(folder / "tokenizer.json"))
        if (folder / "vocab.txt").is_file():
            return _from_lines(folder)
        for path in sorted(folder.glob("*.model")):
            return _from_sentencepiece(read_file(path), path.name)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise (
            error
            if isinstance(error, ModelError)
            else ModelError(f"The vocabulary in '{folder}' cannot be read: {error}. Download it again.")
        ) from error
    raise ModelError(
        f"Expected the vocabulary of an encoder in tokenizer.json, vocab.txt or a SentencePiece model; '{folder}' has "
        "none of them."
    )


def _json(path: Path) -> dict[str, Any]:
    value = srsly.json_loads(read_file(path).decode("utf-8"))
    if not isinstance(value, dict):
        raise ModelError(f"Expected a JSON object in '{path}', got another JSON value: download it again.")
    return value


def _from_json(tokenizer: Mapping[str, Any]) -> Pieces:
    """Create a tokenizer from a parsed tokenizer.json: WordPiece with BERT's normalization, or Unigram with NFKC."""
    model, normalizer = tokenizer["model"], tokenizer.get("normalizer") or {}
    kind = model.get("type", "WordPiece")
    if kind == "Unigram":
        scores = np.array([score for _, score in model["vocab"]], np.float32)
        return UnigramPieces([piece for piece, _ in model["vocab"]], scores)
    if kind != "WordPiece" or normalizer.get("type", "BertNormalizer") != "BertNormalizer":
        raise ModelError(
            f"Expected a vocabulary of WordPiece with BERT's normalization, or of Unigram, got one of {shown(kind)} "
            f"with {shown(normalizer.get('type'))}: take another encoder."
        )
    ids: dict[str, int] = {**model["vocab"], **{each["content"]: each["id"] for each in tokenizer["added_tokens"]}}
    vocabulary = sorted(ids, key=ids.__getitem__)
    if [ids[piece] for piece in vocabulary] != list(range(len(ids))):
        raise ModelError("Expected a vocabulary with an id for each piece, without gaps: download it again.")
    return _word_pieces(vocabulary, normalizer.get("lowercase", True), normalizer.get("strip_accents"))


def _from_lines(folder: Path) -> WordPieces:
    """Create a WordPiece tokenizer from vocab.txt; tokenizer_config.json says whether words are lower-cased."""
    lines = read_file(folder / "vocab.txt").decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")
    config = _json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
    return _word_pieces(lines, config.get("do_lower_case", True), config.get("strip_accents"))


def _word_pieces(vocabulary: list[str], lower: bool, strip_accents: bool | None) -> WordPieces:
    """Create a WordPiece tokenizer; if `strip_accents` is None, accents are stripped if words are lower-cased."""
    is_stripped = lower if strip_accents is None else strip_accents
    return WordPieces(vocabulary, lower=bool(lower), strip_accents=bool(is_stripped))


# SentencePiece ------------------------------------------------------------------------------------


def _from_sentencepiece(data: bytes, name: str) -> UnigramPieces:
    """Create a tokenizer from a unigram model of SentencePiece, with the special pieces of XLM-R in its vocabulary."""
    pieces: list[tuple[str, float]] = []
    kind = _UNIGRAM
    for number, value in _fields(data):
        if number == _PIECES:
            fields = dict(_fields(value))
            pieces.append((fields[1].decode("utf-8"), fields.get(2, 0.0)))
        elif number == _TRAINER:
            kind = dict(_fields(value)).get(_MODEL_TYPE, _UNIGRAM)
    if kind != _UNIGRAM or len(pieces) <= _N_OWN:
        raise ModelError(f"Expected a unigram model of SentencePiece, got something else in '{name}'.")
    others = pieces[_N_OWN:]
    vocabulary = [*_FAIRSEQ, *(piece for piece, _ in others), _MASK]
    scores = [*([0.0] * len(_FAIRSEQ)), *(score for _, score in others), 0.0]
    return UnigramPieces(vocabulary, np.array(scores, np.float32))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field of a protobuf message.

    RAISES (ValueError): If the message is cut off.
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        length, at = _varint(data, at) if kind == _BYTES else ({_FIXED64: 8, _FIXED32: 4}[kind], at)
        part, at = data[at : at + length], at + length
        if len(part) < length:
            raise ValueError("its end is missing")
        yield key >> 3, unpack("<f", part)[0] if kind == _FIXED32 else part


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode a protobuf varint at position `at`; return the number and the position after it.

    RAISES (ValueError): If the message is cut off.
    """
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("its end is missing")
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at
