from spacy_lpcfg.isbn.search._beam import Beam
from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.search._positions import Positions
from spacy_lpcfg.isbn.search._words import SentenceWords

class Expansion:
    def __init__(
        self, networks: Networks, words: SentenceWords, positions: Positions, beam: Beam, branching: int, unary_cap: int
    ) -> None: ...
