"""Constituency parsing with latent-variable PCFGs; the public names are imported when they are first used.

Importing the package is quick, and loads neither NumPy nor spaCy.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; importing it from `typing` would take most of the time
if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.learner import SpectralBracketer as SpectralBracketer
    from spacy_lpcfg.chart.parser import Parser as Parser
    from spacy_lpcfg.evaluation.evalb import evaluate as evaluate
    from spacy_lpcfg.evidence.adaptation import adapt as adapt
    from spacy_lpcfg.isbn.learning import ISBNLearner as ISBNLearner
    from spacy_lpcfg.learning.pivot import Pivot as Pivot
    from spacy_lpcfg.learning.treebank_pcfg import TreebankPCFG as TreebankPCFG
    from spacy_lpcfg.models.kinds import make_parser as make_parser
    from spacy_lpcfg.models.loading import load as load
    from spacy_lpcfg.trees.brackets import parse_trees as parse_trees
    from spacy_lpcfg.trees.brackets import write_trees as write_trees
    from spacy_lpcfg.trees.labels import explain as explain
    from spacy_lpcfg.trees.reading import read_trees as read_trees
    from spacy_lpcfg.trees.tree import Tree as Tree

    __version__: str


def _refuse_bare_sources() -> None:
    """Refuse to run from uninstalled sources of a checkout, which Python finds first in the current folder.

    RAISES (ImportError): If the kernels are not compiled, or `components` is not found.
    """
    import os

    folder = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.dirname(folder)
    if not os.path.exists(os.path.join(checkout, "setup.cfg")):
        return
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    is_compiled = PathFinder.find_spec("_fine", [os.path.join(folder, "chart")])
    if not is_compiled or not find_spec("spacy_lpcfg.components"):
        raise ImportError(
            f"Expected spacy_lpcfg as it is installed, got its sources in {checkout}, which are found first and "
            "cannot be run as they are: run `pip install -e .` there, or run Python in another folder."
        )


_refuse_bare_sources()


if not TYPE_CHECKING:  # else mypy would take any name for one that is there
    from spacy_lpcfg.lazy import lazy_names

    _get, _names, __all__ = lazy_names(
        __name__,
        {
            "bracketing.learner": ["SpectralBracketer"],
            "chart.parser": ["Parser"],
            "evaluation.evalb": ["evaluate"],
            "evidence.adaptation": ["adapt"],
            "isbn.learning": ["ISBNLearner"],
            "learning.pivot": ["Pivot"],
            "learning.treebank_pcfg": ["TreebankPCFG"],
            "models.kinds": ["make_parser"],
            "models.loading": ["load"],
            "trees.brackets": ["parse_trees", "write_trees"],
            "trees.labels": ["explain"],
            "trees.reading": ["read_trees"],
            "trees.tree": ["Tree"],
        },
    )

    def __getattr__(name: str) -> object:
        """Import a public name at its first use (PEP 562), or return the installed version."""
        if name != "__version__":
            return _get(name)
        from importlib.metadata import version

        globals()[name] = value = version("spacy-lpcfg")
        return value

    def __dir__() -> list[str]:
        return sorted({*_names(), "__version__"})
