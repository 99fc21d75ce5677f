from spacy_lpcfg.isbn.search._networks import Networks

class SentenceWords:
    def __init__(self, networks: Networks) -> None: ...
