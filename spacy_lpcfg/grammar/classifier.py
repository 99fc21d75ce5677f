"""A log-linear classifier of words in context, which scores preterminals and the beginnings and ends of spans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar._classifier import sum_weights

_KEY_BITS = 31
_BUCKET_BITS = 16


@dataclass(frozen=True, eq=False)
class Classifier:
    """Log-linear classifier: a sparse table with a row (output, weight) for each nonzero weight, grouped by feature.

    The outputs of a grammar's classifier are its preterminal symbols, then "a span begins at the word", then "a span
    ends at the word". Features are defined in `windows.py`.

    features (int32, (n_features,)): Sorted keys of the features that have weights.
    offsets (int32, (n_features + 1,)): The rows of feature f are `offsets[f]:offsets[f + 1]`.
    outputs (uint16, (n_rows,)): The output of each row.
    weights (float16, (n_rows,)): The weight of each row's feature for its output.
    """

    features: np.ndarray
    offsets: np.ndarray
    outputs: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray, table: np.ndarray) -> Classifier:
        """Create a classifier from a dense table of weights, which are rounded to float16; zero weights are not stored.

        features (int, (k,)): Sorted feature keys.
        table (float, (k, n_outputs)): Weight of each feature for each output.
        """
        table = table.astype(np.float16)
        per_feature = np.count_nonzero(table, axis=1)
        rows, outputs = np.nonzero(table)
        return cls(
            features=features[per_feature > 0].astype(np.int32),
            offsets=np.concatenate([[0], np.cumsum(per_feature[per_feature > 0])]).astype(np.int32),
            outputs=outputs.astype(np.uint16),
            weights=table[rows, outputs],
        )

    def scores(self, keys: np.ndarray, n_outputs: int) -> np.ndarray:
        """Return the unnormalized log-score of each output at each word, float32 (n_words, n_outputs).

        keys (int32, (n_words, n_templates)): Feature keys of the words; keys without weights are ignored.
        n_outputs (int): Number of outputs.
        """
        shift = _KEY_BITS - _BUCKET_BITS
        return sum_weights(
            keys, self.features, self._buckets, shift, self.offsets, self.outputs, self._weights, n_outputs
        )

    @cached_property
    def _weights(self) -> np.ndarray:
        return read_only(self.weights.astype(np.float32))

    @cached_property
    def _buckets(self) -> np.ndarray:
        """Where equal ranges of keys begin in `features`, for fast look-up, int32 (2**_BUCKET_BITS + 1,)."""
        edges = np.arange(2**_BUCKET_BITS + 1, dtype=np.int64) << (_KEY_BITS - _BUCKET_BITS)
        return read_only(np.searchsorted(self.features, edges).astype(np.int32))
