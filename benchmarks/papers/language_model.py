"""The Brown half of Table 2 of Cohen and Collins (2014) again: the model of Saul and Pereira.

    python -m benchmarks.papers.language_model BROWN [--methods NAME...] [--states M...] [--seed S] [--variant paper]
        [--candidates N] [--json FILE]

BROWN is the Brown corpus in its own order, plain or .gz, with blanks between tokens of the form word/tag; the tags are
not used. The first 800,000 tokens are learned from, those of them that are seen once being unknown; of the next 200,000
the first half chooses the number of iterations of EM, and the second half gives the table's figures; the rest is the
test text, on which each method has the number of states that is best on the second half. Unknown words do not count.

As the table's figures show when repeated, the paper's text is one stream of tokens without ends of sentences; so is it
here. All rows are of the same tokens, but for those of models that know the words seen once, as the paper's n-grams
seem to. Seconds are of CPU, from counted bigrams on. The mixture is of the best pivot + EM, weighed on the first half.
Modified Kneser-Ney models have three discounts an order (SRILM's kndiscount); others, and those in the mixture, have
one. `--methods` without names leaves n-grams alone. `--candidates` looks for pivots among the N m most frequent words.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.language_model import LanguageModel, Perplexity, read_sentences
from spacy_lpcfg.language_model.kneser_ney import KneserNey, count_ngrams
from spacy_lpcfg.language_model.learning import LanguageModelLearner, interpolate
from spacy_lpcfg.language_model.text import UNKNOWN_ID, TextVocabulary

N_TRAIN, N_DEV = 800_000, 200_000
METHODS = ("EM", "pivot", "pivot+EM")
STATES = (2, 4, 8, 16, 32, 128, 256)
MOST_ITERATIONS = 30
N_GRAMS = {"bi-KN": 2, "tri-KN": 3}
MODIFIED = ", modified"
KNOWING_ALL, MIXTURE = ", words seen once known", "pivot+EM, bi-KN and tri-KN mixed"
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
        """Read a tagged corpus without its tags."""
        words = [token.rpartition("/")[0] for sentence in read_sentences(path) for token in sentence]
        ends = [0, N_TRAIN, N_TRAIN + N_DEV // 2, N_TRAIN + N_DEV, len(words)]
        return cls(*([words[start:end]] for start, end in pairwise(ends)))


@dataclass(frozen=True)
class NGrams:
    """A Kneser-Ney model of the known words of a text."""

    vocabulary: TextVocabulary
    model: KneserNey

    @classmethod
    def of(cls, text: Text, order: int, *, rare: int, is_modified: bool) -> NGrams:
        vocabulary = TextVocabulary.of(text, rare=rare)
        grams = count_ngrams(vocabulary.trigrams(text))
        return cls(vocabulary, KneserNey(*grams, len(vocabulary), order, is_modified=is_modified))

    def perplexity(self, text: Text) -> Perplexity:
        trigrams = self.vocabulary.trigrams(text)
        known = trigrams[trigrams[:, 2] != UNKNOWN_ID]
        bits = -float(np.log2(self.model.probabilities(known)).mean())
        return Perplexity(2**bits, bits, len(known), len(trigrams) - len(known))


@dataclass(frozen=True)
class Result:
    """A model, with its perplexity on the second half of the development text."""

    method: str
    m: int
    model: LanguageModel
    perplexity: float
    iterations: int
    seconds: float

    def row(self) -> measure.Row:
        cells = {"method": self.method, "m": self.m, "perplexity": self.perplexity}
        return {**cells, "iterations of EM": self.iterations, "CPU s": self.seconds}


def learn(texts: Texts, method: str, m: int, args: argparse.Namespace) -> Result:
    """The model of one method with the number of iterations that is best on the development text's first half."""
    settings = {"method": method.lower().replace("+", "-"), "n_states": m, "seed": args.seed}
    learner = LanguageModelLearner.variant(
        args.variant, **settings, n_iterations=None if method == "pivot" else MOST_ITERATIONS
    )
    if args.candidates is not None:
        learner = replace(learner, pivots=replace(learner.pivots, candidates=args.candidates))
    model, history = learner.fit(texts.train, held_out=texts.choose)
    first = 1 if method == "pivot+EM" else 0  # the paper's has one iteration at least
    chosen = min(history[first:], key=lambda iteration: iteration.dev.bits)
    if chosen.n != int(np.argmin([iteration.dev.bits for iteration in history])):
        model, _ = replace(learner, n_iterations=chosen.n).fit(texts.train)
    return Result(method, m, model, model.perplexity(texts.judge).perplexity, chosen.n, history[-1].seconds)


def main() -> None:
    arguments = measure.arguments(__doc__, states=list(STATES), seed=0)
    arguments.add_argument("brown", type=Path, metavar="BROWN")
    arguments.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS), metavar="NAME")
    arguments.add_argument("--variant", default="default", help="of the learners: default or paper")
    arguments.add_argument("--candidates", type=float, metavar="N", help="pivots are among the N m most frequent words")
    args = arguments.parse_args()
    texts, results, tables = Texts.of(args.brown), [], {}
    for method, m in product(args.methods, args.states):
        measure.progress(f"{method}, m = {m}")
        results.append(learn(texts, method, m, args))
    if results:
        tables["Second half of the development text"] = [result.row() for result in results]
    by_method = {method: [result for result in results if result.method == method] for method in args.methods}
    best = {method: min(of_method, key=lambda result: result.perplexity) for method, of_method in by_method.items()}
    measure.report({**tables, "Test text": test_table(texts, best, args)}, args.json)


def test_table(texts: Texts, best: dict[str, Result], args: argparse.Namespace) -> list[measure.Row]:
    """Perplexity under the best model of each method and n-grams, and of n-grams and mixtures that know more words."""
    rows = [model_row(texts, method, result.model, result.m) for method, result in best.items()]
    for rare, suffix in ((1, ""), (0, KNOWING_ALL)):
        for (name, order), is_modified in product(N_GRAMS.items(), (False, True)):
            model = NGrams.of(texts.train, order, rare=rare, is_modified=is_modified)
            rows.append(model_row(texts, name + MODIFIED * is_modified + suffix, model))
        if "pivot+EM" in best:
            rows.append(model_row(texts, MIXTURE + suffix, mixture(texts, best["pivot+EM"], rare, args)))
    return rows


def mixture(texts: Texts, chosen: Result, rare: int, args: argparse.Namespace) -> LanguageModel:
    """A model of pivot + EM, learned again if it is to know rarer words, mixed with Kneser-Ney models."""
    model = chosen.model
    if not rare:
        learner = LanguageModelLearner(n_states=chosen.m, seed=args.seed, n_iterations=chosen.iterations, rare=rare)
        model, _ = learner.fit(texts.train)
    return interpolate(model, texts.train, texts.choose)


def model_row(texts: Texts, name: str, model: LanguageModel | NGrams, m: int | None = None) -> measure.Row:
    """A row of a model, with the number of its states."""
    judged, tested = (model.perplexity(text) for text in (texts.judge, texts.test))
    weights = model.weights if isinstance(model, LanguageModel) and name.startswith(MIXTURE) else ()
    return {
        "model": name,
        "m": m,
        "weights": " ".join(f"{weight:.2f}" for weight in weights),
        "second half": judged.perplexity,
        "test": tested.perplexity,
        "vocabulary": len(model.vocabulary),
        "tokens counted": tested.n_tokens,
        "unknown": tested.n_unknown,
    }


if __name__ == "__main__":
    main()
