from spacy_lpcfg.isbn.search._positions import Positions

class Scores:
    def __init__(self, positions: Positions, exact: bool) -> None: ...
