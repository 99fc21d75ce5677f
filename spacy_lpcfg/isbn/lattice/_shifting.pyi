from spacy_lpcfg.isbn.lattice._graph import Graph
from spacy_lpcfg.isbn.lattice._scores import Scores
from spacy_lpcfg.isbn.lattice._stacks import Stacks
from spacy_lpcfg.isbn.search._words import SentenceWords

class Shifting:
    def __init__(self, graph: Graph, stacks: Stacks, scores: Scores, words: SentenceWords) -> None: ...
