import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.vocabulary import Candidates
from spacy_lpcfg.trees.tree import Span

class Lattice:
    @property
    def is_alive(self) -> bool: ...
    @property
    def n_vertices(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    def __init__(
        self,
        networks: Networks,
        *,
        width: int,
        level_nats: float,
        shift_nats: float,
        word_nats: float,
        unary_cap: int,
        merges: bool = True,
        exact: bool = False,
    ) -> None: ...
    def begin(self, candidates: Candidates, brackets: NDArray[np.int32]) -> None: ...
    def advance(self) -> bool: ...
    def finish(self) -> bool: ...
    def brackets(self, least: float) -> dict[Span, float]: ...
    def tags(self) -> list[dict[str, float]]: ...
