"""The oracle: an L-PCFG as three dictionaries, and everything about a short sentence by listing all its trees.

Slow and obvious on purpose. A model knows symbols and terminals by their names and computes in float64, so that what a
`Grammar`, a learner's `Parameters` and a model written by hand say of the same tree can be compared. Skeletal trees
are `Tree` objects, binarised and collapsed, whose words are terminals.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning.spectral import SpectralEstimate
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, Parameters
from spacy_lpcfg.learning.tuning import Smoothing
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries, expand_unaries, normalize, unbinarize

Item = tuple[str, int, int]  # (a, i, j)
Edge = tuple[str, str, str, int, int, int]  # (a, b, c, i, k, j)


@dataclass(frozen=True)
class Model:
    """An L-PCFG, or what a spectral learner makes of one.

    roots: pi(a, .), (m_a,); binary: t(a -> b c, ., . | a, .), (m_a, m_b, m_c), by (a, b, c); lexical: q(x | a, .),
    (m_a,), by (a, x).
    """

    roots: dict[str, np.ndarray]
    binary: dict[tuple, np.ndarray]
    lexical: dict[tuple, np.ndarray]


def model_of(grammar: Grammar) -> Model:
    """The latent parameters of a grammar."""
    names, lexicon = grammar.symbols, grammar.lexicon
    rows = zip(_row_terminals(grammar), lexicon.symbols, pairwise(lexicon.vector_offsets), strict=True)
    return Model(
        {name: grammar.root_vector(a).astype(float) for a, name in enumerate(names) if grammar.root_vector(a).any()},
        {(names[a], names[b], names[c]): grammar.tensor(r).astype(float) for r, (a, b, c) in enumerate(grammar.rules)},
        {(names[a], x): lexicon.vectors[slice(*place)].astype(float) for x, a, place in rows},
    )


def sums_of_states(grammar: Grammar) -> list[np.ndarray]:
    """Sum the rules and words of each state of each symbol; rows for given tags alone do not count."""
    sums = {name: np.zeros(m) for name, m in zip(grammar.symbols, grammar.n_states, strict=True)}
    model = model_of(grammar)
    for (a, _, _), tensor in model.binary.items():
        sums[a] += tensor.sum(axis=(1, 2))
    shares = grammar.lexicon.words_per_row(grammar.tag_of)
    for ((a, terminal), vector), share in zip(model.lexical.items(), shares, strict=True):
        sums[a] += 0 if terminal.startswith("<tag ") else share * vector
    return list(sums.values())


def pcfg_of(grammar: Grammar) -> Model:
    """The treebank PCFG beneath a grammar, with one state a symbol."""
    names, lexicon = grammar.symbols, grammar.lexicon
    return Model(
        {name: np.array([weight]) for name, weight in zip(names, grammar.root_weights, strict=True) if weight},
        {
            tuple(names[a] for a in rule): np.full((1, 1, 1), w)
            for rule, w in zip(grammar.rules, grammar.rule_weights, strict=True)
        },
        {
            (names[a], x): np.array([weight])
            for x, a, weight in zip(_row_terminals(grammar), lexicon.symbols, lexicon.weights, strict=True)
        },
    )


def _row_terminals(grammar: Grammar) -> list[str]:
    lexicon = grammar.lexicon
    return np.repeat(np.array(lexicon.terminals, dtype=object), np.diff(lexicon.offsets)).tolist()


def model_of_parameters(treebank: IndexedTreebank, parameters: Parameters) -> Model:
    """The parameters that were learned from a treebank, in float64 and without lexical smoothing."""
    nodes, counts, n_states = treebank.nodes, treebank.counts, parameters.n_states
    names, terminals, emissions = nodes.symbols, treebank.vocabulary.terminals, parameters.emissions
    sizes = n_states[counts.rules].astype(int)
    blocks = np.split(parameters.tensors, np.cumsum(sizes.prod(axis=1))[:-1])
    pairs = zip(emissions.symbols, emissions.terminals, emissions.counts, emissions.vectors, strict=True)
    return Model(
        {
            name: counts.roots[a] / counts.roots.sum() * parameters.root_vectors[a, : n_states[a]]
            for a, name in enumerate(names)
        },
        {
            tuple(names[a] for a in rule): block.reshape(size)
            for rule, block, size in zip(counts.rules, blocks, sizes, strict=True)
        },
        {(names[a], terminals[x]): n / counts.symbols[a] * vector[: n_states[a]] for a, x, n, vector in pairs},
    )


def model_of_estimate(estimate: SpectralEstimate, smoothing: Smoothing) -> Model:
    """The parameters of equations (2) and (3) of Cohen et al. (2013)."""
    return model_of_parameters(estimate.treebank, estimate.parameters(smoothing))


def weight(model: Model, tree: Tree) -> float:
    """Weight of a skeletal tree, summed over its latent states; 0 for rules the model does not have."""

    def inside(node: Tree, below: list[np.ndarray]) -> np.ndarray:
        if node.is_leaf:
            return model.lexical[node.label, node.word]
        return np.einsum("ijk,j,k->i", _tensor(model, node), *below)

    try:
        return float(model.roots[tree.label] @ tree.fold(inside))
    except KeyError:
        return 0.0


@lru_cache(maxsize=4)
def _kept_model_of(grammar: Grammar) -> Model:
    return model_of(grammar)


def tree_weight(grammar: Grammar, tree: Tree, *, markov: int = 0) -> float:
    """The weight of an n-ary tree with words by a grammar: its probability, if the grammar is proper.

    Figure 2 of Cohen et al. (2012), by the states of all symbols; any symbol may be the root.
    markov (int): Siblings that an "@" symbol remembers, as in the learner.
    RETURNS (float): 0 if the tree has a rule, or a tag for a word, that the grammar does not have.
    """
    skeleton = binarize(collapse_unaries(normalize(tree)), markov=markov)
    symbols, lexicon = dict(zip(grammar.symbols, grammar.tag_of.tolist(), strict=False)), grammar.lexicon
    words = zip(skeleton.leaves(), *lexicon.look_up(skeleton.words), strict=True)
    read = [(lexicon.terminals[x], factors[symbols[leaf.label]]) for leaf, x, factors in words if leaf.label in symbols]
    if len(read) < len(skeleton):
        return 0.0
    terminals = iter([terminal for terminal, _ in read])
    named = skeleton.fold(
        lambda node, below: Tree(node.label, below) if below else Tree(node.label, word=next(terminals))
    )
    return weight(_kept_model_of(grammar), named) * float(np.prod([factor for _, factor in read]))


def tree_log_probability(grammar: Grammar, tree: Tree) -> float:
    """Natural log of the probability of a tree under a proper grammar; -inf if the grammar cannot make it."""
    assert grammar.is_proper
    with np.errstate(divide="ignore"):
        return float(np.log(tree_weight(grammar, tree)))


def weight_by_states(model: Model, tree: Tree) -> float:
    """The same by the definition (section 2.1 of Cohen et al. 2013): the sum over all assignments h_1 ... h_N."""
    nodes = list(tree.nodes())
    place = {id(node): i for i, node in enumerate(nodes)}
    sizes = [len(model.lexical[node.label, node.word]) if node.is_leaf else len(_tensor(model, node)) for node in nodes]
    total = 0.0
    for states in itertools.product(*map(range, sizes)):
        product = model.roots[tree.label][states[0]]
        for h, node in zip(states, nodes, strict=True):
            if node.is_leaf:
                product *= model.lexical[node.label, node.word][h]
            else:
                h2, h3 = (states[place[id(child)]] for child in node.children)
                product *= _tensor(model, node)[h, h2, h3]
        total += product
    return total


def _tensor(model: Model, node: Tree) -> np.ndarray:
    return model.binary[node.label, node.children[0].label, node.children[1].label]


def all_trees(model: Model, words: Sequence[str]) -> list[Tree]:
    """Every skeletal tree of a sentence of terminals under a symbol that has root weights."""
    n = len(words)
    chart: dict[tuple[int, int], dict[str, list[Tree]]] = {}
    for i, word in enumerate(words):
        chart[i, i + 1] = {a: [Tree(a, word=word)] for a, x in model.lexical if x == word}
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            cell: dict[str, list[Tree]] = defaultdict(list)
            for k in range(i + 1, i + width):
                for a, b, c in model.binary:
                    for children in itertools.product(chart[i, k].get(b, ()), chart[k, i + width].get(c, ())):
                        cell[a].append(Tree(a, children))
            chart[i, i + width] = cell
    return [tree for a in model.roots for tree in chart[0, n].get(a, ())]


def language(model: Model, words: str, lengths: Sequence[int]) -> dict[Tree, float]:
    """Every tree of a model over sentences of these lengths, with its probability."""
    sentences = itertools.chain.from_iterable(itertools.product(words, repeat=n) for n in lengths)
    trees = (tree for sentence in sentences for tree in all_trees(model, sentence))
    return {tree: p for tree in trees if (p := weight(model, tree)) > 0}


def items(tree: Tree) -> Iterator[Item]:
    """The nodes (a, i, j) of a skeletal tree, leaves included."""
    return ((node.label, i, j) for node, i, j in _placed(tree))


def edges(tree: Tree) -> Iterator[Edge]:
    """The rules a -> b c of a skeletal tree, over their fenceposts i, k, j."""
    for node, i, j in _placed(tree):
        if not node.is_leaf:
            left, right = node.children
            yield node.label, left.label, right.label, i, i + len(left), j


def _placed(tree: Tree) -> list[tuple[Tree, int, int]]:
    placed, stack = [], [(tree, 0)]
    while stack:
        node, start = stack.pop()
        placed.append((node, start, start + len(node)))
        for child in node.children:
            stack.append((child, start))
            start += len(child)
    return placed


def brackets(tree: Tree) -> set[Item]:
    """The brackets (label, i, j) of the n-ary tree that a skeletal tree stands for."""
    return {(label, i, j) for i, j, label in expand_unaries(unbinarize(tree)).spans()}


def marginals(model: Model, words: Sequence[str], parts: Callable[[Tree], Iterable[Hashable]]) -> Mapping:
    """Summed weight of the trees that have a part, for every part of any tree: mu of the papers, not divided.

    parts (function): Of a skeletal tree: `items`, `edges`, `brackets`.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    for tree in all_trees(model, words):
        value = weight(model, tree)
        for part in parts(tree):
            sums[part] += value
    return sums


def total(model: Model, words: Sequence[str]) -> float:
    """Weight of a sentence: that of all its trees."""
    return sum(weight(model, tree) for tree in all_trees(model, words))


def cancellation(model: Model, words: Sequence[str]) -> float:
    """Return the share of the absolute weights of trees that is left in their sum; 1 for a proper model."""
    weights = [weight(model, tree) for tree in all_trees(model, words)]
    return abs(sum(weights)) / (sum(map(abs, weights)) or 1.0)


def goodman_score(tree: Tree, edge_scores: Mapping[Edge, float], item_scores: Mapping[Item, float]) -> float:
    """Return the objective of Goodman's decoding: the summed scores of a tree's rules and of its leaves."""
    leaves = (item for item in items(tree) if item[2] - item[1] == 1)
    return sum(edge_scores[edge] for edge in edges(tree)) + sum(item_scores[item] for item in leaves)
