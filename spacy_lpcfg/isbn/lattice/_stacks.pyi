from spacy_lpcfg.isbn.lattice._masks import Masks

class Stacks:
    def __init__(self, masks: Masks) -> None: ...
