"""The learner `spacy-lpcfg.Adapt.v1`, which adapts an existing model to a treebank."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spacy.util import load_model, logger

from spacy_lpcfg.checks import TEXT
from spacy_lpcfg.evidence.adaptation import Conventions, adapt
from spacy_lpcfg.learning.base import OnStep
from spacy_lpcfg.models.loading import load
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.trees import Tree


@dataclass(frozen=True)
class AdaptedLearner:
    """Learner that adapts an existing model to a treebank; the model is loaded when `fit` is called.

    base (str): The model to adapt: the name of a pretrained model such as "en", the file of a model, or the folder of a
        pipeline with an `lpcfg_parser`.
    seed (int): The random seed of the adaptation.
    """

    base: str
    seed: int = 0

    def fit(
        self, trees: Iterable[Tree], *, held_out: Iterable[Tree] | None = None, on_step: OnStep | None = None
    ) -> ParsingModel:
        """Adapt the base model to trees, and return the result: the base model if adaptation does not improve it.

        Logs frequent differences between the model's conventions and the trees, and a summary.

        trees (iterable of Tree): The treebank.
        held_out (iterable of Tree or None): Ignored.
        on_step (callable or None): Called with each report of the adaptation.
        RAISES (ValueError): If the base model is damaged or cannot be adapted, or there are too few trees.
        RAISES (OSError): If there is no such model, file or folder.
        """

        def report(step: object) -> None:
            if isinstance(step, Conventions):
                for difference in step.differences:
                    logger.info("%d times: %s (%s)", difference.n, difference.what, difference.example)
            if on_step is not None:
                on_step(step)

        adapted = adapt(base_model(self.base), trees, seed=self.seed, on_step=report)
        for line in adapted.summary.splitlines():
            logger.info(line)
        return adapted.model


def make_adapted_learner(base: str, seed: int = 0) -> AdaptedLearner:
    """Create the learner `spacy-lpcfg.Adapt.v1` of an `lpcfg_parser`; arguments are those of `AdaptedLearner`.

    RAISES (ValueError): If `base` is empty.
    """
    TEXT(base=base)
    return AdaptedLearner(base, seed)


def base_model(name: str) -> ParsingModel:
    """Load a model by its name or file, or from the first trained `lpcfg_parser` of a pipeline folder.

    name (str): The name of a pretrained model such as "en", the path of a file, or the path of a folder.
    RAISES (ValueError): If the file is not a model, or the folder has no trained `lpcfg_parser`.
    RAISES (OSError): If there is no such model, file or folder.
    """
    if not Path(name).is_dir():
        return load(name)
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    for _, pipe in load_model(name).pipeline:
        if isinstance(pipe, LPCFGParser) and pipe.learned is not None:
            return pipe.learned
    raise ValueError(f"Expected the folder of a pipeline with an lpcfg_parser that has learned, got {name!r}.")
