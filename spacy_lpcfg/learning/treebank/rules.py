"""Settings of the rules of a treebank: markovization, and how exactly their parameters are stored."""

from dataclasses import dataclass

from spacy_lpcfg.checks import whole


@dataclass(frozen=True)
class RuleSettings:
    """Settings of how rules are made and stored.

    markov (int): Number of siblings that an "@" symbol of the binarization remembers.
    exact_tensors (bool): Whether the grammar stores the tensors of rules exactly, instead of to a tolerance.
    RAISES (ValueError): For a number of siblings below 0.
    """

    markov: int = 0
    exact_tensors: bool = False

    def __post_init__(self) -> None:
        whole(0)(markov=self.markov)
