"""Settings of how grammar learners read a treebank, and of how grammars store their rules."""

from dataclasses import dataclass

from spacy_lpcfg.checks import whole
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings


@dataclass(frozen=True)
class RuleSettings:
    """Settings of how rules are made and stored.

    markov (int): Markov order of the binarization: number of siblings that an "@" symbol records.
    exact_tensors (bool): Whether the grammar stores the tensors of rules exactly, instead of approximately.
    RAISES (ValueError): If `markov` is below 0.
    """

    markov: int = 0
    exact_tensors: bool = False

    def __post_init__(self) -> None:
        whole(0)(markov=self.markov)


@dataclass(frozen=True, kw_only=True)
class TreebankSettings:
    """The settings that all learners of grammars share: how they read a treebank.

    lang (str): Language, table or file of the head rules, see `head_rules`.
    functions (bool): Whether labels keep their function labels (SBJ in NP-SBJ).
    lexical (LexicalSettings): How words become terminals, and the smoothing of emissions.
    rules (RuleSettings): How rules are made and stored.
    n_jobs (int or None): Parallel jobs, as in joblib: processes that read the trees, and threads or processes that
        learn; None for the number of `joblib.parallel_config`, or 1. The result is the same for any number.
    """

    lang: str = "en"
    functions: bool = False
    lexical: LexicalSettings = LexicalSettings()
    rules: RuleSettings = RuleSettings()
    n_jobs: int | None = None
