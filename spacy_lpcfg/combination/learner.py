"""Learning several models of one treebank that decide together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from spacy_lpcfg.blocks import Members, make_tuples
from spacy_lpcfg.combination.combined import Combined, check_weights
from spacy_lpcfg.combination.members import Member, Mirrored, Straight
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.learning.base import Learner, ModelLearned, OnStep, Step, has_functions, renumbered
from spacy_lpcfg.learning.weights import weighted_trees
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.parsing.model import check_temperature
from spacy_lpcfg.trees.transforms import mirror, normalize_rooted
from spacy_lpcfg.trees.tree import Tree

GRAMMARS_SHARE = 0.4


@dataclass(frozen=True)
class MirroredLearner:
    """Learner of a model that reads from right to left.

    learner (Learner): The learner of the model, from mirrored trees.
    """

    learner: Learner

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> Mirrored:
        """Learn from trees; same arguments and errors as the learner."""
        treebank, values = weighted_trees(trees, weights, partial(normalize_rooted, functions=self.functions))
        given = None if values is None else values.tolist()
        golds = None if held_out is None else map(mirror, held_out)
        model = self.backwards.fit(map(mirror, treebank), held_out=golds, weights=given, on_step=on_step)
        return Mirrored(cast(Straight, model))

    @property
    def functions(self) -> bool:
        return has_functions(self.learner)

    @property
    def backwards(self) -> Learner:
        """The learner for mirrored trees, in which the first word of a sentence is the last one."""
        if not isinstance(self.learner, ISBNLearner):
            return self.learner
        return replace(self.learner, lexical=replace(self.learner.lexical, sentence_initial=-1))


@dataclass(frozen=True)
class Combination:
    """Learner of models that decide together, each by a learner of its own.

    learners (sequence of Learner, or mapping of names to such): The learners of the members. Networks of several
        learners are worth more than as many of one ISBN, since each searches by itself, most so in both directions.
    weights (sequence of float or None): The share of each member; None gives grammars and ensembles `GRAMMARS_SHARE`
        together where there are networks too.
    bracket_cost (float), beam (int), temperature (float): See `Combined`.
    lattice (LatticeSettings or bool): See `Combined`; true for the default settings, false for none.
    n_jobs (int): Members that are learned at a time, in processes of joblib's; the result is the same for any number.
    RAISES (ValueError): If there are no learners, if only some of them keep functions, or if a weight or the
        temperature is out of range.
    """

    learners: Members[Learner]
    weights: Sequence[float] | None = None
    bracket_cost: float = 0.42
    beam: int = 30
    n_jobs: int = 1
    temperature: float = 1.0
    lattice: LatticeSettings | bool = True

    def __post_init__(self) -> None:
        make_tuples(self, "learners")
        if self.lattice is True:
            object.__setattr__(self, "lattice", LatticeSettings())
        if not self.learners:
            raise ValueError("Expected at least one learner, got none.")
        if self.weights is not None:
            check_weights(self.weights, len(self.learners))
        check_temperature(self.temperature)
        has_functions(*self.learners)

    @property
    def functions(self) -> bool:
        return has_functions(*self.learners)

    @classmethod
    def both_ways(
        cls,
        *learners: Learner,
        beam: int = Combined.beam,
        n_jobs: int = 1,
        temperature: float = Combined.temperature,
        lattice: LatticeSettings | bool = True,
    ) -> "Combination":
        """Return the combination of learners, each of which learns from left to right and from right to left."""
        mirrored = map(MirroredLearner, learners)
        return cls((*learners, *mirrored), beam=beam, n_jobs=n_jobs, temperature=temperature, lattice=lattice)

    def fit(
        self,
        trees: Iterable[Tree],
        *,
        held_out: Iterable[Tree] | None = None,
        weights: Sequence[float] | None = None,
        on_step: OnStep | None = None,
    ) -> Combined:
        """Learn from trees.

        trees (iterable of Tree): Read once; raw or normalised.
        held_out (iterable of Tree or None): Trees by which each learner that goes by steps chooses the best one.
        weights (sequence of float or None): How much each tree counts; None if all count alike.
        on_step (callable or None): Called with the steps of grammars that are learned by EM, numbered as the members in
            `spacy-lpcfg inspect`, and with `ModelLearned` after each learner.
        RAISES (ValueError): If there are no trees, or if a setting is out of range.
        """
        treebank, golds = list(trees), None if held_out is None else list(held_out)
        calls = ((learner, treebank, golds, weights) for learner in self.learners)
        members: list[Member] = []
        n_before = 0
        for member, steps in in_order(_learned, calls, n_jobs=self.n_jobs):
            members.append(member)
            tell = renumbered(on_step, n_before)
            if on_step is not None and tell is not None:
                for step in steps:
                    tell(step)
                on_step(ModelLearned(len(members), len(self.learners)))
            n_before += len(member.single_models())
        shares = tuple(self.weights or default_weights(members))
        lattice = self.lattice if isinstance(self.lattice, LatticeSettings) else None
        return Combined(tuple(members), shares, self.bracket_cost, self.beam, self.temperature, lattice)


def _learned(
    learner: Learner, trees: Iterable[Tree], held_out: Iterable[Tree] | None, weights: Sequence[float] | None
) -> tuple[Member, list[Step]]:
    """Return a learner's model and the steps of its grammars, so that both come back from another process."""
    steps: list[Any] = []
    member = learner.fit(trees, held_out=held_out, weights=weights, on_step=steps.append)
    return cast(Member, member), [step for step in steps if isinstance(step, Step)]


def default_weights(members: Sequence[Member]) -> list[float]:
    """Return equal shares within each kind; all grammars together get `GRAMMARS_SHARE` if there are networks too."""
    n_networks = sum(member.is_network for member in members)
    n_grammars = len(members) - n_networks
    share = GRAMMARS_SHARE if n_networks and n_grammars else float(n_grammars > 0)
    return [(1 - share) / n_networks if member.is_network else share / n_grammars for member in members]
