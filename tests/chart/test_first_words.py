"""The first word of a sentence: its probabilities add up to 1, however it is written, and samples have them."""

from collections import Counter
from itertools import islice, product

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import EM, Pivot, TreebankPCFG
from spacy_lpcfg.trees import parse_trees, read_trees
from spacy_lpcfg.words.signatures import is_signature, signature_backoff

LINES = [
    *["(S (NN dog) (VB runs))"] * 5,
    *["(S (NN Cats) (VB go))"] * 2,
    *["(S (VB runs) (NNP Dog))", "(S (VB Go) (NNP DOG))", "(S (VB runs) (NNP Dogs))", "(S (NN Eels) (VB go))"],
]
STATES = {"n_states": 3, "tokens_per_state": 1}
LEARNERS = pytest.mark.parametrize(
    "learner",
    [TreebankPCFG(), EM(**STATES, n_iterations=4), Pivot(**STATES, n_iterations=0)],
    ids=["pcfg", "em", "pivot"],
)


def names_of(grammar: Grammar) -> list[str]:
    """All words that a grammar knows, and its signatures."""
    return sorted(name for name in grammar.lexicon.words if not name.startswith("<tag "))


def prefix_probability(parser: Parser, *words: str) -> float:
    """P(a sentence begins with the words)."""
    return float(np.exp2(-parser.surprisal(words)[: len(words)].sum()))


def test_probabilities_of_words_and_signatures_add_up_to_one():
    grammar = TreebankPCFG().fit(islice(read_trees(SAMPLE / "train.mrg"), 120))
    parser, names = Parser(grammar, settings=EXHAUSTIVE), names_of(grammar)
    assert any(name[:1].isupper() and name.lower() in grammar.lexicon.terminals for name in grammar.lexicon.rare_words)
    assert sum(prefix_probability(parser, name) for name in names) == pytest.approx(1, abs=1e-6)
    ends = np.exp(parser.log_probability(["The"])) / prefix_probability(parser, "The")
    goes_on = sum(prefix_probability(parser, "The", name) for name in names) / prefix_probability(parser, "The")
    assert ends + goes_on == pytest.approx(1, abs=1e-6)


@LEARNERS
def test_probabilities_of_all_sentences_add_up_to_one(learner):
    """By enumeration: those of two words, as in the treebank, and of one, since roots are smoothed."""
    parser = Parser(learner.fit(parse_trees(LINES)), settings=EXHAUSTIVE)
    names = names_of(parser.grammar)
    found = {words: np.exp(parser.log_probability(words)) for n in (1, 2) for words in product(names, repeat=n)}
    assert sum(found.values()) == pytest.approx(1, abs=1e-6)
    for first in names:
        expected = found[first,] + sum(found[first, second] for second in names)
        assert prefix_probability(parser, first) == pytest.approx(expected, rel=1e-5)


def test_first_words_are_read_as_documented():
    """P(first word) of a treebank PCFG by the rules of the lexicon's docstring, in plain Python."""
    grammar = TreebankPCFG().fit(parse_trees(LINES))
    parser, names = Parser(grammar, settings=EXHAUSTIVE), names_of(grammar)
    within = {name: share_within(grammar, name) for name in names}
    expected = dict(within)
    for name in names:
        lower = name.lower()
        if name in grammar.lexicon.rare_words and name[:1].isupper() and lower in grammar.lexicon.terminals:
            form = next(rung for rung in signature_backoff(name, False) if is_signature(rung) and rung in names)
            expected[form] += within[name]
            n_readers = 1 + sum(other.lower() == lower != other for other in names)
            expected[name] = within[lower] / n_readers
    for name in ("dog", "Dog", "DOG"):
        expected[name] = within["dog"] / 3
    assert {name: prefix_probability(parser, name) for name in names} == pytest.approx(expected, rel=1e-4)
    assert prefix_probability(parser, "DoG") == pytest.approx(prefix_probability(parser, "dog"))


def share_within(grammar: Grammar, name: str) -> float:
    """P(first word) of a grammar without recursion, if first words were read as those within a sentence."""
    lexicon = grammar.lexicon
    terminal, factors = lexicon.terminal(name, False), lexicon.look_up(["", name])[1][1]
    first = grammar.root_weights.copy()
    np.add.at(first, grammar.rules[:, 1], grammar.root_weights[grammar.rules[:, 0]] * grammar.rule_weights)
    rows = range(*lexicon.offsets[terminal : terminal + 2])
    symbols = lexicon.symbols[rows]
    return float((first[symbols] * lexicon.weights[rows] * factors[grammar.tag_of[symbols]]).sum())


@LEARNERS
def test_samples_have_the_probabilities_of_their_words(learner):
    parser = Parser(learner.fit(parse_trees(LINES)), settings=EXHAUSTIVE)
    names, n = names_of(parser.grammar), 8_000
    drawn = Counter(tuple(tree.words) for tree in islice(sample_trees(parser.grammar, seed=1), n))
    assert {word for words in drawn for word in words} <= set(names)
    for words in product(names, repeat=2):
        expected = np.exp(parser.log_probability(words))
        assert drawn[words] / n == pytest.approx(expected, abs=5 * np.sqrt(expected / n) + 1e-4), words
