from spacy_lpcfg.isbn.search._networks import Networks

class Scorer:
    def __init__(self, networks: Networks, tolerance: float) -> None: ...

class Tangents:
    def __init__(self, networks: Networks) -> None: ...
