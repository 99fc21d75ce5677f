from spacy_lpcfg.isbn.lattice._graph import Graph
from spacy_lpcfg.isbn.lattice._scores import Scores
from spacy_lpcfg.isbn.lattice._stacks import Stacks

class LevelExpansion:
    def __init__(self, graph: Graph, stacks: Stacks, scores: Scores, unary_cap: int, nats: float) -> None: ...
