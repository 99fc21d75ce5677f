from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.isbn.known_words import KnownWord

def candidate_columns(
    words: list[KnownWord], tags: list[Sequence[int]], unknown: list[int]
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.uint8],
    NDArray[np.int32],
    NDArray[np.int32],
]: ...
