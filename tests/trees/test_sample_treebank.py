"""The embedded sample treebank: what its README promises about form and variety."""

from __future__ import annotations

import itertools
from collections.abc import Callable

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
BE = names("am are be been being is was were 'm 're 's")

Property = Callable[[Tree], bool]


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


# Size and variety ------------------------------------------------------------------------------


def test_sample_has_600_trees(treebank):
    assert len(treebank) >= 600


def test_sample_dev_is_a_small_part():
    assert 0.1 <= len(read("dev")) / len(read("train")) <= 0.25


def has_label(*labels: str) -> Property:
    """Whether some node, preterminals included, has one of the labels."""
    return lambda tree: any(node.label in labels for node in tree.nodes())


def has_node(test: Property) -> Property:
    """Whether some node passes the test."""
    return lambda tree: any(test(node) for node in tree.nodes())


def length(shortest: int, longest: int) -> Property:
    return lambda tree: shortest <= len(tree) <= longest


def top_is(*labels: str) -> Property:
    return lambda tree: tree.children[0].label in labels


def child_labels(node: Tree) -> list[str]:
    return [child.label for child in node.children]


def is_passive(node: Tree) -> bool:
    """A form of "be" beside a VP with a past participle: "was sold", "Were the calves sold"."""
    return any(child.is_leaf and str(child.word).lower() in BE for child in node.children) and any(
        child.label == "VP" and "VBN" in child_labels(child) for child in node.children
    )


def is_relative(node: Tree) -> bool:
    """An NP that begins with an NP and has a wh-clause or a clause without complementizer."""
    return (
        node.label == "NP"
        and child_labels(node)[:1] == ["NP"]
        and any(child.label == "SBAR" and child_labels(child)[0][:2] in ("WH", "S") for child in node.children[1:])
    )


def is_reduced_relative(node: Tree) -> bool:
    """An NP that begins with an NP and has a participle's VP, or an RRC."""
    return (
        node.label == "NP"
        and child_labels(node)[:1] == ["NP"]
        and any(
            child.label == "RRC" or (child.label == "VP" and child_labels(child)[0] in ("VBN", "VBG"))
            for child in node.children[1:]
        )
    )


def is_ditransitive(node: Tree) -> bool:
    """A verb directly followed by two noun phrases."""
    return node.label == "VP" and [label[:2] for label in child_labels(node)[:3]] == [
        "VB",
        "NP",
        "NP",
    ]


def is_imperative(node: Tree) -> bool:
    """A clause without subject that a base form begins."""
    if node.label != "S" or "NP" in child_labels(node):
        return False
    phrases = [child for child in node.children if child.label == "VP"]
    while phrases and phrases[0].label == "VP":
        phrases = list(phrases[0].children)
    return bool(phrases) and phrases[0].label == "VB"


VARIETY: dict[str, tuple[int, Property]] = {  # what: at least so many trees, that have it
    "questions": (35, has_label("SQ", "SBARQ")),
    "wh-phrases": (80, has_label("WHNP", "WHADVP", "WHPP", "WHADJP")),
    "coordination": (60, has_label("CC", "CONJP")),
    "relative clauses": (45, has_node(is_relative)),
    "reduced relatives": (25, has_node(is_reduced_relative)),
    "ditransitives": (20, has_node(is_ditransitive)),
    "passives": (40, has_node(is_passive)),
    "quotes": (30, has_label("``")),
    "numbers": (45, has_label("CD", "$")),
    "particles": (20, has_label("PRT")),
    "quantifiers": (20, has_label("QP")),
    "imperatives": (15, has_node(is_imperative)),
    "fragments": (20, top_is("FRAG", "INTJ", "NP")),
    "short (up to 5 tokens)": (30, length(1, 5)),
    "ordinary (8 to 22 tokens)": (150, length(8, 22)),
    "long (over 25 tokens)": (40, length(26, 200)),
    "very long (over 40 tokens)": (5, length(41, 200)),
}


@pytest.mark.parametrize("what", VARIETY)
def test_sample_has_variety(treebank, what):
    minimum, property_ = VARIETY[what]
    assert sum(map(property_, treebank)) >= minimum


def test_sample_dev_has_the_same_mixture():
    """Every kind of sentence that the treebank promises is in the development part too."""
    dev = read("dev")
    assert [what for what, (_, property_) in VARIETY.items() if not any(map(property_, dev))] == []


def test_sample_dev_labels_are_learnable():
    assert labels_in(read("dev")) <= labels_in(read("train"))
