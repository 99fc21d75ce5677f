"""The embedded sample treebank has the form and the size that its README promises."""

from __future__ import annotations

import itertools

import pytest
from paths import ROOT

from spacy_lpcfg.trees import Tree, normalize, parse_trees, read_trees

SAMPLE = ROOT / "assets" / "sample"
PARTS = ("train", "dev")


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LABELS = names(
    "ADJP ADVP CONJP FRAG INTJ LST NAC NP NX PP PRN PRT QP RRC S SBAR SBARQ SINV SQ UCP VP WHADJP WHADVP WHNP WHPP X"
)
WORD_TAGS = names(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH"
    " VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB"
)
PUNCTUATION_TAGS = names("# $ '' , -LRB- -RRB- . : ``")


def read(part: str) -> list[Tree]:
    return list(read_trees(SAMPLE / f"{part}.mrg"))


def lines(part: str) -> list[str]:
    return (SAMPLE / f"{part}.mrg").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def treebank() -> list[Tree]:
    return [tree for part in PARTS for tree in read(part)]


def labels_in(trees: list[Tree]) -> set[str]:
    """The labels of all nodes between the root label and the preterminals."""
    return {node.label for tree in trees for node in tree.nodes() if not node.is_leaf} - {"ROOT"}


# Form ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_sample_has_one_tree_a_line(part):
    assert [[str(tree) for tree in parse_trees([line])] for line in lines(part)] == [[line] for line in lines(part)]


def test_sample_roots_are_unary(treebank):
    assert {(tree.label, len(tree.children)) for tree in treebank} == {("ROOT", 1)}


def test_sample_labels_are_the_penn_treebanks(treebank):
    assert labels_in(treebank) <= LABELS


def test_sample_tags_are_the_penn_treebanks(treebank):
    tags = {tag for tree in treebank for tag in tree.tags}
    assert tags <= WORD_TAGS | PUNCTUATION_TAGS


def test_sample_is_normal(treebank):
    """No function labels, no empty elements and no unary X over X: nothing to normalize."""
    changed = [str(tree) for tree in treebank if normalize(tree) != tree.children[0]]
    assert changed == []


def test_sample_words_are_tokens(treebank):
    words = {word for tree in treebank for word in tree.words}
    assert [word for word in words if word != "".join(word.split()) or not word] == []


def test_sample_sentences_are_distinct(treebank):
    """Within each part and between the parts, whatever the case of the letters."""
    sentences = sorted(" ".join(tree.words).lower() for tree in treebank)
    assert [a for a, b in itertools.pairwise(sentences) if a == b] == []


@pytest.mark.parametrize(("word", "tag"), [("to", "TO"), ("n't", "RB"), ("the", "DT")])
def test_sample_function_words_have_one_tag(treebank, word, tag):
    pairs = {(leaf.word.lower(), leaf.label) for tree in treebank for leaf in tree.leaves()}
    assert {found for form, found in pairs if form == word} == {tag}


# Size -------------------------------------------------------------------------------------------


def test_sample_has_600_trees(treebank):
    assert len(treebank) >= 600


def test_sample_dev_is_a_small_part():
    assert 0.1 <= len(read("dev")) / len(read("train")) <= 0.25


def test_sample_dev_labels_are_learnable():
    assert labels_in(read("dev")) <= labels_in(read("train"))
