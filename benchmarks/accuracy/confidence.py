"""Measure what a parser's probabilities are good for: how right its brackets, tags and trees are where it is sure.

    python -m benchmarks.accuracy.confidence MODEL... --trees TREES... [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en; every file of TREES is a domain, of its
name with that of its folder. Words alone are parsed. Three tables, with the component's temperatures:

- calibration: the expected calibration error of brackets, tags and whole trees (ten bins), and the Brier scores of
  brackets and tags, the mean squares of probability minus outcome;
- selective prediction: F1 of labelled brackets (all lengths, punctuation and all brackets counted) and the share of
  trees that are right as a whole, of the surest 50, 80, 90 and 100% of the sentences by the probability of their trees;
- thresholds: precision and recall of brackets, and accuracy and share of tags, with at least a probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from spacy_lpcfg.components.cli.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.parsing_pipe import ParsingPipe
from spacy_lpcfg.evaluation.calibration import DomainOutcomes, tempered
from spacy_lpcfg.parsing.result import Parse
from spacy_lpcfg.trees import Tree

SHARES = (50, 80, 90, 100)  # % of sentences
THRESHOLDS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True, metavar="TREES")
    args = arguments.parse_args()
    domains = {f"{path.parent.name}/{path.stem}": measure.read_gold(path) for path in args.trees}
    tables: dict[str, list[measure.Row]] = {"Calibration": [], "The surest sentences": [], "Thresholds": []}
    for model in args.models:
        nlp = load_pipeline(model)
        pipe = find_parser(nlp, None)
        for name, golds in domains.items():
            measure.progress(f"{model} {name}")
            parser = pipe.ready_parser()
            parses = [parser.parse(gold.words) for gold in golds]
            for title, rows in zip(tables, rows_of(parses, golds, pipe), strict=True):
                tables[title] += [{"model": model, "domain": name, **row} for row in rows]
    measure.report(tables, args.json)


def rows_of(parses: list[Parse], golds: list[Tree], pipe: ParsingPipe) -> tuple[list[measure.Row], ...]:
    """Return the rows of the three tables for the parses of a domain."""
    bracketed = [(parse, gold) for parse, gold in zip(parses, golds, strict=True) if parse.spans]
    parses, golds = [parse for parse, _ in bracketed], [gold for _, gold in bracketed]
    domain = DomainOutcomes.of(parses, golds)
    temperatures = pipe.score_temperature, pipe.output.tag_temperature
    brackets = tempered(domain.brackets[0], temperatures[0]), domain.brackets[1]
    tags = tempered(domain.tags[0], temperatures[1]), domain.tags[1]
    errors = domain.expected_errors(*temperatures)
    calibration: measure.Row = {
        "sentences": len(golds),
        **{f"{what}, %": 100 * error for what, error in zip(("brackets", "tags", "trees"), errors, strict=True)},
        "Brier, brackets": brier(*brackets),
        "Brier, tags": brier(*tags),
    }
    n_gold = np.array([len(gold.spans()) for gold in golds])
    sure = np.argsort(-domain.tree_probabilities(temperatures[0]), kind="stable")
    return (
        [calibration],
        list(selected(domain, n_gold, sure)),
        list(above(brackets, tags, int(n_gold.sum()))),
    )


def brier(probabilities: np.ndarray, are_right: np.ndarray) -> float:
    return float(np.mean(np.square(probabilities - are_right)))


def selected(domain: DomainOutcomes, n_gold: np.ndarray, sure: np.ndarray) -> Iterator[measure.Row]:
    """Yield a row for each share of sentences; `sure` has them in the order of their probability."""
    ends = np.cumsum(domain.n_brackets)
    n_right = np.add.reduceat(domain.brackets[1].astype(np.int64), ends - domain.n_brackets)
    for share in SHARES:
        surest = sure[: round(len(sure) * share / 100)]
        total = domain.n_brackets[surest].sum() + n_gold[surest].sum()
        yield {
            "sentences, %": share,
            "F1": 200 * float(n_right[surest].sum() / total),
            "right, %": 100 * float(domain.are_right[surest].mean()),
        }


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
