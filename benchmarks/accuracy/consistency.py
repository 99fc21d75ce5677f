"""Whether spectral learning finds a known grammar: the error of tree probabilities against the number of trees.

    python -m benchmarks.accuracy.consistency [--trees M...] [--states S] [--repeats N] [--json FILE]

Makes N random L-PCFGs, draws M trees from each, and learns from these by the paper's features, without smoothing.
Measures the error of the probabilities of other trees drawn from the grammar, sum |estimate - truth| / sum truth, for
every M its median over the grammars, and the slope between the logarithms of both: theorem 1 of Cohen et al. (2012)
promises that the error falls like 1 / sqrt(M), so that the slope is -0.5. For comparison, the error of one state.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
from oracles.tensor_form import tree_weight

from benchmarks import measure
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar, Lexicon
from spacy_lpcfg.grammar.tensors import Tensors, offsets
from spacy_lpcfg.learning import LexicalSettings, Smoothing, Spectral, TreebankPCFG
from spacy_lpcfg.learning.spectral import SpectralEstimate
from spacy_lpcfg.learning.treebank.features import PAPER_INSIDE, PAPER_LEAF, PAPER_OUTSIDE
from spacy_lpcfg.trees import Tree

CATEGORIES, TAGS, WORDS = "AB", "pqr", "abcdef"
BRANCHING = 0.4  # weight of a category beside that of a tag, as a child
CONCENTRATION = 0.3  # of the random parameters: the smaller, the more the states differ
N_TESTED = 1_000
LEXICAL = LexicalSettings(rare=0, signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)
UNSMOOTHED = Smoothing(c=0.0, nu=1.0)


@dataclass(frozen=True)
class Estimate:
    """What theorem 1 speaks of: the estimated parameters, before a grammar rounds and smooths them.

    roots (dict[str, float array (m_a,)]): of a.
    rules (dict[tuple[str, str, str], float array (m_a, m_b, m_c)]): of a -> b c.
    words (dict[tuple[str, str], float array (m_a,)]): of a -> x.
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
        """Of a binary tree (figure 2 of Cohen et al. 2012); 0 if it has a rule that was never seen."""

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
    grammar = TreebankPCFG(LEXICAL).fit(all_rules())
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
    """Of each number of trees drawn from one random grammar: the error by learned states, all and one."""
    grammar = random_grammar(n_states, np.random.default_rng(seed))
    drawn = list(islice(sample_trees(grammar, seed=seed), max(sizes)))
    tested = set(islice(sample_trees(grammar, seed=seed + 1_000_000), N_TESTED))
    probabilities = {tree: tree_weight(grammar, tree) for tree in tested}
    paper = Spectral(lexical=LEXICAL, inside=PAPER_INSIDE, outside=PAPER_OUTSIDE, leaf=PAPER_LEAF)
    found = []
    for size in sizes:
        measure.progress(f"grammar {seed}: {size} trees")
        estimates = {m: Estimate.of(replace(paper, n_states=m).estimate(drawn[:size])) for m in (n_states, 1)}
        found.append({m: error(estimate, probabilities) for m, estimate in estimates.items()})
    return found


def error(estimate: Estimate, probabilities: dict[Tree, float]) -> float:
    """Summed error of the trees' probabilities, as a share of their sum."""
    missed = sum(abs(estimate.weight(tree) - truth) for tree, truth in probabilities.items())
    return missed / sum(probabilities.values())


def main() -> None:
    arguments = measure.arguments(__doc__)
    sizes = [1_000, 3_000, 10_000, 30_000, 100_000]
    arguments.add_argument("--trees", type=int, nargs="+", default=sizes, metavar="M")
    arguments.add_argument("--states", type=int, default=2, metavar="S")
    arguments.add_argument("--repeats", type=int, default=10, metavar="N")
    args = arguments.parse_args()
    found = [errors(args.trees, args.states, seed) for seed in range(args.repeats)]
    rows = [
        {
            "trees": size,
            **{f"error, m = {m}, %": 100 * statistics.median(each[m] for each in by_grammar) for m in by_grammar[0]},
            "error x sqrt(trees)": statistics.median(each[args.states] for each in by_grammar) * size**0.5,
        }
        for size, by_grammar in zip(args.trees, zip(*found, strict=True), strict=True)
    ]
    slopes = [measure.slope(args.trees, [each[args.states] for each in by_size]) for by_size in found]
    spread = {
        "grammars": len(slopes),
        "median": statistics.median(slopes),
        "least": min(slopes),
        "largest": max(slopes),
    }
    measure.report({"Error of tree probabilities": rows, f"Slopes, m = {args.states}": [spread]}, args.json)


if __name__ == "__main__":
    main()
