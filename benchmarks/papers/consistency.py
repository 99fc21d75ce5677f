"""Whether learning finds a known grammar: the error of tree probabilities against the number of trees.

    python -m benchmarks.papers.consistency [--trees M...] [--states S] [--repeats N] [--json FILE]
    python -m benchmarks.papers.consistency --treebank FOLDER [--trees M...] [--states S] [--repeats N] [--only NAME...]
        [--sentences N] [--exhaustive] [--rare N] [--json FILE]

Makes N random L-PCFGs, draws M trees from each, and learns from these by the paper's features, without smoothing.
Measures the error of the probabilities of other trees drawn from the grammar, sum |estimate - truth| / sum truth, for
every M its median over the grammars, and the slope between the logarithms of both: theorem 1 of Cohen et al. (2012)
promises that the error falls like 1 / sqrt(M), so that the slope is -0.5. For comparison, the error of one state.

With a treebank, the known grammar is that of pivots with S states (8) that is learned from FOLDER/train.mrg, and
learners are those of `LEARNERS`, or some of them. A tree of a grammar of real size is drawn once only, and its
probability is far below 1: the error of trees is |ln estimate - ln truth| over their words, the median over all trees,
infinite where the estimate is not positive, and the mean over the others. That of brackets is sum |estimate - truth| /
sum truth over the posteriors of all brackets of so many drawn sentences (100). Both are of trees of at most 25 words
that no learner has seen, and both are means over N samples of trees (3), with the range. One state shows what is left
for lack of states, and, without the threshold `min_posterior` of the lexicon, which trees that loses. The error of
brackets is shown apart for sentences whose rarest word is unseen, rare, or seen more than three times among the fewest
trees. `--exhaustive` prunes no chart, and with `--rare 0` no word is emitted by its signature, to tell whether pruning
or signatures flatten the slopes.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import inf, log
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.learning import LexicalSettings, Pivot, Smoothing, Spectral, TreebankPCFG
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.spectral import SpectralEstimate
from spacy_lpcfg.learning.treebank.features import PAPER_INSIDE, PAPER_LEAF, PAPER_OUTSIDE
from spacy_lpcfg.learning.treebank.settings import RuleSettings
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.tree import Span
from spacy_lpcfg.words.signatures import is_signature
from tests.oracles.tensor_form import tree_weight

CATEGORIES, TAGS, WORDS = "AB", "pqr", "abcdef"
BRANCHING = 0.4  # weight of a category beside that of a tag, as a child
CONCENTRATION = 0.3  # of the random parameters: the smaller, the more the states differ
N_TESTED = 1_000
LEARNERS: dict[str, Callable[[int, LexicalSettings], Learner]] = {
    "one state": lambda m, lexical: TreebankPCFG(lexical=lexical),
    "one state, no threshold": lambda m, lexical: TreebankPCFG(replace(lexical, min_posterior=0.0)),
    "spectral": lambda m, lexical: Spectral(n_states=m, lexical=lexical, rules=RuleSettings(exact_tensors=True)),
    "pivot": lambda m, lexical: Pivot(n_states=m, lexical=lexical, n_iterations=0),
    "pivot + EM": lambda m, lexical: Pivot(n_states=m, lexical=lexical),
}
TITLES = (
    "Error of ln P(tree), nats a word",
    "Error of the posteriors of brackets",
    "Error of ln P(tree), nats a word, mean over trees with a probability",
    "Share of trees without a positive probability",
)
TRUE_STATES, LONGEST, N_TREES = 8, 25, 300  # of a grammar of real size, and of what is measured
LEXICAL = LexicalSettings(rare=0, signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)
UNSMOOTHED = Smoothing(c=0.0, nu=1.0)
RAREST = {"unseen": (0, 0), "seen 1 to 3 times": (1, 3), "more often": (4, inf)}


@dataclass(frozen=True)
class Estimate:
    """The estimated parameters of theorem 1, before a grammar rounds and smooths them.

    roots (dict[str, float array (m_a,)]): Of a.
    rules (dict[tuple[str, str, str], float array (m_a, m_b, m_c)]): Of a -> b c.
    words (dict[tuple[str, str], float array (m_a,)]): Of a -> x.
    """

    roots: dict[str, np.ndarray]
    rules: dict[tuple[str, str, str], np.ndarray]
    words: dict[tuple[str, str], np.ndarray]

    @classmethod
    def of(cls, estimate: SpectralEstimate) -> Estimate:
        """Equations (2) and (3) of Cohen et al. (2013), without smoothing."""
        parameters = estimate.parameters(UNSMOOTHED)
        names, m = estimate.treebank.nodes.symbols, parameters.n_states
        counts, emissions = estimate.treebank.counts, parameters.emissions
        root_shares, shapes = counts.roots / counts.roots.sum(), m[counts.rules]
        tensors = np.split(parameters.tensors, np.cumsum(shapes.prod(axis=1))[:-1])
        shares = emissions.counts / counts.symbols[emissions.symbols]
        words = [estimate.treebank.vocabulary.terminals[terminal] for terminal in emissions.terminals]
        return cls(
            roots={name: root_shares[a] * parameters.root_vectors[a, : m[a]] for a, name in enumerate(names)},
            rules={
                (names[a], names[b], names[c]): tensor.reshape(shape)
                for (a, b, c), tensor, shape in zip(counts.rules, tensors, shapes, strict=True)
            },
            words={
                (names[a], word): share * vector[: m[a]]
                for a, word, share, vector in zip(emissions.symbols, words, shares, emissions.vectors, strict=True)
            },
        )

    def weight(self, tree: Tree) -> float:
        """Return the weight of a binary tree (figure 2 of Cohen et al. 2012); 0 if a rule of it was never seen."""

        def inside(node: Tree, children: list[np.ndarray]) -> np.ndarray:
            if node.word is not None:
                return self.words[node.label, node.word]
            left, right = node.children
            return np.einsum("ijk,j,k->i", self.rules[node.label, left.label, right.label], *children)

        try:
            return float(self.roots[tree.label] @ tree.fold(inside))
        except KeyError:
            return 0.0


def all_rules() -> Iterator[Tree]:
    """Small trees that hold every rule and every word under every tag, each category being a root."""
    for a, b, c in product(CATEGORIES, CATEGORIES + TAGS, CATEGORIES + TAGS):
        for word in WORDS:
            yield Tree(a, [_least(b, word), _least(c, word)])


def _least(symbol: str, word: str) -> Tree:
    """The smallest tree of a symbol in one word."""
    if symbol in TAGS:
        return Tree(symbol, word=word)
    return Tree(symbol, [Tree(tag, word=word) for tag in TAGS[:2]])


def random_grammar(n_states: int, rng: np.random.Generator) -> Grammar:
    """A proper grammar of all rules with random latent parameters; its trees are short."""
    grammar = TreebankPCFG(lexical=LEXICAL).fit(all_rules())
    lexicon, rules = grammar.lexicon, grammar.rules
    states = np.full(grammar.n_symbols, n_states, dtype=np.int32)
    roots = rng.gamma(CONCENTRATION, size=(grammar.n_symbols, n_states))
    roots[: grammar.n_preterminals] = 0.0
    tensors = rng.gamma(CONCENTRATION, size=(len(rules), n_states, n_states, n_states))
    tensors *= BRANCHING ** (rules[:, 1:] >= grammar.n_preterminals).sum(axis=1)[:, None, None, None]
    terminals = np.repeat(lexicon.terminals, np.diff(lexicon.offsets))
    vectors = rng.gamma(CONCENTRATION, size=(len(terminals), n_states)) * np.isin(terminals, list(WORDS))[:, None]
    tensors /= _totals(rules[:, 0], tensors.sum(axis=(2, 3)))[:, :, None, None]
    vectors /= _totals(lexicon.symbols, vectors)
    return replace(
        grammar,
        n_states=states,
        root_vectors=(roots / roots.sum()).ravel().astype(np.float32),
        tensors=Tensors.from_dense(tensors.ravel(), states[rules]),
        lexicon=Lexicon(
            lexicon.terminals,
            lexicon.tags,
            lexicon.offsets,
            lexicon.symbols,
            lexicon.weights,
            offsets(states[lexicon.symbols]),
            vectors.ravel().astype(np.float32),
        ),
    )


def _totals(symbols: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For every row the sum of the rows of its symbol."""
    totals = np.zeros((symbols.max() + 1, weights.shape[1]))
    np.add.at(totals, symbols, weights)
    return totals[symbols]


def errors(sizes: list[int], n_states: int, seed: int) -> list[dict[int, float]]:
    """Return the error for each number of trees drawn from a random grammar, by the number of learned states."""
    grammar = random_grammar(n_states, np.random.default_rng(seed))
    drawn = list(islice(sample_trees(grammar, seed=seed), max(sizes)))
    tested = set(islice(sample_trees(grammar, seed=seed + 1_000_000), N_TESTED))
    probabilities = {tree: tree_weight(grammar, tree) for tree in tested}
    paper = Spectral(lexical=LEXICAL, features=Features(PAPER_INSIDE, PAPER_OUTSIDE, PAPER_LEAF))
    by_size = []
    for size in sizes:
        measure.progress(f"grammar {seed}: {size} trees")
        estimates = {m: Estimate.of(replace(paper, n_states=m).estimate(drawn[:size])) for m in (n_states, 1)}
        by_size.append({m: error(estimate, probabilities) for m, estimate in estimates.items()})
    return by_size


def error(estimate: Estimate, probabilities: dict[Tree, float]) -> float:
    """Summed error of the trees' probabilities, as a share of their sum."""
    missed = sum(abs(estimate.weight(tree) - truth) for tree, truth in probabilities.items())
    return missed / sum(probabilities.values())


# Grammars of real size --------------------------------------------------------------------------


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

    def error_of_trees(self, grammar: Grammar) -> tuple[float, float, float]:
        """The median error a word, the mean of trees with a positive probability, and the share of other trees."""
        logs = [log(max(tree_weight(grammar, tree), 0.0) or 1e-320) for tree in self.trees]
        lost = [value < -700 for value in logs]
        missed = [
            inf if is_lost else abs(learned - truth) / len(tree)
            for learned, truth, tree, is_lost in zip(logs, self.logs, self.trees, lost, strict=True)
        ]
        finite = [value for value in missed if value < inf]
        return statistics.median(missed), sum(finite) / max(len(finite), 1), sum(lost) / len(lost)

    def errors_of_marginals(self, grammar: Grammar) -> np.ndarray:
        """Return each sentence's summed error and summed true posteriors, shape (n_sentences, 2)."""
        parser, errors = Parser(grammar, settings=self.chart), []
        for tree, truth in zip(self.trees, self.sentences, strict=False):
            learned = parser.posteriors(Query(tree.words)).brackets
            missed = sum(abs(learned.get(span, 0.0) - truth.get(span, 0.0)) for span in learned.keys() | truth.keys())
            errors.append((missed, sum(truth.values())))
        return np.array(errors)

    def rarest(self, trees: Iterable[Tree]) -> np.ndarray:
        """Return how often the rarest word of each sentence occurs in trees, shape (n_sentences,)."""
        counts = Counter(word for tree in trees for word in tree.words)
        return np.array([min(counts[word] for word in tree.words) for tree in self.trees[: len(self.sentences)]])


def plain(tree: Tree) -> Tree:
    """A tree in which what the known grammar drew as a signature is a word like others, for signatures of its own."""
    words = [re.sub(r"[<> ]", "", word) if is_signature(word) else word for word in tree.words]
    return Tree.from_spans(words, tree.tags, tree.spans())


@dataclass(frozen=True)
class Sample:
    """The errors of learners by trees that were drawn from a known grammar with a seed.

    tables (dict of str to list of Row): By the titles of `TITLES`, a row for each number of trees
    marginals (dict of str to float array (n_sizes, n_sentences, 2)): For each learner, see `Truth.errors_of_marginals`
    rarest (int array (n_sentences,)): See `Truth.rarest`, among the fewest trees
    """

    tables: dict[str, list[measure.Row]]
    marginals: dict[str, np.ndarray]
    rarest: np.ndarray

    @classmethod
    def draw(cls, grammar: Grammar, args: argparse.Namespace, seed: int) -> Sample:
        sizes, n_states = args.trees, args.states or TRUE_STATES
        lexical = LexicalSettings() if args.rare is None else LexicalSettings(rare=args.rare)
        chart = EXHAUSTIVE if args.exhaustive else ChartSettings()
        truth = Truth.of(grammar, 1_000_000 + seed, args.sentences, chart)
        drawn = list(map(plain, islice(sample_trees(grammar, seed=seed), max(sizes))))
        tables: dict[str, list[measure.Row]] = {title: [{"trees": size} for size in sizes] for title in TITLES}
        of_trees, of_marginals, means, lost = tables.values()
        marginals: dict[str, list[np.ndarray]] = {name: [] for name in args.only}
        for i, size in enumerate(sizes):
            for name in args.only:
                measure.progress(f"sample {seed}, {name}: {size} trees")
                learned = LEARNERS[name](n_states, lexical).fit(drawn[:size])
                of_trees[i][name], means[i][name], lost[i][name] = truth.error_of_trees(learned)
                marginals[name].append(truth.errors_of_marginals(learned))
                of_marginals[i][name] = share(marginals[name][-1])
        stacked = {name: np.array(arrays) for name, arrays in marginals.items()}
        return cls(tables, stacked, truth.rarest(drawn[: min(sizes)]))

    def slope(self, name: str, title: str) -> float:
        """The exponent of a learner's column."""
        rows = self.tables[title]
        return measure.slope([row["trees"] for row in rows], [row[name] for row in rows])


def share(errors: np.ndarray) -> float:
    """The error of all sentences as a share of the true posteriors."""
    missed, total = errors.sum(axis=0)
    return float(missed / total)


def report_real(args: argparse.Namespace) -> None:
    """Print errors of each learner by the number of trees, and slopes."""
    grammar = Pivot(n_states=args.states or TRUE_STATES).fit(read_trees(args.treebank / "train.mrg"))
    samples = [Sample.draw(grammar, args, seed) for seed in range(args.repeats or 3)]
    slopes = [
        {
            "learner": name,
            **{title: measure.mean_and_range([s.slope(name, title) for s in samples]) for title in TITLES[:3]},
        }
        for name in args.only
    ]
    tables = {title: summary([sample.tables[title] for sample in samples]) for title in TITLES}
    measure.report(
        {**tables, "Slopes": slopes, "Brackets by the rarest word": rarest_rows(samples, args.trees)}, args.json
    )


def summary(tables: list[list[measure.Row]]) -> list[measure.Row]:
    """The rows of tables of the same shape, with the mean and range of each learner."""
    names = [name for name in tables[0][0] if name != "trees"]
    return [
        {"trees": rows[0]["trees"], **{name: measure.mean_and_range([row[name] for row in rows]) for name in names}}
        for rows in zip(*tables, strict=True)
    ]


def rarest_rows(samples: list[Sample], sizes: list[int]) -> list[measure.Row]:
    """The error of marginals by learner and by the count of a sentence's rarest word among the fewest trees."""
    rarest = np.concatenate([sample.rarest for sample in samples])
    rows = []
    for name in samples[0].marginals:
        errors = np.concatenate([sample.marginals[name] for sample in samples], axis=1)
        for title, (least, most) in RAREST.items():
            group = errors[:, (rarest >= least) & (rarest <= most)]
            shares = [share(of_size) for of_size in group]
            rows.append(
                {
                    "learner": name,
                    "rarest word": title,
                    "sentences": group.shape[1],
                    **{f"{size} trees": value for size, value in zip(sizes, shares, strict=True)},
                    "slope": measure.slope(sizes, shares),
                    "share of the last error, %": 100 * float(group[-1, :, 0].sum() / errors[-1, :, 0].sum()),
                }
            )
    return rows


def main() -> None:
    arguments = measure.arguments(__doc__)
    sizes = [1_000, 3_000, 10_000, 30_000, 100_000]
    arguments.add_argument("--trees", type=int, nargs="+", default=sizes, metavar="M")
    arguments.add_argument("--states", type=int, metavar="S", help="2, or 8 with a treebank")
    arguments.add_argument("--repeats", type=int, metavar="N", help="10, or 3 with a treebank")
    arguments.add_argument("--treebank", type=Path, metavar="FOLDER", help="whose grammar is the known one")
    arguments.add_argument("--only", nargs="+", choices=list(LEARNERS), default=list(LEARNERS), metavar="NAME")
    arguments.add_argument("--sentences", type=int, default=100, metavar="N", help="whose brackets have an error")
    arguments.add_argument("--exhaustive", action="store_true", help="charts are not pruned")
    arguments.add_argument(
        "--rare", type=int, metavar="N", help="words seen at most so often are emitted by signatures"
    )
    args = arguments.parse_args()
    if args.treebank:
        report_real(args)
    else:
        report_random(args.trees, args.states or 2, args.repeats or 10, args.json)


def report_random(sizes: list[int], n_states: int, n_repeats: int, json_path: Path | None) -> None:
    """Print the errors of grammars learned from trees of random ones, and their slopes."""
    by_seed = [errors(sizes, n_states, seed) for seed in range(n_repeats)]
    rows = [
        {
            "trees": size,
            **{
                f"error, m = {m}, %": 100 * statistics.median(by_states[m] for by_states in by_grammar)
                for m in by_grammar[0]
            },
            "error x sqrt(trees)": statistics.median(by_states[n_states] for by_states in by_grammar) * size**0.5,
        }
        for size, by_grammar in zip(sizes, zip(*by_seed, strict=True), strict=True)
    ]
    slopes = [measure.slope(sizes, [by_states[n_states] for by_states in by_size]) for by_size in by_seed]
    spread = {
        "grammars": len(slopes),
        "median": statistics.median(slopes),
        "least": min(slopes),
        "largest": max(slopes),
    }
    measure.report({"Error of tree probabilities": rows, f"Slopes, m = {n_states}": [spread]}, json_path)


if __name__ == "__main__":
    main()
