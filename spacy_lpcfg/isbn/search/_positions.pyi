from spacy_lpcfg.isbn.search._history import History
from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.search._scoring import Scorer
from spacy_lpcfg.isbn.search._words import SentenceWords

class Positions:
    def __init__(self, networks: Networks, words: SentenceWords, history: History, scorer: Scorer) -> None: ...
