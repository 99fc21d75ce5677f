"""The protocol of the papers' tables of F1: dev chooses the number of iterations, test is reported."""

import argparse
from collections.abc import Iterator

import pytest

from benchmarks import measure
from benchmarks.papers.parsers import Candidate, Comparison, Learner, Run, summary
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learning import EM, Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.trees import parse_trees

DEV = {0: 70.0, 1: 90.0, 2: 80.0}
TEST = {0: 60.0, 1: 50.0, 2: 65.0}


class Scored(Comparison):
    """A comparison whose grammars have the F1 of DEV and TEST by their iteration."""

    def __init__(self) -> None:
        self.grammars = {i: TreebankPCFG().fit(parse_trees("(S (NP (DT the) (NN cat)) (VBD sat))")) for i in DEV}

    def candidates(self, name: str, learner: Learner) -> Iterator[Candidate]:
        return (Candidate(i, grammar, 2.0 * i, DEV[i]) for i, grammar in self.grammars.items())

    def scores(self, name: str, grammar: object) -> dict[str, float]:
        return {"model": next(TEST[i] for i, candidate in self.grammars.items() if candidate is grammar)}


@pytest.mark.parametrize(("learner", "start"), [(Pivot(), TEST[0]), (EM(), TEST[1])])
def test_papers_parsers_report_the_iteration_that_dev_chooses(learner, start):
    assert Scored().run("a learner", learner) == Run({"model": start}, {"model": TEST[1]}, 1, 2.0, DEV)


def test_papers_parsers_look_at_dev_where_they_are_told():
    comparison = Scored()
    comparison.args = argparse.Namespace(first=None, every=10, iterations=40, after=2)
    assert list(comparison.iterations(EM())) == [10, 20, 30, 40]
    comparison.args.first, comparison.args.every = 20, 2
    assert list(comparison.iterations(EM()))[:3] == [20, 22, 24]
    assert list(comparison.iterations(Pivot())) == [0, 1, 2]


def test_papers_parsers_do_not_parse_dev_for_the_only_grammar():
    comparison = Scored()
    comparison.train = list(parse_trees("(S (NP (DT the) (NN cat)) (VBD sat))"))
    (candidate,) = Comparison.candidates(comparison, "spectral", Spectral(n_states=1))
    assert (candidate.iteration, candidate.dev) == (0, pytest.approx(float("nan"), nan_ok=True))


def scored(tree: str) -> dict[str, measure.Scored]:
    """The scores of a tree for a sentence whose gold tree has four brackets."""
    gold, test = parse_trees("(S (NP (A a)) (VP (B b) (NP (C c))))"), list(parse_trees(tree))
    return {"model": measure.Scored(test, evaluate(gold, test), 0, 1.0)}


def test_papers_parsers_have_a_row_for_pivots_before_em():
    whole, half = scored("(S (NP (A a)) (VP (B b) (NP (C c))))"), scored("(S (NP (A a)) (X (B b) (X (C c))))")
    runs = [Run(half, best, 1, seconds, DEV) for best, seconds in ((half, 2.0), (whole, 4.0))]
    start, best = summary("pivot + EM", 8, runs, [Run(half, half, 20, 8.0, DEV)] * 2)
    column = "F1, model tags"
    assert (start["learner"], start[column]) == ("pivot", "50.00 (50.00 to 50.00)")
    assert (best["learner"], best[column]) == ("pivot + EM", "75.00 (50.00 to 100.00)")
    assert (best["iterations"], best["CPU s"], best["speed-up"]) == ("1, 1", 3.0, 3.0)
