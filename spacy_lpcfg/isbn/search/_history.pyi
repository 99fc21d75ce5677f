from spacy_lpcfg.isbn.search._networks import Networks

class History:
    def __init__(self, networks: Networks) -> None: ...
