import pytest
from bracketed import tree_of as tree
from hypothesis import given
from oracles.strategies import trees
from oracles.transitions import tree_of

from spacy_lpcfg.isbn.relations import FIELDS, NONE, ROOT, Cell, Relations, codes, related, walk
from spacy_lpcfg.isbn.transitions import ATTACH, MODIFY, PROJECT, SHIFT, derive
from spacy_lpcfg.trees import normalize


def test_derivations_example():
    names = {SHIFT: "shift", PROJECT: "project", ATTACH: "attach", MODIFY: "modify"}
    found = derive(tree("(S (NP (NP (DT a) (NN cat)) (PP (IN in))) (VP (VB sat)))"))
    assert ", ".join(f"{names[kind]} {label or word}".strip() for kind, label, word in found) == (
        "shift DT, project NP, shift NN, attach, shift IN, project PP, modify, project S, "
        "shift VB, project VP, attach, attach"
    )


@pytest.mark.parametrize("text", ["(NN a)", "(X (Y (X (NN a))))", "(X (X (X (N a) (N b)) (N c)) (N d) (X (N e)))"])
def test_derivations_undo(text):
    assert str(tree_of(derive(tree(text)))) == text


@given(trees())
def test_derivations_undo_random(random_tree):
    normal = normalize(random_tree)
    if normal is not None:
        assert tree_of(derive(normal)) == normal


def test_derivations_refuse():
    with pytest.raises(ValueError, match="normalize"):
        derive(tree("(X (X (N a)))"))


def test_relations_of_a_derivation():
    actions = [SHIFT, PROJECT, SHIFT, ATTACH, PROJECT + 1, SHIFT, MODIFY, ATTACH]
    tops = [stack[0] for stack, _, _ in walk(actions)]
    assert tops[0] == Cell(ROOT)
    assert tops[2] == Cell(0, NONE, 0 + 1, 1, 1, 0)
    assert tops[4] == Cell(0, 2, 1, 3, 1, 0)
    assert tops[5] == Cell(1, NONE, 4, 4, 4, 0)
    assert tops[7] == Cell(1, 5, 4, 6, 4, 0)


def test_relations_are_data():
    assert codes(["previous", "last_shift", "below2.left_terminal"]).tolist() == [[-1, 0], [-1, 1], [2, 4]]
    assert codes([f"top.{field}" for field in FIELDS]).tolist() == [[0, i] for i in range(len(FIELDS))]
    stack = [Cell(0, context=7), Cell(ROOT)]
    assert related(stack, 8, NONE, codes(["previous", "last_shift", "top.context", "below2.context"])) == [8, -1, 7, -1]
    for name in ("top", "top.head", "queue.context", ""):
        with pytest.raises(ValueError, match="Expected a relation"):
            Relations(latent=(name,))
