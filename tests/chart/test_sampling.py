"""Trees drawn from a grammar: their distribution, their form, and when there are none."""

from collections import Counter
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from grammars import grammar_of, one_state
from oracles.enumeration import Model

from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.learning import LexicalSettings, TreebankPCFG
from spacy_lpcfg.trees import Tree, parse_trees

UNSMOOTHED = LexicalSettings(rare=0, signature_weight=0.0, chain_weight=0.0)


def learn(*trees: str) -> Grammar:
    """The treebank PCFG of trees, its emissions as they were counted."""
    return TreebankPCFG(lexical=UNSMOOTHED).fit(parse_trees(trees))


def test_sampling_draws_the_distribution_of_a_latent_grammar() -> None:
    rng = np.random.default_rng(0)
    root, rule = rng.dirichlet(np.ones(2)), rng.dirichlet(np.full(4, 0.3), size=2).reshape(2, 2, 2)
    p = {"a": np.array([0.9, 0.1]), "b": np.array([0.1, 0.9])}
    q = {"c": np.array([0.8, 0.3]), "d": np.array([0.2, 0.7])}
    words = {("P", x): vector for x, vector in p.items()} | {("Q", y): vector for y, vector in q.items()}
    model = Model({"S": root}, {("S", "P", "Q"): rule}, words)
    grammar = grammar_of(model, one_state(model, seed=0), is_proper=True)
    n = 20_000
    drawn = Counter(tuple(tree.words) for tree in islice(sample_trees(grammar, seed=1), n))
    for x, y in product(p, q):
        expected = np.einsum("i,ijk,j,k", root, rule, p[x], q[y])
        unknown = 2e-3  # weight of unknown words in `grammar_of`, beside the model's
        assert drawn[x, y] / n == pytest.approx(expected, abs=5 * np.sqrt(expected / n) + unknown)


def test_sampling_gives_trees_of_the_treebanks_form(sample_grammar: Grammar) -> None:
    for tree in islice(sample_trees(sample_grammar), 200):
        assert {label for *_, label in tree.spans()} <= set(sample_grammar.labels)
        assert set(tree.tags) <= set(sample_grammar.tags)
        assert set(tree.words) <= sample_grammar.lexicon.words
        assert not any(word.startswith("<tag") for word in tree.words)


def test_sampling_repeats_itself_by_seed(sample_grammar: Grammar) -> None:
    def draw(seed: int) -> list[Tree]:
        return list(islice(sample_trees(sample_grammar, seed=seed), 20))

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_sampling_draws_long_trees_again(sample_grammar: Grammar) -> None:
    assert max(map(len, islice(sample_trees(sample_grammar, max_words=8), 200))) <= 8


def test_sampling_ends_where_the_grammars_trees_do_not() -> None:
    grammar = learn("(S (S (S (P a) (P a)) (S (P a) (P a))) (S (P a) (P a)))")
    endless = replace(grammar, tensors=Tensors.from_dense(_only_rule(grammar, "S", "S", "S"), grammar.tensors.shapes))
    with pytest.raises(ValueError, match="never end"):
        next(sample_trees(endless, max_words=10))


def _only_rule(grammar: Grammar, *names: str) -> np.ndarray:
    wanted = [grammar.symbols.index(name) for name in names]
    return (grammar.rules == wanted).all(axis=1).astype(np.float32)


def test_sampling_refuses_a_grammar_without_probabilities() -> None:
    grammar = replace(learn("(S (P a) (Q b))"), is_proper=False)
    with pytest.raises(ValueError, match="proper grammar"):
        sample_trees(grammar)
