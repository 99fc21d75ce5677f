"""The embedded sample treebank has the form and the size that its README promises."""

import pytest
from bracketed import tree_of
from paths import SAMPLE

from spacy_lpcfg.trees import Tree, normalize

LABELS = (
    "ADJP ADVP CONJP FRAG INTJ LST NAC NP NX PP PRN PRT QP RRC S SBAR SBARQ SINV SQ UCP VP WHADJP WHADVP WHNP WHPP X"
)
TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP "
    "VBZ WDT WP WP$ WRB # $ '' , -LRB- -RRB- . : ``"
)


@pytest.fixture(scope="module")
def treebank() -> dict[str, list[str]]:
    return {part: (SAMPLE / f"{part}.mrg").read_text("utf-8").splitlines() for part in ("train", "dev")}


def labels_in(trees: list[Tree]) -> set[str]:
    """The labels of all nodes between the root label and the preterminals."""
    return {node.label for tree in trees for node in tree.nodes() if not node.is_leaf} - {"ROOT"}


def test_sample_has_one_normal_tree_a_line_below_a_root(treebank):
    """No function labels, no empty elements and no unary X over X: nothing to normalize."""
    for lines in treebank.values():
        trees = list(map(tree_of, lines))
        assert list(map(str, trees)) == lines
        assert {(tree.label, len(tree.children)) for tree in trees} == {("ROOT", 1)}
        assert [str(tree) for tree in trees if normalize(tree) != tree.children[0]] == []


def test_sample_has_the_penn_treebanks_labels_and_tags(treebank):
    trees = [tree_of(line) for lines in treebank.values() for line in lines]
    assert labels_in(trees) <= {*LABELS.split()}
    assert {tag for tree in trees for tag in tree.tags} <= {*TAGS.split()}
    pairs = {(leaf.word.lower(), leaf.label) for tree in trees for leaf in tree.leaves()}
    for word, tag in (("to", "TO"), ("n't", "RB"), ("the", "DT")):
        assert {found for form, found in pairs if form == word} == {tag}


def test_sample_has_600_sentences_all_distinct_and_a_small_part_to_measure_on(treebank):
    """Distinct within each part and between the parts, whatever the case of the letters."""
    train, dev = ([tree_of(line) for line in lines] for lines in treebank.values())
    sentences = {" ".join(tree.words).lower() for tree in (*train, *dev)}
    assert len(sentences) == len(train) + len(dev) >= 600
    assert 0.1 <= len(dev) / len(train) <= 0.25
    assert labels_in(dev) <= labels_in(train)
