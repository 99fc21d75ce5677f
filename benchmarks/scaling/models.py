"""The pipelines that the curves of parsing are of, learned when they are asked for and kept. Not a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from benchmarks import measure
from spacy_lpcfg.bracketing import SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.evidence.learner import EvidenceLearner
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import Pivot, Spectral
from spacy_lpcfg.trees import Tree, read_trees

PARSERS = ("pivot", "isbn")
MODELS = (*PARSERS, "bracketer")
WITH_STATES: dict[str, type[Pivot | Spectral]] = {"pivot": Pivot, "spectral": Spectral}


@dataclass(frozen=True)
class Models:
    """Pipelines by their names: those of `MODELS`, and such as pivot-8, a learner of `WITH_STATES` with its states.

    treebank (Path): The file to learn from.
    n_trees (int or None): Of its first trees only; None for all.
    folder (Path): Of the pipelines; those that are there are not learned again.
    """

    treebank: Path
    n_trees: int | None
    folder: Path

    def path(self, name: str) -> Path:
        """The folder of a pipeline, which is learned if it is not there."""
        path = self.folder / (name if self.n_trees is None else f"{name}-of-{self.n_trees}-trees")
        if not path.exists():
            measure.progress(f"learning {name}")
            measure.in_child(learn, self, name, path)
        return path

    def trees(self) -> Iterator[Tree]:
        return islice(read_trees(self.treebank), self.n_trees)

    def sentences(self) -> Iterator[TaggedSentence]:
        return islice(read_tagged(self.treebank), self.n_trees)


def learn(models: Models, name: str, path: Path) -> None:
    """Learn a pipeline and save it."""
    if name == "isbn":
        save(path, "isbn_parser", "isbn", ISBNLearner().fit(models.trees()))
    elif name == "bracketer":
        save(path, "spectral_bracketer", "bracketer", SpectralBracketer().fit(models.sentences))
    else:
        save(path, "lpcfg_parser", "grammar", _learner(name).fit(models.trees()))


def _learner(name: str) -> Any:
    if name == "pivot":
        return EvidenceLearner(Pivot())
    learner, _, n_states = name.rpartition("-")
    return WITH_STATES[learner](n_states=int(n_states))


def save(path: Path, component: str, attribute: str, model: Any) -> None:
    """Save a pipeline of one component with what it has learned."""
    nlp: Language = spacy.blank("en")
    setattr(nlp.add_pipe(component), attribute, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    nlp.to_disk(part)
    part.rename(path)


def parse_of(path: Path) -> Callable[[list[str], list[str]], object]:
    """Return the native call of the pipeline in a folder, which parses words or brackets tagged words."""
    component = spacy.load(path).pipeline[0][1]
    if component.name == "spectral_bracketer":
        return component.bracketer.bracket
    parser = component.ready_parser().parser
    return lambda words, tags: parser.parse(words)
