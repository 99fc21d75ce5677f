"""A frozen pretrained encoder such as BERT, run with onnxruntime, which computes contextual vectors of words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from spacy_lpcfg.batches import padded_batches
from spacy_lpcfg.evidence.pieces import Pieces, pieces_from_values
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import read_meta, refuse_others
from spacy_lpcfg.storage.validation import Consistency, are_texts

_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_WINDOW = 510  # pieces that the encoder sees at once, besides the two at the ends
_BATCH = 2_048  # pieces of a batch, with padding
_VALUES = ("model", "vocabulary", "card")
_OF_PIECES = ("letters", "scores")
_require = Consistency("encoder", ModelError).require


class Encoder:
    """Pretrained encoder that computes a contextual vector of each word; it can be shared by threads and pickled.

    The vectors of a sentence do not depend on its batch. Sentences of more than 510 word pieces are read in windows.

    model (bytes): The encoder in ONNX format. Its inputs are input_ids and optionally attention_mask and
        token_type_ids, int64 (n, length); its first output is the hidden states, float32 (n, length, width).
    pieces (Pieces): The tokenizer, which divides words into the pieces of the encoder's vocabulary.
    card (mapping of str to str or list of str): Metadata of the encoder: name, source, sha256, licence, and the data
        that it was tuned on.
    """

    def __init__(self, model: bytes, pieces: Pieces, card: Mapping[str, str | list[str]]) -> None:
        self.model, self.pieces, self.card = model, pieces, dict(card)
        self._made: tuple[int, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoder.from_values, (self.to_values(),)

    @property
    def width(self) -> int:
        """The number of dimensions of a word vector."""
        return int(self._session().get_outputs()[0].shape[-1])

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Return the word vectors of each sentence, float32 (n_words, width).

        The vector of a word is the hidden state of its last piece.

        sentences (sequence of sequence of str): The words of each sentence in treebank spelling.
        RAISES (ImportError): If onnxruntime is not installed. (ModelError): If the encoder cannot be run.
        """
        results = [np.zeros((len(words), self.width), np.float32) for words in sentences]
        windows = [
            window
            for words, result in zip(sentences, results, strict=True)
            for window in _windows(*self.pieces.divide(words), result)
        ]
        windows.sort(key=_Window.length)
        for batch in padded_batches(windows, _Window.length, _BATCH):
            states = self._run([window.pieces for window in batch])
            for window, rows in zip(batch, states, strict=True):
                window.result[window.words] = rows[window.places]
        return results

    def _run(self, pieces: Sequence[np.ndarray]) -> np.ndarray:
        """Run the encoder on windows of piece ids; return hidden states without the first special piece.

        RETURNS (float32, (n, longest + 1, width)): Hidden states, with padding.
        """
        shape = len(pieces), max(map(len, pieces)) + 2
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, row_mask, part in zip(ids, mask, pieces, strict=True):
            row[0], row[1 : len(part) + 1] = self.pieces.first, part
            row[len(part) + 1] = self.pieces.last
            row_mask[: len(part) + 2] = 1
        session = self._session()
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            names = [given.name for given in session.get_inputs()]
            return session.run(None, {name: inputs[name] for name in names})[0][:, 1:]
        except Exception as error:  # onnxruntime has classes of its own for each kind
            raise ModelError(f"The encoder cannot be run: {error}. Export it again.") from error

    def _session(self) -> Any:
        """Return the onnxruntime session of this process; a forked process creates another."""
        made = self._made
        if made is None or made[0] != os.getpid():
            made = self._made = os.getpid(), _session(self.model)
        return made[1]

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by name."""
        model = np.frombuffer(self.model, np.uint8)
        values = {"model": model, "vocabulary": self.pieces.vocabulary, "card": json.dumps(self.card)}
        return values | self.pieces.to_values()

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Encoder:
        """Create an encoder from the values that `to_values` returned.

        RAISES (ValueError): If values are unknown or inconsistent. (KeyError): If one is missing.
        """
        refuse_others(values, _VALUES + _OF_PIECES)
        model, vocabulary, card = (values[name] for name in _VALUES)
        _require("model", isinstance(model, np.ndarray) and model.dtype == np.uint8 and model.ndim == 1)
        _require("vocabulary", are_texts(vocabulary))
        entries = read_meta(card)
        _require("card", all(map(_is_entry, entries.values())))
        try:
            pieces = pieces_from_values(vocabulary, values)
        except ValueError as error:
            raise ModelError(str(error)) from error
        return cls(model.tobytes(), pieces, entries)


class RememberingEncoder(Encoder):
    """Encoder with a cache: the vectors of each distinct sentence are computed once; all vectors are float16.

    encoder (Encoder): The encoder to cache.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder.model, encoder.pieces, encoder.card)
        self.encoder = encoder
        self._known: dict[tuple[str, ...], np.ndarray] = {}

    @property
    def width(self) -> int:
        return self.encoder.width

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        keys = [tuple(words) for words in sentences]
        unknown = [key for key in dict.fromkeys(keys) if key not in self._known]
        for key, vectors in zip(unknown, self.encoder.vectors(unknown), strict=True):
            self._known[key] = vectors.astype(np.float16)
        return [self._known[key] for key in keys]


class _Window(NamedTuple):
    """A part of a sentence that the encoder reads at once.

    pieces (int64, (n,)): The ids of the window's pieces.
    places (int64, (k,)): The positions, in the window, of the last pieces of k words. The vectors of these words are
        taken from this window.
    words (slice): The positions of these k words in the sentence.
    result (float32, (n_words, width)): The array that the vectors of the sentence are written to.
    """

    pieces: np.ndarray
    places: np.ndarray
    words: slice
    result: np.ndarray

    def length(self) -> int:
        """Return the number of pieces, including the special pieces at both ends."""
        return len(self.pieces) + 2


def _windows(pieces: np.ndarray, last: np.ndarray, result: np.ndarray) -> Iterator[_Window]:
    """Divide a sentence into windows that overlap by half.

    The vector of a word is taken from the window whose middle is nearest to the word.
    """
    n = len(pieces)
    starts = [*range(0, n - _WINDOW, _WINDOW // 2), max(n - _WINDOW, 0)]
    # the middle of each overlap, of which the earlier window takes the left half
    borders = [(start + before + _WINDOW) // 2 for before, start in pairwise(starts)]
    cuts = [0, *np.searchsorted(last, borders), len(last)]
    for start, (left, right) in zip(starts, pairwise(cuts), strict=True):
        if left < right:
            yield _Window(pieces[start : start + _WINDOW], last[left:right] - start, slice(left, right), result)


def _session(model: bytes) -> Any:
    """Create an onnxruntime session that computes on one thread.

    RAISES (ImportError): If onnxruntime is not installed. (ModelError): If the model cannot be loaded, or has other
        inputs or outputs than an encoder.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "A model with a pretrained encoder needs onnxruntime, which is not installed: pip install onnxruntime. "
            "Or parse without its evidence: set evidence = false."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # weights must be within the model: a model from elsewhere is not to read files of this machine
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has classes of its own for each kind
        raise ModelError(f"The encoder is not ONNX that onnxruntime can load: {error}. Export it again.") from error
    names, shape = {given.name for given in session.get_inputs()}, session.get_outputs()[0].shape
    if not {"input_ids"} <= names <= _INPUTS or len(shape) != _RANK or not isinstance(shape[-1], int):
        raise ModelError(
            f"Expected an encoder from {', '.join(sorted(_INPUTS))} to hidden states (sentences, pieces, width) as its "
            f"first output, got one from {', '.join(sorted(names))} to an output of shape {shape}: export it again."
        )
    return session


def _is_entry(value: Any) -> bool:
    """Return whether a value of a card is a text or a list of texts."""
    return all(isinstance(text, str) for text in (value if isinstance(value, list) else [value]))


_RANK = 3  # of the hidden states
_ERRORS_ONLY = 3
