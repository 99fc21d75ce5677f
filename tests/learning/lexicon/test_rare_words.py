"""Rare words share the emissions of their form by the tags that they were seen with."""

import pytest

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.chart.settings import EXHAUSTIVE
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import LexicalSettings, TreebankPCFG
from spacy_lpcfg.trees import parse_trees

KAPPA = 0.5
LINES = (
    ["(S (DT the) (NN dog))"] * 5 + ["(S (DT the) (VB go))"] + ["(S (DT the) (NN go))"] * 2 + ["(S (DT the) (NN ox))"]
)


def learn(signature_weight: float = KAPPA) -> Grammar:
    """`go` and `ox` are rare; `ox` was seen once."""
    lexical = LexicalSettings(signature_weight=signature_weight, chain_weight=0.0, min_posterior=0.0)
    return TreebankPCFG(lexical=lexical).fit(parse_trees(LINES))


def emissions(grammar: Grammar, word: str) -> dict[str, float]:
    """q(word | a) of every symbol, within a sentence."""
    lexicon = grammar.lexicon
    terminal = lexicon.terminal(word, False)
    rows = range(*lexicon.offsets[terminal : terminal + 2])
    _, factors = lexicon.look_up(["the", word])[1]
    return {
        grammar.symbols[lexicon.symbols[row]]: lexicon.weights[row] * factors[grammar.tag_of[lexicon.symbols[row]]]
        for row in rows
    }


def test_rare_words_share_their_form_by_tag():
    """The module's docstring by hand, but for the little that forms lend to more general ones."""
    grammar, alike = learn(), learn(0.0)
    form = emissions(alike, "unheard")
    p_nn = 3 / 4
    for tag, p, go, ox in (("NN", p_nn, 2, 1), ("VB", 1 - p_nn, 1, 0)):
        shares = {"go": go + KAPPA * p, "ox": ox + KAPPA * p, "unheard": ox + KAPPA * p}
        for word, share in shares.items():
            assert emissions(grammar, word)[tag] == pytest.approx(form[tag] * share / sum(shares.values()), rel=0.02)
        assert emissions(alike, "go")[tag] == form[tag]


def test_frequent_words_are_as_they_were():
    assert emissions(learn(), "the") == emissions(learn(0.0), "the")
    assert learn(0.0).lexicon.rare_words == ()


def test_rare_words_have_one_form_wherever_they_stand():
    grammar = learn()
    assert grammar.lexicon.rare_words == ("<form low>", "go", "ox")
    for word in ("go", "Go", "Unheard"):
        for first in (False, True):
            assert grammar.lexicon.terminals[grammar.lexicon.terminal(word, first)].startswith("<form")
    assert (grammar.lexicon.look_up(["Go"])[1] == grammar.lexicon.look_up(["go"])[1]).all()


def test_rare_words_bring_out_their_tags():
    """In a context that allows both tags, and where forms alone would choose the commoner one."""
    lines = ["(S (DT the) (NN zib))", "(S (DT the) (VB zab))", *[f"(S (DT the) (NN zob{x}))" for x in "abcdefgh"]]
    trees = list(parse_trees(lines))
    for signature_weight, tag in ((0.0, "NN"), (KAPPA, "VB")):
        lexical = LexicalSettings(signature_weight=signature_weight, rare=1)
        parser = Parser(TreebankPCFG(lexical=lexical).fit(trees), settings=EXHAUSTIVE)
        assert parser.parse(["the", "zab"]).tags == ["DT", tag]
