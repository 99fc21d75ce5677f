from spacy_lpcfg.isbn.search._history import History

class Graph:
    def __init__(self, history: History, merges: bool) -> None: ...
