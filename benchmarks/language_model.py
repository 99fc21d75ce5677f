"""The Brown half of Table 2 of Cohen and Collins (2014) again, beside its numbers: the model of Saul and Pereira.

    python benchmarks/language_model.py BROWN [--states M...] [--json FILE]

BROWN is the Brown corpus in its own order, plain or .gz, with blanks between tokens of the form word/tag; the tags are
not used. The first 800,000 tokens are learned from, those of them that are seen once being unknown; of the next 200,000
the first half chooses the number of iterations of EM, and the second half gives the table's figures; the rest is the
test text, on which each method has the number of states that is best on the second half. Unknown words do not count.

As the table's figures show when repeated, the paper's text is one stream of tokens without ends of sentences; so is it
here. Seconds are of CPU, from counted bigrams on. The mixture is of the best pivot + EM, weighed on the first half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import measure
import numpy as np

from spacy_lpcfg.language_model import EM, LanguageModel, Pivot, PivotEM, fit, interpolate, read_sentences

N_TRAIN, N_DEV = 800_000, 200_000
STATES = (2, 4, 8, 16, 32, 128, 256)
MOST_ITERATIONS = 30
BI_KN, TRI_KN, MIXTURE = "bi-KN", "tri-KN", "pivot+EM, bi-KN and tri-KN mixed"

# Perplexity on the second half of the development text by m, the iterations that it took, and on the test text.
PAPER: dict[str, dict[int, float]] = {
    "EM": dict(zip(STATES, (737, 599, 488, 468, 430, 388, 365))),
    "pivot": dict(zip(STATES, (852, 718, 605, 559, 537, 426, 597))),
    "pivot+EM": dict(zip(STATES, (758, 582, 502, 425, 374, 310, 327))),
}
PAPER_ITERATIONS: dict[str, dict[int, int]] = {
    "EM": dict(zip(STATES, (14, 14, 19, 12, 10, 9, 8))),
    "pivot+EM": dict(zip(STATES, (2, 3, 2, 1, 1, 1, 1))),
}
PAPER_TEST = {"EM": 364, "pivot": 560, "pivot+EM": 357, BI_KN: 415, TRI_KN: 394}

Text = list[list[str]]


@dataclass(frozen=True)
class Texts:
    """The parts of the corpus, each as one sequence of words."""

    train: Text
    choose: Text
    judge: Text
    test: Text

    @classmethod
    def of(cls, path: Path) -> Texts:
        """Of a tagged corpus, the tags of which are cut off."""
        words = [token.rpartition("/")[0] for sentence in read_sentences(path) for token in sentence]
        ends = [0, N_TRAIN, N_TRAIN + N_DEV // 2, N_TRAIN + N_DEV, len(words)]
        return cls(*([words[start:end]] for start, end in pairwise(ends)))


@dataclass(frozen=True)
class Result:
    """One cell of the table."""

    method: str
    m: int
    model: LanguageModel
    iterations: int
    seconds: float
    perplexity: float


def learn(texts: Texts, method: str, m: int) -> Result:
    """The model of one method with the number of iterations that is best on the development text's first half."""
    learner = {
        "EM": EM(n_states=m, n_iterations=MOST_ITERATIONS),
        "pivot": Pivot(n_states=m),
        "pivot+EM": PivotEM(n_states=m, n_iterations=MOST_ITERATIONS),
    }[method]
    model, history = fit(texts.train, learner, dev=texts.choose)
    first = 1 if method == "pivot+EM" else 0  # the paper's has one iteration at least
    chosen = min(history[first:], key=lambda iteration: iteration.dev.bits)
    if chosen.n != int(np.argmin([iteration.dev.bits for iteration in history])):
        model, _ = fit(texts.train, replace(learner, n_iterations=chosen.n))
    perplexity = model.perplexity(texts.judge).perplexity
    return Result(method, m, model, chosen.n, history[-1].seconds, perplexity)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("brown", type=Path, metavar="BROWN")
    arguments.add_argument("--states", type=int, nargs="+", default=list(STATES), metavar="M")
    args = arguments.parse_args()
    texts = Texts.of(args.brown)
    results: list[Result] = []
    for method in PAPER:
        for m in args.states:
            measure.progress(f"{method}, m = {m}")
            results.append(learn(texts, method, m))
    best = {method: best_of(results, method) for method in PAPER}
    report = {"Second half of the development text": table(results), "Test text": test_table(texts, best)}
    measure.report(report, args.json)


def best_of(results: Sequence[Result], method: str) -> Result:
    return min((each for each in results if each.method == method), key=lambda each: each.perplexity)


def table(results: Sequence[Result]) -> list[measure.Row]:
    """A row a result, beside the paper's."""
    return [
        {
            "method": each.method,
            "m": each.m,
            "perplexity": each.perplexity,
            "paper's": PAPER[each.method].get(each.m),
            "iterations of EM": each.iterations,
            "paper's iterations": PAPER_ITERATIONS.get(each.method, {}).get(each.m),
            "CPU s": each.seconds,
        }
        for each in results
    ]


def test_table(texts: Texts, best: dict[str, Result]) -> list[measure.Row]:
    """Perplexity of the test text under the best model of each method, n-grams, and their mixture."""
    mixture = interpolate(best["pivot+EM"].model, texts.train, texts.choose)
    models = {method: each.model for method, each in best.items()}
    models[BI_KN], models[TRI_KN] = (replace(mixture, weights=np.eye(3)[order]) for order in (1, 2))
    models[MIXTURE] = mixture
    return [
        {
            "model": name,
            "m": best[name].m if name in best else None,
            "weights": " ".join(f"{weight:.2f}" for weight in model.weights) if name == MIXTURE else "",
            "perplexity": model.perplexity(texts.test).perplexity,
            "paper's": PAPER_TEST.get(name),
        }
        for name, model in models.items()
    ]


if __name__ == "__main__":
    main()
