"""Trees of EM that begins at given trees."""

from __future__ import annotations

import random

import pytest

from spacy_lpcfg.learning.reestimation import Reestimation
from spacy_lpcfg.trees import Tree, parse_trees

SMALL = Reestimation(n_grammars=2, n_states=4, n_words=0, n_iterations=4)
RIGHT = "(S (X (D the) (N n)) (V v))"
WRONG = "(S (D the) (X (N n) (V v)))"


def treebank(n_right: int, n_wrong: int) -> list[Tree]:
    """Trees of `D N V`, and, so that D N is a phrase elsewhere too, of `V D N`, in a random order."""
    lines = [RIGHT] * n_right + [WRONG] * n_wrong + ["(S (V v) (X (D the) (N n)))"] * n_right
    random.Random(0).shuffle(lines)
    return list(parse_trees("\n".join(lines)))


def test_reestimation_mends_the_rarer_trees():
    trees = treebank(40, 10)
    phrases = {"D N V": (0, 2), "V D N": (1, 3)}
    for tree, spans in zip(trees, SMALL.spans(trees), strict=True):
        assert spans == [(0, 3), phrases[" ".join(tree.tags)]]


def test_reestimation_begins_at_the_given_trees():
    """Where most trees are wrong, all are in the end."""
    trees = treebank(10, 40)
    new = {" ".join(tree.tags): spans for tree, spans in zip(trees, SMALL.spans(trees), strict=True)}
    assert new["D N V"] == [(0, 3), (1, 3)]


def test_reestimation_leaves_long_sentences_as_they_are():
    long = next(iter(parse_trees("(S (X (D the) (N n) (V v)) (X (D the) (N n)))")))
    settings = Reestimation(n_grammars=1, n_states=4, n_words=0, n_iterations=1, max_words=3, max_parsed=4)
    assert settings.spans([*treebank(4, 0), long])[-1] == [(0, 5), (0, 3), (3, 5)]


def test_reestimation_repeats_itself():
    trees = treebank(20, 5)
    assert SMALL.spans(trees) == SMALL.spans(trees)


def test_reestimation_brackets_new_sentences():
    learned = Reestimation(n_grammars=2, n_states=4, n_words=1, n_iterations=4).fit(treebank(40, 0))
    assert learned.spans(["a", "cat", "sat"], ["D", "N", "V"]) == [(0, 3), (0, 2)]
    assert learned.spans(["THE", "cat", "sat"], ["?", "N", "V"]) == [(0, 3), (0, 2)]  # a frequent word needs no tag
    assert learned.spans(["so", "what", "now"], ["?", "?", "?"])[0] == (0, 3)
    assert learned.spans(["go"], ["V"]) == []
    with pytest.raises(ValueError, match="a tag for each word, got 2 words and 1 tags"):
        learned.spans(["a", "cat"], ["D"])


@pytest.mark.parametrize("trees", [[], ["(S (X (D the) (N n)))"]])
def test_reestimation_refuses_no_text(trees):
    with pytest.raises(ValueError, match="3 to 25 words"):
        Reestimation().spans(list(parse_trees("\n".join(trees))))


@pytest.mark.parametrize(
    "settings", [{"strengths": ()}, {"strengths": (1.0, -1.0)}, {"n_grammars": 0}, {"prior": -1.0}, {"max_words": 1}]
)
def test_reestimation_refuses_settings_out_of_range(settings):
    with pytest.raises(ValueError, match=f"Expected.*{next(iter(settings))}"):
        Reestimation(**settings)
