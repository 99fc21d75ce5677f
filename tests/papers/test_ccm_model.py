"""The constituent-context model: its EM against one that lists all trees and keeps all its distributions."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from oracles.binary_trees import Spans, all_trees

from benchmarks.papers.ccm_model import CCM, Index

Tags = Sequence[str]
Event = tuple[str, tuple[str, ...]]
TEXT = [tags.split() for tags in ("D N V", "D N V D N", "N V D N", "D A N V", "N V P D N", "D N P N V", "N V")]
TEXT += [tags.split() for tags in ("P N V D A N", "D N V P N", "V D N")]


class Enumerated:
    """Klein and Manning (2002), literally: four distributions, and every span of every tree counts in two of them."""

    def __init__(self, text: list[Tags], constituents: float = 2, distituents: float = 8) -> None:
        self.text = text
        self.extra = {True: constituents, False: distituents}
        self.types = {event for tags in text for span in spans_of(tags) for event in events(tags, span)}
        self.maximize([self.split_uniformly(tags) for tags in text])

    def split_uniformly(self, tags: Tags) -> dict[Spans, float]:
        def probability(spans: Spans) -> float:
            return math.prod(1 / (end - start - 1) for start, end in spans)

        return {spans: probability(spans) for spans in all_trees(0, len(tags))}

    def maximize(self, posteriors: list[dict[Spans, float]]) -> None:
        counts: dict[bool, Counter[Event]] = defaultdict(Counter)
        for tags, posterior in zip(self.text, posteriors, strict=True):
            for tree, probability in posterior.items():
                for span in spans_of(tags):
                    for event in events(tags, span):
                        counts[is_in(span, tree)][event] += probability
        self.probabilities: dict[tuple[bool, Event], float] = {}
        for is_bracket, extra in self.extra.items():
            for kind in ("yield", "context"):
                types = [event for event in self.types if event[0] == kind]
                total = sum(counts[is_bracket][event] + extra for event in types)
                for event in types:
                    self.probabilities[is_bracket, event] = (counts[is_bracket][event] + extra) / total

    def joint(self, tags: Tags, tree: Spans) -> float:
        return math.prod(
            self.probabilities[is_in(span, tree), event] for span in spans_of(tags) for event in events(tags, span)
        )

    def posterior(self, tags: Tags) -> dict[Spans, float]:
        joint = {tree: self.joint(tags, tree) for tree in all_trees(0, len(tags))}
        total = sum(joint.values())
        return {tree: value / total for tree, value in joint.items()}

    def iterate(self) -> None:
        self.maximize([self.posterior(tags) for tags in self.text])


def spans_of(tags: Tags) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(tags)) for j in range(i + 1, len(tags) + 1)]


def events(tags: Tags, span: tuple[int, int]) -> list[Event]:
    start, end = span
    padded = ["<edge>", *tags, "<edge>"]
    return [("yield", tuple(tags[start:end])), ("context", (padded[start], padded[end + 1]))]


def is_in(span: tuple[int, int], tree: Spans) -> bool:
    return span in tree or span[1] - span[0] == 1


@pytest.mark.parametrize(("n_iterations", "smoothing"), [(0, ()), (1, ()), (4, ()), (1, (0.5, 1))])
def test_ccm_is_the_model_that_lists_all_trees(n_iterations, smoothing):
    oracle = Enumerated(TEXT, *smoothing)
    for _ in range(n_iterations):
        oracle.iterate()
    model = CCM(n_iterations, *smoothing).fit(TEXT)
    for tags in TEXT:
        trees = {tree: oracle.joint(tags, tree) for tree in all_trees(0, len(tags))}
        first, *others = sorted(trees.values(), reverse=True)
        assert trees[tuple(model.bracket(tags))] == pytest.approx(first)
        assert not others or others[0] < first * (1 - 1e-6), "a tie would show nothing"
        assert model.log_likelihood([tags, ["N"]]) == pytest.approx(math.log(sum(trees.values())))


def test_ccm_random_starts_repeat_by_their_seed():
    starts = [CCM(n_iterations=0, seed=seed).fit(TEXT) for seed in (1, 1, 2)]
    first, same, other = (model.yields for model in starts)
    assert np.array_equal(first, same)
    assert not np.allclose(first, other)


def test_ccm_numbers_yields_as_their_tags_differ():
    sentences = [["A", "B"], ["B", "B"]]
    index = Index("AB")
    learned = index.spans(sentences, is_learning=True)
    assert len(index.yields) == len({tuple(tags[i:j]) for tags in sentences for i, j in spans_of(tags)})
    unknown = index.spans([["A", "B", "NEW"]])
    ids = dict(zip(zip(unknown.starts.tolist(), unknown.ends.tolist(), strict=True), unknown.yields[0], strict=True))
    assert ids[0, 2] == learned.yields[0, 1]
    assert {ids[span] for span in ((2, 3), (1, 3), (0, 3))} == {len(index.yields)}


def test_ccm_brackets_what_it_never_saw():
    model = CCM(n_iterations=2).fit(TEXT)
    assert model.bracket([]) == model.bracket(["NEW"]) == []
    assert model.bracket(["NEW", "D"]) == [(0, 2)]
    for tags in (["NEW"] * 5, ["D", "N", "NEW", "V", "D", "A", "N"], ["N"] * 200):
        assert len(model.bracket(tags)) == len(tags) - 1
    assert (0, 2) in model.bracket(["D", "N", "V", "NEW"])
