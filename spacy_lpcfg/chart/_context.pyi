import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.grammar.lexicon import Lexicon

def emissions(
    scores: NDArray[np.float32],
    tag_factors: NDArray[np.float64],
    extra: NDArray[np.float64],
    terminals: NDArray[np.int32],
    threshold: float,
    lexicon: Lexicon,
    tag_of: NDArray[np.int32],
    tag_terminals: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
