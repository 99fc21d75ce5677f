import numpy as np
from numpy.typing import NDArray

from spacy_lpcfg.chart._forest import Forest
from spacy_lpcfg.chart.cells import CellMask
from spacy_lpcfg.chart.context import SentenceContext
from spacy_lpcfg.chart.factors import Factors
from spacy_lpcfg.grammar.grammar import Grammar

class CoarseGrammar:
    def __init__(self, grammar: Grammar) -> None: ...

def build_forest(
    grammar: CoarseGrammar,
    context: SentenceContext,
    allowed: CellMask,
    factors: Factors | None,
    *,
    beam: float,
    threshold: float,
    edge_threshold: float,
    max_applications: int,
) -> Forest: ...
def root_logs(
    grammar: CoarseGrammar,
    context: SentenceContext,
    allowed: CellMask,
    factors: Factors | None,
    *,
    beam: float,
    max_applications: int,
) -> NDArray[np.float64]: ...
