"""Features of labelled spans as texts, their scores by dictionaries, and the descent that learns them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.stacking.candidates import LENGTHS, signature
from spacy_lpcfg.stacking.templates import MAX_TAGS, TEMPLATES

LEAST = 1e-4


def features(words: Sequence[str], posteriors: Posteriors, known: set[str]) -> list[list[str | None]]:
    """The feature of each template, None for none, of each bracket in turn."""
    names = [word if word in known else signature(word, i == 0) for i, word in enumerate(words)]
    tags = [max(of_word, key=of_word.get) for of_word in posteriors.tags]
    found = []
    for (start, end, label), p in posteriors.brackets.items():
        atoms = {"odds": str(math.floor(log_odds(p))), "length": str(bisect_right(LENGTHS, end - start))}
        if end - start <= MAX_TAGS:
            atoms["all_tags"] = " ".join(tags[start:end])
        for kind, texts in (("word", names), ("tag", tags)):
            atoms |= {f"{place}.{kind}": text for place, text in around(texts, start, end)}
        of_templates = (template.split() for template in TEMPLATES)
        found.append(
            [
                None if set(some) - set(atoms) else f"{label} {some}: {[atoms[atom] for atom in some]}"
                for some in of_templates
            ]
        )
    return found


def around(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[str, str]]:
    """What stands at each place of a span, "" for nothing."""
    inside, before, after = list(texts[start:end]), list(texts[:start]), list(texts[end:])
    yield "first", inside[0]
    yield "second", inside[1] if len(inside) > 1 else ""
    yield "last_but_one", inside[-2] if len(inside) > 1 else ""
    yield "last", inside[-1]
    yield "second_before", before[-2] if len(before) > 1 else ""
    yield "before", before[-1] if before else ""
    yield "after", after[0] if after else ""
    yield "second_after", after[1] if len(after) > 1 else ""


def dense(posteriors: Posteriors) -> list[list[float]]:
    """Log-odds, log-probability and crossing mass of each bracket."""
    crossing = [
        sum(q for (k, m, _), q in posteriors.brackets.items() if i < k < j < m or k < i < m < j)
        for i, j, _ in posteriors.brackets
    ]
    likely = posteriors.brackets.values()
    return [[log_odds(p), math.log(clipped(p)), mass] for p, mass in zip(likely, crossing, strict=True)]


def log_odds(p: float) -> float:
    return math.log(clipped(p) / (1 - clipped(p)))


def clipped(p: float) -> float:
    return min(max(p, LEAST), 1 - LEAST)


def score(of_candidate: Sequence[str | None], weights: Mapping[str, float]) -> float:
    return sum(weights.get(feature, 0.0) for feature in of_candidate if feature)


def loss(score: float, is_gold: bool) -> float:
    return math.log1p(math.exp(-score if is_gold else score))


class Descent:
    """AdaGrad, one candidate after the other; the averages are those of all weights after each step."""

    def __init__(self, penalties: Mapping[object, float], weights: Mapping[object, float], rate: float, start: float):
        self.penalties = penalties
        self.weights = dict(weights)
        self.squares = dict.fromkeys(weights, start)
        self.sums = dict.fromkeys(weights, 0.0)
        self.rate = rate
        self.n_steps = 0

    def loss(self, inputs: Mapping[object, float], is_gold: bool, weights: Mapping[object, float]) -> float:
        """Of one candidate, with the penalties of its features."""
        penalty = sum(self.penalties.get(name, 0.0) * weights[name] ** 2 / 2 for name in inputs)
        return loss(sum(weights[name] * value for name, value in inputs.items()), is_gold) + penalty

    def step(self, inputs: Mapping[object, float], is_gold: bool) -> float:
        """RETURNS (float): the loss before, without penalties."""
        before = sum(self.weights[name] * value for name, value in inputs.items())
        gradients = {name: self.gradient(inputs, is_gold, name) for name in inputs}
        for name, gradient in gradients.items():
            self.squares[name] += gradient**2
            self.weights[name] -= self.rate * gradient / math.sqrt(self.squares[name])
        for name, weight in self.weights.items():
            self.sums[name] += weight
        self.n_steps += 1
        return loss(before, is_gold)

    def gradient(self, inputs: Mapping[object, float], is_gold: bool, name: object, h: float = 1e-5) -> float:
        """By differences."""
        more, less = ({**self.weights, name: self.weights[name] + step} for step in (h, -h))
        return (self.loss(inputs, is_gold, more) - self.loss(inputs, is_gold, less)) / (2 * h)

    def averages(self) -> dict[object, float]:
        return {name: total / self.n_steps for name, total in self.sums.items()}
