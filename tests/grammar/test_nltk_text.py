"""Grammars as text of NLTK's, and back."""

import re
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from grammars import random_grammar
from hypothesis import given
from oracles.strategies import labels
from paths import SAMPLE

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.grammar import Grammar, grammar_from_pcfg, pcfg_text
from spacy_lpcfg.grammar.nltk import _name, _symbol
from spacy_lpcfg.learning import EM, Spectral, TreebankPCFG
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, from_nltk, normalize, read_trees
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize

TOY = """
# of a textbook
S -> NP VP [1.0]
NP -> D N [0.75] | 'it' [0.25]
"""
CATS = """
S -> D VP [0.5] | N VP [.5]
VP -> V N [1]
D -> "it" [1.0]
N -> 'cats' [0.75] | 'dogs' [0.25]
V -> 'saw' [1.0]
X -> 'unreached' [1.0]
"""
SENTENCES = [tree for tree in read_trees(SAMPLE / "train.mrg") if len(tree) < 8]


@pytest.fixture(scope="module")
def treebank() -> Grammar:
    return TreebankPCFG().fit(SENTENCES[:30])


@pytest.fixture(scope="module")
def latent() -> Grammar:
    return EM(n_states=2, n_iterations=2).fit(SENTENCES[:30])


def probabilities(text: str) -> dict[str, float]:
    lines = [line.rpartition(" [") for line in text.splitlines()]
    return {production: float(p.removesuffix("]")) for production, _, p in lines}


@given(labels())
def test_nltk_text_has_any_name(label):
    """As what NLTK takes for a name; no two are the same."""
    assert re.fullmatch(r"[\w/][\w/^<>-]*", _name(label))
    assert _symbol(_name(label)) == label


def test_nltk_text_has_names_that_others_gave():
    own = ("NP-SBJ", "NP/NP", "S^<VP>", "A/d800/", "/110000/")
    assert tuple(map(_symbol, own)) == own
    assert [*map(_symbol, ("S>VP", "PRP/24/", "//"))] == ["S|VP", "PRP$", ""]


@pytest.mark.parametrize("name", ["treebank", "latent"])
def test_nltk_text_has_probabilities_that_are_read_back(name, request):
    """The probabilities of each left-hand side add up to 1."""
    grammar = request.getfixturevalue(name)
    text = pcfg_text(grammar)
    sums: Counter[str] = Counter()
    for production, p in probabilities(text).items():
        sums[production.split()[0]] += p
    np.testing.assert_allclose([*sums.values()], 1, atol=1e-5)
    assert len(sums) == grammar.n_states.sum() + 1
    found = grammar_from_pcfg(text)
    assert set(found.n_states) == {1}
    assert found.root_label == grammar.root_label
    assert found.n_symbols == grammar.n_states.sum()
    again = probabilities(pcfg_text(found).replace("/5e/", "^"))
    assert again == pytest.approx(probabilities(text), rel=1e-5)


def test_nltk_text_of_one_state_is_read_back_as_the_same_grammar(treebank):
    found = grammar_from_pcfg(pcfg_text(treebank))
    assert found.symbols == treebank.symbols
    assert found.tags == treebank.tags
    assert found.labels == treebank.labels
    known = {tuple(rule): p for rule, p in zip(treebank.rules.tolist(), treebank.rule_weights, strict=True)}
    assert {tuple(r): p for r, p in zip(found.rules.tolist(), found.rule_weights, strict=True)} == pytest.approx(known)
    np.testing.assert_allclose(found.root_weights, treebank.root_weights, rtol=1e-5)
    np.testing.assert_allclose(found.symbol_weights, treebank.symbol_weights, atol=0.02)


def test_nltk_text_of_one_state_has_the_same_best_derivations_with_tags_given(treebank):
    one, other = (Parser(each, settings=EXHAUSTIVE) for each in (treebank, grammar_from_pcfg(pcfg_text(treebank))))
    for tree in map(normalize, SENTENCES[:30]):
        words = [tree.words[0].lower(), *tree.words[1:]]  # as the first word of a sentence has a form of its own
        (expected,), (found,) = (parser.n_best(Query(words, tree.tags), 1) for parser in (one, other))
        assert found.tree == expected.tree
        assert found.tree.tags == tree.tags


@pytest.mark.parametrize("name", ["treebank", "latent"])
def test_nltk_finds_the_same_best_derivation(name, request):
    """A derivation by a grammar with states has symbols with states; with given tags, and without them."""
    nltk = pytest.importorskip("nltk")
    text = pcfg_text(request.getfixturevalue(name))
    theirs, ours = nltk.ViterbiParser(nltk.PCFG.fromstring(text)), Parser(grammar_from_pcfg(text), settings=EXHAUSTIVE)
    n_compared = 0
    for tree in islice(map(normalize, SENTENCES), 8):
        words = [tree.words[0].lower(), *tree.words[1:]]
        if {*words} <= ours.grammar.words:
            (best,) = theirs.parse(words)
            derived = derivation(from_nltk(best))
            for tags in (None, derived.tags):
                (found,) = ours.n_best(Query(words, tags), 1)
                assert found.tree == derived
                assert found.log_probability == pytest.approx(np.log(best.prob()), rel=1e-5)
            n_compared += 1
    assert n_compared > 3


def derivation(tree: Tree) -> Tree:
    """The tree of a derivation of NLTK's, below its start symbol."""
    named = tree.fold(lambda node, below: Tree(_symbol(node.label), below, node.word))
    return unbinarize(expand_unaries(named.children[0]))


@pytest.mark.parametrize("seed", range(3))
def test_nltk_text_of_random_grammars_is_read_back(seed):
    """Their words add up to 1 only nearly."""
    grammar = random_grammar(seed)
    found = grammar_from_pcfg(pcfg_text(grammar))
    assert found.n_symbols == grammar.n_states.sum()


@pytest.mark.filterwarnings("error")
def test_nltk_text_of_others_is_read():
    parser = Parser(grammar_from_pcfg(CATS), settings=EXHAUSTIVE)
    (best,) = parser.n_best(Query(["it", "saw", "dogs"]), 1)
    assert str(best.tree) == "(S (D it) (VP (V saw) (N dogs)))"
    assert np.exp(best.log_probability) == pytest.approx(0.125)
    (tagged,) = parser.n_best(Query(["they", "see", "it"], ["D", "V", "N"]), 1)
    assert str(tagged.tree) == "(S (D they) (VP (V see) (N it)))"


TEXTBOOK = """
  S -> NP VP
  PP -> P NP
  NP -> Det N | Det N PP | 'I'
  VP -> V NP | V | V NP PP | VP 'or' VP
  Det -> 'an' | 'my'
  N -> 'elephant' | 'pajamas'
  V -> 'shot'
  P -> 'in'
"""


@pytest.mark.parametrize(
    ("sentence", "tree"),
    [
        ("I shot", "(S (NP (NP I)) (VP (V shot)))"),
        ("I shot an elephant", "(S (NP (NP I)) (VP (V shot) (NP (Det an) (N elephant))))"),
        (
            "I shot an elephant in my pajamas",
            "(S (NP (NP I)) (VP (V shot) (NP (Det an) (N elephant)) (PP (P in) (NP (Det my) (N pajamas)))))",
        ),
        ("I shot or shot", "(S (NP (NP I)) (VP (VP (V shot)) ('or' or) (VP (V shot))))"),
    ],
)
def test_nltk_text_of_a_textbook_is_binarized_and_collapsed(sentence, tree):
    """Without probabilities, with three children, unary productions, and words beside other symbols."""
    parser = Parser(grammar_from_pcfg(TEXTBOOK), settings=EXHAUSTIVE)
    trees = {str(each.tree): each.log_probability for each in parser.n_best(Query(sentence.split()), 5)}
    assert tree in trees
    nltk = pytest.importorskip("nltk")
    uniform = nltk.induce_pcfg(nltk.Nonterminal("S"), nltk.CFG.fromstring(TEXTBOOK).productions())
    theirs = [parse.prob() for parse in nltk.InsideChartParser(uniform).parse(sentence.split())]
    assert sorted(np.exp([*trees.values()])) == pytest.approx(sorted(theirs))


@pytest.mark.parametrize(
    ("productions", "sentence", "p"),
    [
        ("S -> A B C D [1.0]", "a b c d", 1.0),
        ("S -> A B C D A [0.5] | A B C B [0.5]", "a b c b", 0.5),
        ("S -> A_B C D [0.5] | A B_C D [0.5]\nA_B -> 'x' [1.0]\nB_C -> 'y' [1.0]", "x c d", 0.5),
        ("ROOT -> S [0.5] | S [0.5]\nS -> A B [1.0]", "a b", 1.0),
    ],
)
def test_nltk_text_of_long_and_of_repeated_productions_keeps_their_probabilities(productions, sentence, p):
    words = "A -> 'a' [1.0]\nB -> 'b' [1.0]\nC -> 'c' [1.0]\nD -> 'd' [1.0]"
    parser = Parser(grammar_from_pcfg(f"{productions}\n{words}"), settings=EXHAUSTIVE)
    (best,) = parser.n_best(Query(sentence.split()), 5)
    assert np.exp(best.log_probability) == pytest.approx(p)
    assert best.tree.spans() == [(0, len(best.tree), "S")]


def test_nltk_text_of_an_induced_grammar_is_read():
    """With the heading, tags such as PRP$, and names of NLTK's binarization and of its parent annotation."""
    nltk = pytest.importorskip("nltk")
    texts = (
        "(S (NP (PRP$ my) (JJ old) (NN cat)) (VP (VBD sat)) (. .))",
        "(S (NP (PRP it)) (VP (VBD ran) (RB home)) (. .))",
    )
    productions = []
    for text in texts:
        tree = nltk.Tree.fromstring(text)
        tree.chomsky_normal_form(horzMarkov=2, vertMarkov=1)
        productions += tree.productions()
    induced = nltk.induce_pcfg(nltk.Nonterminal("S"), productions)
    parser, words = Parser(grammar_from_pcfg(str(induced)), settings=EXHAUSTIVE), ["it", "ran", "home", "."]
    (best,) = parser.n_best(Query(words), 1)
    expected = next(nltk.ViterbiParser(induced).parse(words))
    assert best.tree == from_nltk(expected)
    assert np.exp(best.log_probability) == pytest.approx(expected.prob())
    assert "PRP$" in parser.grammar.tags


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expected productions such as S -> NP VP"),
        ("\nS -> A B [1.0] C", "in line 2, got 'S -> A B [1.0] C"),
        ("S -> [1.0]", "in line 1"),
        ("S ->", "in line 1"),
        ("S NP VP [1.0]", "in line 1"),
        ("S -> A A [1.0]\nA -> 'a' [0.5]", "'A' that add up to 1, got 0.5 in all"),
        ("S -> A B [1.0]\nA -> 'a' [1.0]", "Expected productions of each symbol, got none of 'B'"),
        ("S -> A B [1.0]", "Expected productions of each symbol, got none of 'A'"),
        ("S -> A [1.0]\nA -> S [1.0]", "got only a cycle"),
        ("S -> A A [1.0]\nA -> 'a'", "for each production or for none, got none for 'A -> a'"),
    ],
)
def test_nltk_text_that_is_no_grammar_is_refused(text, message):
    with pytest.raises(ModelError, match=r"^Expected .*") as caught:
        grammar_from_pcfg(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nltk_text_needs_probabilities_and_words_that_it_can_have():
    with pytest.raises(ModelError, match="Expected a grammar of probabilities"):
        pcfg_text(Spectral(n_states=2).fit(SENTENCES[:30]))
    quoted = [Tree("S", [Tree("A", word="""'"'"""), Tree("A", word="""'"'""")])] * 3
    with pytest.raises(ModelError, match="one kind of quotation marks"):
        pcfg_text(TreebankPCFG().fit(quoted))
