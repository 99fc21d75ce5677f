from spacy_lpcfg.isbn.lattice._graph import Graph
from spacy_lpcfg.isbn.lattice._stacks import Stacks
from spacy_lpcfg.trees.tree import Span

class LatticePosteriors:
    def __init__(self, graph: Graph, stacks: Stacks) -> None: ...
    def brackets(self, labels: tuple[str, ...], least: float) -> dict[Span, float]: ...
