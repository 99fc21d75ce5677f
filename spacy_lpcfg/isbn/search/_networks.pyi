import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.isbn.network import ISBN

class Networks:
    def __init__(self, isbn: ISBN, latent: NDArray[np.int32], decisions: NDArray[np.int32]) -> None: ...
