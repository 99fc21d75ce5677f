"""Whether learning finds a known grammar of real size: errors against the number of trees.

    python -m benchmarks.papers.consistency TREEBANK_DIR [--trees M...] [--states S] [--repeats N] [--only NAME...]
        [--sentences N] [--exhaustive] [--rare N] [--json FILE]

The known grammar is that of pivots with S states (8) that is learned from TREEBANK_DIR/train.mrg. Draws M trees from it
and learns from these. Theorem 3 of Cohen et al. (2012) promises that errors fall like 1 / sqrt(M): a slope of -0.5
between the logarithms of both.

A tree of such a grammar is drawn once only, and its probability is far below 1: the error of trees is
|ln estimate - ln truth| over their words, the median over all trees, infinite where the estimate is not positive. That
of brackets is sum |estimate - truth| / sum truth over the posteriors of all brackets of so many drawn sentences (100).
The slope of single trees is that of each tree's own errors, of trees that no grammar loses: their mean, and quartiles.
Both are of trees of at most 25 words that no learner has seen, and both are means over N samples of trees (3), with the
range. One state shows what is left for lack of states. `--exhaustive` prunes no chart, and with `--rare 0` no word is
emitted by its signature, to tell whether pruning or signatures flatten the slopes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, log
from pathlib import Path

from benchmarks import measure  # isort: skip, before numpy

import numpy as np

from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import LexicalSettings, Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.treebank.settings import RuleSettings
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.tree import Span
from spacy_lpcfg.words.signatures import is_signature
from tests.oracles.enumeration import tree_weight

LEARNERS: dict[str, Callable[[int, LexicalSettings], Learner]] = {
    "one state": lambda m, lexical: TreebankPCFG(lexical=lexical),
    "spectral": lambda m, lexical: Spectral(n_states=m, lexical=lexical, rules=RuleSettings(exact_tensors=True)),
    "pivot": lambda m, lexical: Pivot(n_states=m, lexical=lexical, n_iterations=0),
    "pivot + EM": lambda m, lexical: Pivot(n_states=m, lexical=lexical),
}
TREES, SINGLE, BRACKETS, LOST = (
    "Error of ln P(tree), nats a word",
    "Slopes of single trees",
    "Error of the posteriors of brackets",
    "Share of trees without a positive probability",
)
LONGEST, N_TREES = 25, 300  # words, and trees that are measured
Tables = dict[str, list[measure.Row]]
"""By title, a row for each number of trees with a column for each learner."""


@dataclass(frozen=True)
class Truth:
    """Probabilities by a known grammar of trees that were drawn from it.

    trees (list of Tree): As learners see them
    logs (list of float): ln P(tree)
    sentences (list of dict): Posteriors of the brackets of the words of the first trees
    chart (ChartSettings): Pruning of the charts that posteriors are computed in
    """

    trees: list[Tree]
    logs: list[float]
    sentences: list[dict[Span, float]]
    chart: ChartSettings

    @classmethod
    def of(cls, grammar: Grammar, seed: int, n_sentences: int, chart: ChartSettings) -> Truth:
        drawn = islice((tree for tree in sample_trees(grammar, seed=seed) if len(tree) <= LONGEST), N_TREES)
        trees, parser = list(drawn), Parser(grammar, settings=chart)
        posteriors = [parser.posteriors(Query(tree.words)).brackets for tree in trees[:n_sentences]]
        return cls(list(map(plain, trees)), [parser.tree_log_probability(tree) for tree in trees], posteriors, chart)

    def errors_of_trees(self, grammar: Grammar) -> np.ndarray:
        """Return the error a word of each tree; infinite without a positive probability."""
        weights = [tree_weight(grammar, tree) for tree in self.trees]
        triples = zip(weights, self.logs, self.trees, strict=True)
        errors = [abs(log(weight) - truth) / len(tree) if weight >= 1e-304 else inf for weight, truth, tree in triples]
        return np.array(errors)

    def error_of_brackets(self, grammar: Grammar) -> float:
        """Return the summed error of the sentences' posteriors, as a share of the sum of the true ones."""
        parser, error = Parser(grammar, settings=self.chart), 0.0
        for tree, truth in zip(self.trees, self.sentences, strict=False):
            learned = parser.posteriors(Query(tree.words)).brackets
            error += sum(abs(learned.get(span, 0.0) - truth.get(span, 0.0)) for span in learned.keys() | truth.keys())
        return error / sum(sum(truth.values()) for truth in self.sentences)


def plain(tree: Tree) -> Tree:
    """A tree in which what the known grammar drew as a signature is a word like others, for signatures of its own."""
    words = [re.sub(r"[<> ]", "", word) if is_signature(word) else word for word in tree.words]
    return Tree.from_spans(words, tree.tags, tree.spans())


def sample(grammar: Grammar, args: argparse.Namespace, seed: int) -> Tables:
    """Return the errors of learners by trees that are drawn from a known grammar with a seed."""
    lexical = LexicalSettings() if args.rare is None else LexicalSettings(rare=args.rare)
    truth = Truth.of(grammar, 1_000_000 + seed, args.sentences, EXHAUSTIVE if args.exhaustive else ChartSettings())
    drawn = list(map(plain, islice(sample_trees(grammar, seed=seed), max(args.trees))))
    tables: Tables = {title: [{"trees": size} for size in args.trees] for title in (TREES, BRACKETS, LOST)}
    tables[SINGLE] = [{}]
    for name in args.only:
        errors = []
        for i, size in enumerate(args.trees):
            measure.progress(f"sample {seed}, {name}: {size} trees")
            learned = LEARNERS[name](args.states, lexical).fit(drawn[:size])
            errors.append(truth.errors_of_trees(learned))
            tables[TREES][i][name], tables[LOST][i][name] = np.median(errors[-1]), np.isinf(errors[-1]).mean()
            tables[BRACKETS][i][name] = truth.error_of_brackets(learned)
        tables[SINGLE][0][name] = slopes(args.trees, np.array(errors))
    return tables


def slopes(sizes: Sequence[int], errors: np.ndarray) -> np.ndarray:
    """Return the slopes between the logarithms of sizes and of each tree's errors (n_sizes, n_trees), if finite."""
    finite = errors[:, (np.isfinite(errors) & (errors > 0)).all(axis=0)]
    return np.polyfit(np.log(sizes), np.log(finite), 1)[0]


def summary_of_slopes(samples: list[Tables]) -> list[measure.Row]:
    """Return a row for each learner: the mean slope of single trees (range over samples), and quartiles of all."""
    rows = []
    for name in samples[0][SINGLE][0]:
        by_sample = [tables[SINGLE][0][name] for tables in samples]
        mean = measure.mean_and_range([float(of_sample.mean()) for of_sample in by_sample])
        quartiles = {f"{q}%": float(np.percentile(np.concatenate(by_sample), q)) for q in (25, 50, 75)}
        rows.append({"learner": name, "mean": mean, **quartiles})
    return rows


def summary(samples: list[Tables], title: str) -> list[measure.Row]:
    """Return the rows of a table, with the mean and the range over samples, and a last one with the slopes."""
    sizes = [row["trees"] for row in samples[0][title]]
    names = [name for name in samples[0][title][0] if name != "trees"]
    columns = {name: [[row[name] for row in tables[title]] for tables in samples] for name in names}
    rows = [
        {"trees": size, **{name: measure.mean_and_range([errors[i] for errors in columns[name]]) for name in names}}
        for i, size in enumerate(sizes)
    ]
    if title == LOST:
        return rows
    of_names = {name: measure.mean_and_range([measure.slope(sizes, e) for e in columns[name]]) for name in names}
    return [*rows, {"trees": "slope", **of_names}]


def main() -> None:
    numbers = {"trees": [1_000, 3_000, 10_000], "states": 8, "repeats": 3, "sentences": 100}
    arguments = measure.arguments(__doc__, **numbers, exhaustive=False)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--only", nargs="+", choices=list(LEARNERS), default=list(LEARNERS), metavar="NAME")
    arguments.add_argument("--rare", type=int, metavar="N", help="words seen at most so often have signatures")
    args = arguments.parse_args()
    grammar = Pivot(n_states=args.states).fit(read_trees(args.treebank / "train.mrg"))
    samples = [sample(grammar, args, seed) for seed in range(args.repeats)]
    tables = {title: summary(samples, title) for title in (TREES, BRACKETS, LOST)}
    measure.report({**tables, SINGLE: summary_of_slopes(samples)}, args.json)


if __name__ == "__main__":
    main()
