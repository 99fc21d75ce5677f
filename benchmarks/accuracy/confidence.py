"""Measure what a parser's probabilities are good for: how right its brackets, tags and trees are where it is sure.

    python -m benchmarks.accuracy.confidence [MODEL...] --trees TREES... [--fit TREES] [--peer COMMAND] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en; COMMAND that of a parser that writes its
k best trees, as in `benchmarks.accuracy.k_best`. Every file of TREES is a domain, of its name with that of its folder.
Words alone are parsed. Three tables, with the component's temperatures, and 1 for the other parser, or for all alike
the temperatures that fit the trees of a file best:

- calibration: the expected calibration error of brackets, tags and whole trees (ten bins), and the Brier scores of
  brackets and tags, the mean squares of probability minus outcome;
- selective prediction: F1 of labelled brackets (all lengths, punctuation and all brackets counted) and the share of
  trees that are right as a whole, of the surest 50, 80, 90 and 100% of the sentences by the probability of their trees:
  the product of the brackets' probabilities, and of the other parser P(tree | words);
- thresholds: precision and recall of brackets, and accuracy and share of tags, with at least a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from benchmarks.accuracy.k_best import parses_by
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.evaluation.calibration import DomainOutcomes, fit_temperature, outcomes, tag_outcomes, tempered
from spacy_lpcfg.parsing.result import Parse
from spacy_lpcfg.trees import Tree

SHARES = (50, 80, 90, 100)  # % of sentences
THRESHOLDS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)


Temperatures = tuple[float, float]
"""Those of brackets and of tags."""


class Rated(NamedTuple):
    """A parser whose probabilities are measured.

    by_tree (bool): Whether `log_probability` of a parse is that of its tree given the words, by which sentences are
        chosen; otherwise by the product of the brackets' probabilities.
    """

    name: str
    parses: Callable[[list[Tree]], list[Parse]]
    temperatures: Temperatures
    by_tree: bool = False

    @classmethod
    def of_model(cls, model: str) -> Rated:
        pipe = find_parser(load_pipeline(model), None)
        parser = pipe.ready_parser()
        temperatures = pipe.score_temperature, pipe.output.tag_temperature
        return cls(Path(model).name, lambda golds: [parser.parse(gold.words) for gold in golds], temperatures)

    @classmethod
    def of_peer(cls, command: str) -> Rated:
        return cls("peer", partial(parses_by, command), (1.0, 1.0), by_tree=True)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="*", metavar="MODEL")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True, metavar="TREES")
    arguments.add_argument("--fit", type=Path, metavar="TREES", help="to fit temperatures to")
    arguments.add_argument("--peer", metavar="COMMAND")
    args = arguments.parse_args()
    domains = {f"{path.parent.name}/{path.stem}": measure.read_gold(path) for path in args.trees}
    held_out = measure.read_gold(args.fit) if args.fit else []
    tables: dict[str, list[measure.Row]] = {"Calibration": [], "The surest sentences": [], "Thresholds": []}
    for rated in [*map(Rated.of_model, args.models), *([Rated.of_peer(args.peer)] if args.peer else [])]:
        temperatures = fitted(rated, held_out) if held_out else rated.temperatures
        for name, golds in domains.items():
            measure.progress(f"{rated.name} {name}")
            rows_by_table = rows_of(rated.parses(golds), golds, temperatures, by_tree=rated.by_tree)
            for title, rows in zip(tables, rows_by_table, strict=True):
                tables[title] += [{"model": rated.name, "domain": name, **row} for row in rows]
    measure.report(tables, args.json)


def fitted(rated: Rated, golds: list[Tree]) -> Temperatures:
    """Return the temperatures with the least calibration errors on trees."""
    parses = rated.parses(golds)
    return fit_temperature(*outcomes(parses, golds)), fit_temperature(*tag_outcomes(parses, golds))


def rows_of(
    parses: list[Parse], golds: list[Tree], temperatures: Temperatures, *, by_tree: bool
) -> tuple[list[measure.Row], ...]:
    """Return the rows of the three tables for the parses of a domain; by_tree: as in `Rated`."""
    bracketed = [(parse, gold) for parse, gold in zip(parses, golds, strict=True) if parse.spans]
    parses, golds = [parse for parse, _ in bracketed], [gold for _, gold in bracketed]
    domain = DomainOutcomes.of(parses, golds)
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
    of_trees = np.array([parse.log_probability for parse in parses])
    sure = np.argsort(-(of_trees if by_tree else domain.tree_probabilities(temperatures[0])), kind="stable")
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
