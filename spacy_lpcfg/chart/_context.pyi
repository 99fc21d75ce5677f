from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.trees.tree import Span

def emission_weights(
    scores: NDArray[np.float32],
    tag_factors: NDArray[np.float64],
    terminals: NDArray[np.int32],
    tags: NDArray[np.int32],
    tag_weight: float,
    threshold: float,
    lexicon: Lexicon,
    tag_of: NDArray[np.int32],
    tag_terminals: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def bracket_cells(
    brackets: Iterable[Span],
    n_words: int,
    labels: dict[str, int],
    of_symbols: NDArray[np.uint64],
    intermediate: NDArray[np.int8],
) -> tuple[NDArray[np.int32], NDArray[np.int8]]: ...
