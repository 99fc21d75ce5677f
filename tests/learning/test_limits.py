"""Trees that are too large to learn from are left out by all learners, which say so."""

import pytest

from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import EM, Pivot, Spectral, SplitMerge, TreebankPCFG, limits
from spacy_lpcfg.learning.limits import learnable
from spacy_lpcfg.trees import Tree, TreeFiles, parse_trees, write_trees

TREES = list(parse_trees("(S (NP (DT the) (NN dog)) (VP (VB barked))) (S (NP (PRP it)) (VP (VB saw) (NP (NN rain))))"))
LEFT_OUT = "Left out of learning: 1 tree of more than 500 levels and 2 trees of more than 500 words."
LEARNERS = [
    TreebankPCFG(),
    Spectral(n_states=2, tokens_per_state=0.0),
    Pivot(n_states=2, tokens_per_state=0.0),
    EM(n_states=2, n_iterations=1),
    SplitMerge(n_states=2, tokens_per_state=0.0),
    ISBNLearner(n_states=4, n_epochs=1),
]


def flat(n_words: int) -> Tree:
    return Tree("S", [Tree("NN", word="w")] * n_words)


def deep(n_levels: int) -> Tree:
    tree = Tree("NN", word="w")
    for _ in range(n_levels - 1):
        tree = Tree("S", [tree])
    return tree


TOO_LARGE = [flat(501), deep(501), flat(20_000)]


def test_limits_are_those_that_are_told(caplog):
    fitting = [flat(500), deep(500)]
    assert list(learnable([*TOO_LARGE, *fitting])) == fitting
    assert LEFT_OUT in caplog.text


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learner_leaves_out_trees_beyond_the_limits(learner, caplog):
    learned = learner.fit([*TOO_LARGE, *TREES])
    assert LEFT_OUT in caplog.text
    assert learned.to_bytes() == learner.fit(TREES).to_bytes()


def test_learner_leaves_out_trees_of_several_files(tmp_path, caplog):
    write_trees(tmp_path / "a.mrg", [TOO_LARGE[0], *TREES])
    write_trees(tmp_path / "b.mrg", TOO_LARGE[1:])
    numbers = []
    files = TreeFiles.of(tmp_path, on_read=lambda _, n: numbers.append(n))
    assert TreebankPCFG().fit(files).to_bytes() == TreebankPCFG().fit(TREES).to_bytes()
    assert LEFT_OUT in caplog.text
    assert numbers == [3, 2]


def test_trees_that_are_all_too_large_are_no_treebank():
    with pytest.raises(ValueError, match="at least one tree to learn from"):
        TreebankPCFG().fit(TOO_LARGE)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learner_refuses_more_symbols_than_a_parser_has_room_for(learner, monkeypatch):
    monkeypatch.setattr(limits, "MOST_SYMBOLS", 6)
    with pytest.raises(ValueError, match=r"at most 6 tags and labels, those of binarization .* got \d+:"):
        learner.fit(TREES)
