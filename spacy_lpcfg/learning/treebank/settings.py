"""Settings by which learners of grammars read a treebank, and store the rules of grammars."""

from dataclasses import dataclass

from spacy_lpcfg.checks import whole
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings


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


@dataclass(frozen=True, kw_only=True)
class TreebankSettings:
    """The settings that all learners of grammars share: how they read a treebank.

    lang (str): Language, table or file of the head rules, see `head_rules`.
    functions (bool): Whether categories keep their functions, as in NP-SBJ.
    lexical (LexicalSettings): How words become terminals, and the smoothing of emissions.
    rules (RuleSettings): How rules are made and stored.
    n_jobs (int or None): Parallel jobs, as in joblib: processes that read the trees, and threads or processes that
        learn; None for those of `joblib.parallel_config`, or 1. The result is the same for any number.
    """

    lang: str = "en"
    functions: bool = False
    lexical: LexicalSettings = LexicalSettings()
    rules: RuleSettings = RuleSettings()
    n_jobs: int | None = None
