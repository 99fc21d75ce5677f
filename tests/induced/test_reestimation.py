"""Grammars of EM that begins at given trees."""

import random

import pytest

from spacy_lpcfg.bracketing.binary_trees import best_tree
from spacy_lpcfg.induced.reestimation import Reestimation
from spacy_lpcfg.trees import Tree, parse_trees

SMALL = Reestimation(n_states=4, n_words=0, n_iterations=4)
RIGHT = "(S (X (D the) (N n)) (V v))"
WRONG = "(S (D the) (X (N n) (V v)))"


def treebank(n_right: int, n_wrong: int) -> list[Tree]:
    """Trees of `D N V`, and, so that D N is a phrase elsewhere too, of `V D N`, in a random order."""
    lines = [RIGHT] * n_right + [WRONG] * n_wrong + ["(S (V v) (X (D the) (N n)))"] * n_right
    random.Random(0).shuffle(lines)
    return list(parse_trees("\n".join(lines)))


def chosen(trees: list[Tree], tags: str, settings: Reestimation = SMALL) -> list[tuple[int, int]]:
    """Return the spans of the best tree of some tags by the grammar that is learned from trees."""
    sentence = (["?"] * len(tags.split()), tags.split())
    return best_tree(settings.fit(trees).posteriors([sentence])[0])


def test_reestimation_mends_the_rarer_trees():
    trees = treebank(40, 10)
    assert chosen(trees, "D N V") == [(0, 3), (0, 2)]
    assert chosen(trees, "V D N") == [(0, 3), (1, 3)]


def test_reestimation_begins_at_the_given_trees():
    """Where most trees are wrong, all are in the end."""
    assert chosen(treebank(10, 40), "D N V") == [(0, 3), (1, 3)]


def test_reestimation_does_not_learn_from_long_sentences():
    long = list(parse_trees("(S (X (D the) (N n)) (X (V v) (X (D the) (N n))))"))
    settings = Reestimation(n_states=4, n_words=0, n_iterations=1, max_words=3)
    with_long, without = (settings.fit([*treebank(4, 0), *trees]).pcfg for trees in (long, []))
    assert all((one == other).all() for one, other in zip(with_long, without, strict=True))


@pytest.mark.parametrize("trees", [[], ["(S (X (D the) (N n)))"]])
def test_reestimation_refuses_no_text(trees):
    with pytest.raises(ValueError, match="3 to 25 words"):
        Reestimation().fit(list(parse_trees("\n".join(trees))))


@pytest.mark.parametrize(
    "settings", [{"strengths": ()}, {"strengths": (1.0, -1.0)}, {"n_states": 0}, {"prior": 0.0}, {"max_words": 2}]
)
def test_reestimation_refuses_settings_out_of_range(settings):
    with pytest.raises(ValueError, match=f"Expected.*{next(iter(settings))}"):
        Reestimation(**settings)
