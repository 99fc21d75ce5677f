"""Measure what a parser's probabilities are good for: how right its brackets, tags and trees are where it is sure.

    python -m benchmarks.accuracy.confidence [MODEL...] --trees TREES... [--fit TREES] [--peer COMMAND] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. Every file of TREES is a domain, of its
name with that of its folder. Words alone are parsed. Three tables:

- calibration: the expected calibration error of brackets, tags and whole trees (ten bins), the Brier scores of
  brackets and tags, the mean squares of probability minus outcome, and the log-loss of all three, the mean of
  -ln P(outcome), where no outcome is less probable than 1e-6; with --fit also those of the models under the tau that
  suits those trees best;
- selective prediction: F1 of labelled brackets (all lengths, punctuation and all brackets counted) and the share of
  trees that are right as a whole, of the surest 50, 80, 90 and 100% of the sentences by P(tree | words);
- thresholds: precision and recall of brackets, and accuracy and share of tags, with at least a probability.

Columns with ± are standard errors, by 100 samples of the sentences with replacement.

Another parser's COMMAND is run without a shell. It parses the sentences of {words}, one a line, words between spaces,
and writes to {output} an object a line with the keys spans, tags and tag_scores, as `spacy-lpcfg parse --format jsonl`
does; the lists are empty where it has no tree. Such sentences are the least sure ones. Its trees have the product of
their brackets' probabilities in place of P(tree | words). For the Berkeley Parser:

    java -cp BerkeleyParser-1.7.jar benchmarks/accuracy/BerkeleyPosteriors.java GRAMMAR {words} {output}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from benchmarks import peers
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.evaluation.calibration import DomainOutcomes, fit_tau, outcomes, reliability
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees import Tree

SHARES = (50, 80, 90, 100)  # % of sentences
THRESHOLDS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
N_SAMPLES = 100
KINDS = ("brackets", "tags", "trees")
LEAST = 1e-6  # of a probability in a log-loss

Parses = Callable[[list[Tree]], list[Parse]]
"""Parses the words of gold trees."""


class Rated(NamedTuple):
    """A parser whose probabilities are measured; `fitted` is the same parser with a tau that suits other trees."""

    name: str
    parses: Parses
    fitted: Parses | None = None

    @classmethod
    def of_model(cls, model: str, held_out: list[Tree]) -> Rated:
        """Load a model; fit tau to the held-out trees if there are any."""
        pipe = find_parser(load_pipeline(model))
        parser = pipe.ready_parser()
        rated = cls(Path(model).name, partial(measure.parsed, parser))
        if not held_out:
            return rated
        queries = parser.prepare([Query(gold.words) for gold in held_out])
        pipe.output = replace(pipe.output, tau=fit_tau(parser, queries, held_out))
        return rated._replace(fitted=partial(measure.parsed, pipe.ready_parser()))


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="*", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True, metavar="TREES")
    arguments.add_argument("--fit", type=Path, metavar="TREES", help="to fit tau on")
    arguments.add_argument("--peer", metavar="COMMAND")
    args = arguments.parse_args()
    domains = {f"{path.parent.name}/{path.stem}": measure.read_gold(path) for path in args.trees}
    held_out = measure.read_gold(args.fit) if args.fit else []
    tables: dict[str, list[measure.Row]] = {"Calibration": [], "The surest sentences": [], "Thresholds": []}
    peer = [Rated("peer", partial(parses_by, args.peer))] if args.peer else []
    for rated in [*(Rated.of_model(model, held_out) for model in args.models), *peer]:
        for name, golds in domains.items():
            measure.progress(f"{rated.name} {name}")
            rows_by_table = rows_of(rated.parses(golds), golds, rated.fitted and rated.fitted(golds))
            for title, rows in zip(tables, rows_by_table, strict=True):
                tables[title] += [{"model": rated.name, "domain": name, **row} for row in rows]
    measure.report(tables, args.json)


def parses_by(command: str, golds: list[Tree]) -> list[Parse]:
    """Parse the words of gold trees by a command; a sentence that it has no tree for has no brackets."""
    lines, _ = peers.output_of(command, golds, lambda path: path.read_text("utf-8").splitlines())
    return [read_parse(gold, line) for gold, line in zip(golds, lines, strict=True)]


def read_parse(gold: Tree, line: str) -> Parse:
    """Return the parse of a gold tree's words that an object of JSON describes; one without brackets has no tags."""
    parse = json.loads(line)
    spans = [(span["start"], span["end"], span["label"]) for span in parse["spans"]]
    scores = np.array([span["score"] for span in parse["spans"]])
    tags = parse["tags"] or [""] * len(gold.words)
    tag_scores = np.array(parse["tag_scores"] or [0.0] * len(gold.words))
    probability = float(np.prod(scores)) if spans else 0.0
    return Parse(gold.words, tags, spans, scores, tag_scores, float("nan"), PARSED, probability)


def rows_of(parses: list[Parse], golds: list[Tree], fitted: list[Parse] | None) -> tuple[list[measure.Row], ...]:
    """Return the rows of the three tables for the parses of a domain, and for those under a fitted tau."""
    domain = DomainOutcomes.of(parses, golds)
    calibration = calibration_errors(domain)
    if fitted:
        errors = calibration_errors(DomainOutcomes.of(fitted, golds))
        calibration |= {f"fitted: {name}": error for name, error in errors.items()}
    sentences = [Judged.of(*pair) for pair in zip(parses, golds, strict=True)]
    selection = selected(sentences)
    calibration["± brackets, %"], selection["± F1, 50%"], selection["± F1, 100%"] = standard_errors(sentences)
    n_gold = sum(sentence.n_gold for sentence in sentences)
    return [calibration], [selection], list(above(domain.brackets, domain.tags, n_gold))


class Judged(NamedTuple):
    """The brackets of a parse beside those of the gold tree.

    scores (float64, (n_brackets,)): Their probabilities.
    are_right (bool, (n_brackets,)): Whether the gold tree has them.
    n_gold (int): The number of brackets of the gold tree.
    is_right (bool): Whether the trees have the same brackets.
    probability (float): P(tree | words), 0 if it is not known.
    """

    scores: np.ndarray
    are_right: np.ndarray
    n_gold: int
    is_right: bool
    probability: float

    @classmethod
    def of(cls, parse: Parse, gold: Tree) -> Judged:
        (scores, are_right), spans = outcomes([parse], [gold]), gold.spans()
        probability = 0.0 if np.isnan(parse.probability) else parse.probability
        return cls(scores, are_right, len(spans), sorted(parse.spans) == sorted(spans), probability)


def calibration_errors(domain: DomainOutcomes) -> measure.Row:
    errors = zip(KINDS, domain.expected_errors(), strict=True)
    return {
        **{f"{what}, %": 100 * error for what, error in errors},
        "Brier, brackets": brier(*domain.brackets),
        "Brier, tags": brier(*domain.tags),
        **{f"log-loss, {what}": log_loss(*pair) for what, pair in zip(KINDS, domain, strict=True)},
    }


def brier(probabilities: np.ndarray, are_right: np.ndarray) -> float:
    return float(np.mean(np.square(probabilities - are_right)))


def log_loss(probabilities: np.ndarray, are_right: np.ndarray) -> float:
    """Return the mean of -ln P(outcome), in nats."""
    return -float(np.mean(np.log(np.maximum(np.where(are_right, probabilities, 1 - probabilities), LEAST))))


def selected(sentences: list[Judged]) -> measure.Row:
    """Return F1 and the share of right trees, in %, of each share of the sentences with the likeliest trees."""
    likeliest = sorted(sentences, key=lambda sentence: -sentence.probability)
    row: measure.Row = {}
    for share in SHARES:
        kept = likeliest[: round(len(likeliest) * share / 100)]
        n_right = sum(np.count_nonzero(sentence.are_right) for sentence in kept)
        n_brackets = sum(len(sentence.scores) + sentence.n_gold for sentence in kept)
        row[f"F1, {share}%"] = 200 * n_right / n_brackets
        row[f"right, {share}%"] = 100 * sum(sentence.is_right for sentence in kept) / len(kept)
    return row


def standard_errors(sentences: list[Judged]) -> list[float]:
    """Return those of the brackets' calibration error and of F1 at 50 and 100% of the sentences, in %."""
    rng = np.random.default_rng(0)
    values = []
    for indices in rng.integers(len(sentences), size=(N_SAMPLES, len(sentences))):
        sample = [sentences[index] for index in indices]
        scores, are_right = (np.concatenate([sentence[field] for sentence in sample]) for field in (0, 1))
        row = selected(sample)
        values.append((100 * reliability(scores, are_right).expected_error, row["F1, 50%"], row["F1, 100%"]))
    return np.std(values, axis=0).tolist()


def above(
    brackets: tuple[np.ndarray, np.ndarray], tags: tuple[np.ndarray, np.ndarray], n_gold: int
) -> Iterator[measure.Row]:
    """Yield a row for each threshold."""
    for threshold in THRESHOLDS:
        right, right_tags = (are_right[scores >= threshold] for scores, are_right in (brackets, tags))
        yield {
            "at least": threshold,
            "precision of brackets": 100 * float(right.mean()),
            "recall": 100 * float(right.sum() / n_gold),
            "accuracy of tags": 100 * float(right_tags.mean()),
            "share of tags, %": 100 * len(right_tags) / len(tags[1]),
        }


if __name__ == "__main__":
    main()
