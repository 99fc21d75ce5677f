"""Grammars from trees that nobody annotated."""

import random

import pytest

from spacy_lpcfg.learning import Induction, Pivot
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import Tree, parse_trees


def treebank(n_right: int, n_wrong: int) -> list[Tree]:
    rng = random.Random(0)
    shapes = ["(S (X (D the) (N {n})) (V {v}))"] * n_right + ["(S (D the) (X (N {n}) (V {v})))"] * n_wrong
    lines = (shape.format(n=rng.choice("abcd"), v=rng.choice("efgh")) for shape in shapes)
    return list(parse_trees("\n".join(lines)))


def test_induction_learns_from_its_own_trees():
    """The rarer of two trees of equal tags is gone after a round."""
    trees = treebank(40, 20)
    once, twice = (Induction(n_states=1, n_rounds=n).fit(trees) for n in (1, 2))
    wrong = next(iter(parse_trees("(S (D the) (X (N a) (V e)))")))
    assert make_parser(once).tree_log_probability(wrong) > make_parser(twice).tree_log_probability(wrong)
    parse = make_parser(twice).parse(["the", "a", "e"]).tree
    assert {(start, end) for start, end, _ in parse.spans()} == {(0, 3), (0, 2)}


def test_induction_reparses_no_empty_elements():
    raw = "(S (X (D the) (N a)) (Y (V e) (X (-NONE- *-1)) (Z (P f) (N b)))) (S (X (-NONE- *)))" * 20
    one, other = (Induction(n_states=1).fit(parse_trees(text)) for text in (raw, raw.replace(" (X (-NONE- *-1))", "")))
    assert one.to_bytes() == other.to_bytes()


def test_induction_of_one_round_is_its_learner():
    trees = treebank(10, 2)
    settings = {"n_states": 1, "lang": "de"}
    assert Induction(n_rounds=1, **settings).fit(trees).to_bytes() == Pivot(**settings).fit(trees).to_bytes()


@pytest.mark.parametrize("name", ["n_rounds", "n_states"])
def test_induction_refuses_settings_out_of_range(name):
    with pytest.raises(ValueError, match=name):
        Induction(**{name: 0})
