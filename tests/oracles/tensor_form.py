"""The tensor form of L-PCFGs as Cohen et al. (2012) define it: the probability of a tree.

This is the specification, in numpy and float64, that the chart's kernels and the learners are held to. Notation of
the paper: C of a rule a -> b c is its tensor, c^infinity of a -> x a row of the lexicon, c^1 of a its root vector.
Differs: (1) numbers of states may differ from symbol to symbol; (2) any symbol may be the root, so that one word is a
sentence; (3) tensors are stored as [a, b, c], so that C(y) of the paper, its row vector f^c from the left, is
`einsum("abc,b,c->a")` here.
"""

import numpy as np

from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries, normalize
from spacy_lpcfg.trees.tree import Tree


def tree_log_probability(grammar: Grammar, tree: Tree) -> float:
    """Natural log of the probability of a tree under a proper grammar; -inf if the grammar cannot make it."""
    assert grammar.is_proper
    with np.errstate(divide="ignore"):
        return float(np.log(tree_weight(grammar, tree)))


def tree_weight(grammar: Grammar, tree: Tree, *, markov: int = 0) -> float:
    """The weight of a tree: its probability, if the grammar is proper (figure 2 of Cohen et al. 2012).

    grammar (Grammar): By any learner; of one whose parameters may be negative, so may be the weight.
    tree (Tree): n-ary, with words; it is normalised, collapsed and binarised as the learners do.
    markov (int): Siblings that an "@" symbol remembers, as in the learner.
    RETURNS (float): 0 if the tree has a rule, or a tag for a word, that the grammar does not have.
    """
    skeleton = binarize(collapse_unaries(normalize(tree)), markov=markov)
    lexicon, n = grammar.lexicon, grammar.n_preterminals
    preterminals, interminals = list(grammar.symbols[:n]), list(grammar.symbols[n:])
    words = zip(*lexicon.look_up(skeleton.words), strict=True)

    def inside(node: Tree, below: list[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
        """The symbol of a node, and f^i of figure 2; raises ValueError for what the grammar does not have."""
        if node.is_leaf:
            terminal, factors = next(words)
            a = preterminals.index(node.label)
            start, end = lexicon.offsets[terminal : terminal + 2]
            row = start + lexicon.symbols[start:end].tolist().index(a)
            vector = lexicon.vectors[slice(*lexicon.vector_offsets[row : row + 2])].astype(np.float64)
            return a, factors[grammar.tag_of[a]] * vector
        (b, left), (c, right) = below
        a = n + interminals.index(node.label)
        (rule,) = np.flatnonzero((grammar.rules == (a, b, c)).all(axis=1))
        return a, np.einsum("abc,b,c->a", grammar.tensor(rule).astype(np.float64), left, right)

    try:
        root, vector = skeleton.fold(inside)
    except ValueError:
        return 0.0
    return float(grammar.root_vector(root) @ vector)
