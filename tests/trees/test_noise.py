"""Copies of trees in other letters."""

import pytest
from bracketed import tree_of
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.trees.noise import KINDS, capitals, curly_quotes, headline, lower_case, with_noise, without_final

TREE = """(S (`` ") (NP-SBJ (NP (PRP$ My) (NN son) (POS 's)) (-LRB- -LRB-) (NNP NATO) (-RRB- -RRB-) (NN cat))
    (VP (VBD did) (RB n't) (VP (VB go) (PP (IN to) (NP (DT the) (NN barn))))) ('' ") (. .))"""


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (capitals, "\" MY SON 'S -LRB- NATO -RRB- CAT DID N'T GO TO THE BARN \" ."),
        (headline, "\" My Son 's -LRB- NATO -RRB- Cat Did n't Go to the Barn \" ."),
        (lower_case, "\" my son 's -LRB- nato -RRB- cat did n't go to the barn \" ."),
        (curly_quotes, "“ My son ’s -LRB- NATO -RRB- cat did n’t go to the barn ” ."),
        (without_final, "\" My son 's -LRB- NATO -RRB- cat did n't go to the barn \""),
    ],
)
def test_noise_changes_words_alone(kind, words):
    copy = kind(tree_of(TREE).with_id("a.1"))
    assert copy.sent_id == "a.1"
    assert copy.words == words.split()
    assert copy.tags == tree_of(TREE).tags[: len(copy)]


def test_noise_knows_where_quotation_marks_stand():
    tree = tree_of("""(NP (`` `) (NN x) ('' ') (`` ``) (NN y) ('' '') (NNS ") (POS '))""")
    assert curly_quotes(tree).words == ["‘", "x", "’", "“", "y", "”", '"', "’"]


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        *((text, text) for text in ("(ROOT (NP (NN Rain)))", "(X (. .))", "(S (VP (VB Go) (. .)) (PRN so))")),
        ("(S (S (VB Go) (. .)) (S (VB Run) (. .)))", "(S (S (VB Go) (. .)) (S (VB Run)))"),
        ("(S (VB Go) (X (. !)))", "(S (VB Go))"),
    ],
)
def test_noise_drops_a_mark_at_the_end_alone_with_phrases_that_it_empties(text, dropped):
    assert str(without_final(tree_of(text))) == dropped


@given(trees())
def test_noise_keeps_brackets_of_any_tree(tree):
    for kind in KINDS[:-1]:
        assert kind(tree).spans() == tree.spans()
        assert kind(kind(tree)) == kind(tree)


@given(st.lists(trees(), max_size=5), st.integers(0, 3))
def test_noise_comes_by_the_seed_and_after_its_trees(some, seed):
    noisy = list(with_noise(some, share=0.5, seed=seed))
    assert noisy == list(with_noise(some, share=0.5, seed=seed))
    assert list(with_noise(some, share=0)) == some
    assert len(some) <= len(noisy) <= 3 * len(some)


def test_noise_is_of_the_share_asked_for():
    some = [tree_of(TREE)] * 1000
    noisy = list(with_noise(some, share=0.1))
    assert 1160 < len(noisy) < 1240
    count = {kind: sum(tree == kind(some[0]) for tree in noisy) for kind in KINDS}
    assert all(60 < n < 130 for n in count.values()), count
    assert noisy != list(with_noise(some, share=0.1, seed=1))


def test_noise_of_all_trees_copies_some_kinds_and_changes_by_the_others():
    tree = tree_of("(S (NP (PRP We)) (VP (VBD paid)) (. .))")
    assert [" ".join(found.words) for found in with_noise([tree], share=1)] == ["we paid", "WE PAID .", "We Paid ."]


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_noise_refuses_a_share_that_is_none(share):
    with pytest.raises(ValueError, match="Expected share to be"):
        with_noise([], share=share)
