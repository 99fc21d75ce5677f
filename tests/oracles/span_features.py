"""Features of labelled spans as texts, their scores by dictionaries, and the descent that learns them."""

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
    """Return the item at each place of a span, "" for nothing."""
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


class Descent:
    """AdaGrad, one candidate after the other; the averages are those of all weights after each step."""

    def __init__(self, penalties: Mapping[object, float], weights: Mapping[object, float], rate: float, start: float):
        self.penalties = penalties
        self.weights = dict(weights)
        self.squares = dict.fromkeys(weights, start)
        self.sums = dict.fromkeys(weights, 0.0)
        self.rate = rate
        self.n_steps = 0

    def score(self, inputs: Mapping[object, float]) -> float:
        return sum(self.weights[name] * value for name, value in inputs.items())

    def step(self, inputs: Mapping[object, float], gradient: float) -> None:
        """One step for a candidate whose loss has this gradient by its score."""
        for name, value in inputs.items():
            of_weight = gradient * value + self.penalties.get(name, 0.0) * self.weights[name]
            self.squares[name] += of_weight**2
            self.weights[name] -= self.rate * of_weight / math.sqrt(self.squares[name])
        for name, weight in self.weights.items():
            self.sums[name] += weight
        self.n_steps += 1

    def averages(self) -> dict[object, float]:
        return {name: total / self.n_steps for name, total in self.sums.items()}
