"""The vectors of words in `doc.tensor`, which components such as `tok2vec` set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc
from thinc.api import to_numpy


def word_vectors(doc: Doc, positions: Sequence[int], name: str, component: str = "tok2vec") -> np.ndarray:
    """Return the vectors of words of a Doc, float32 (n_words, width).

    positions (sequence of int): The positions of the words in the Doc.
    name, component (str): The parser's name, and that of the component that should have set `doc.tensor`, for errors.
    RAISES (ValueError): If the Doc has not one vector for each token.
    """
    shape = doc.tensor.shape
    if len(shape) != 2 or len(doc) != shape[0] or not shape[1]:
        raise ValueError(
            f"{name!r} reads doc.tensor: expected a vector for each of {len(doc)} tokens, got an array of shape "
            f"{shape}. Put {component!r}, or a component that sets doc.tensor as it does, before {name!r} in the "
            "pipeline, and let it run."
        )
    return np.asarray(to_numpy(doc.tensor), dtype=np.float32)[list(positions)]
