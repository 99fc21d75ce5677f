"""Trees over other tokens and sentences, aligned by characters: the kinds of mismatch that jp-evalb is for."""

import json

import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.evaluation.alignment import align
from spacy_lpcfg.evaluation.evalb import Params, evaluate
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.transforms import unescape_token

GOLD = "(S (NP (PRP I)) (VP (MD ca) (RB n't) (VP (VB see))) (. .))"
TEST = "(S (NP (PRP I)) (VP (MD can't) (VP (VB see))) (. .))"


def scores(gold: str, test: str) -> dict[str, float]:
    golds, tests = align([*parse_trees(gold)], [*parse_trees(test)])
    return evaluate(golds, tests, Params()).scores()


@pytest.mark.parametrize(
    ("gold", "test", "precision", "recall"),
    [
        (GOLD, TEST, 100, 100),
        (TEST, GOLD, 100, 100),
        (GOLD, "(S (NP (PRP I)) (MD can't) (VP (VB see)) (. .))", 100, 75),
        ("(S (NP (DT a) (NN b)) (X (C d)))", "(S (NP (DT a)) (X (NNC bd)))", 100 / 3, 100 / 3),
        ("(S (-LRB- -LRB-) (NP (NN x)))", "(S (NP (NN -LRB-x)))", 50, 50),
    ],
)
def test_alignment_of_words(gold, test, precision, recall):
    found = scores(gold, test)
    assert (found["evalb_p"], found["evalb_r"]) == pytest.approx((precision, recall))


def test_alignment_of_sentences():
    """A sentence that a parser splits is scored as a whole, and so are two that it joins."""
    whole = "(S (VP (VB Click) (ADVP (RB here)) (S (VP (TO To) (VP (VB view) (NP (PRP it)))))) (. .))"
    parts = "(S (VP (VB Click) (ADVP (RB here))))\n(S (VP (TO To) (VP (VB view) (NP (PRP it)))) (. .))"
    golds, tests = align([*parse_trees(whole)], [*parse_trees(parts)])
    assert (len(golds), len(tests)) == (1, 1)
    assert golds[0].words == tests[0].words
    of_whole, of_parts = scores(whole, parts), scores(parts, whole)
    assert of_whole["evalb_p"] == of_parts["evalb_r"]
    assert scores(f"{whole}\n{GOLD}", f"{parts}\n{TEST}")["n_sentences"] == 2
    with pytest.raises(ValueError, match="1 tree of the parser's come after it"):
        align([*parse_trees(GOLD)], [*parse_trees(f"{GOLD}{GOLD}")])
    assert scores(f"(X (A b))\n{GOLD}", f"(X (A c))\n{TEST}")["n_error"] == 1


@given(st.lists(trees(), min_size=1, max_size=3))
def test_alignment_of_the_same_trees_is_right(treebank):
    golds, tests = align(treebank, treebank)
    assert golds == tests
    assert [gold.words for gold in golds] == [[*map(unescape_token, tree.words)] for tree in treebank]


def test_alignment_and_unlabelled_scores_in_the_shell(tmp_path):
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text(f"{GOLD}\n(S (NP (NN Rain)) (VP (VBD fell)))\n", encoding="utf-8")
    test.write_text(f"{TEST}\n(S (NP (NN Rain)) (VP (VBD fell)))\n", encoding="utf-8")
    assert json.loads(run("evaluate", gold, test, "--json").stdout)["n_error"] == 1
    aligned = json.loads(run("evaluate", gold, test, "--json", "--align").stdout)
    assert (aligned["n_error"], aligned["evalb_f"]) == (0, 100)
    # the brackets (1, 4) and (3, 4) of "I ca n't see ." without punctuation; of the second sentence there is none
    test.write_text("(X (X (T i) (T ca)) (X (T n't) (T see)))\n(Y (T rain) (T fell))\n", encoding="utf-8")
    done = run("evaluate", gold, test, "--unlabelled")
    assert done.stdout == "unlabelled F1 0.00, mean of sentences 50.00, on 2 sentences\n"
    test.write_text("(X (T a) (T b))\n(Y (T rain) (T fell))\n", encoding="utf-8")
    assert "1 of 2 sentences are in no score, such as number 1" in run("evaluate", gold, test, "--unlabelled").stderr
