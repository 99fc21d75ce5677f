"""Learning in a config that goes on from another model: `spacy-lpcfg.Adapt.v1`."""

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
    """The learner that goes on from a model, which is read when it learns.

    base (str): A model that comes with the package, such as "en", the file of a model, or the folder of a pipeline with
        an `lpcfg_parser`.
    seed (int): Seed of the learner.
    """

    base: str
    seed: int = 0

    def fit(
        self, trees: Iterable[Tree], *, held_out: Iterable[Tree] | None = None, on_step: OnStep | None = None
    ) -> ParsingModel:
        """Return the adapted model, and log what `adapt` tells; `held_out` is of no use.

        RAISES (ValueError): If there is no such model, or too few trees. (OSError): If there is no such file.
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
    """Create `spacy-lpcfg.Adapt.v1`, a `learner` of `lpcfg_parser`; see `AdaptedLearner`.

    RAISES (ValueError): If a name is empty.
    """
    TEXT(base=base)
    return AdaptedLearner(base, seed)


def base_model(name: str) -> ParsingModel:
    """Return a model by its name or file, or that of a pipeline in a folder."""
    if not Path(name).is_dir():
        return load(name)
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    for _, pipe in load_model(name).pipeline:
        if isinstance(pipe, LPCFGParser) and pipe.learned is not None:
            return pipe.learned
    raise ValueError(f"Expected the folder of a pipeline with an lpcfg_parser that has learned, got {name!r}.")
