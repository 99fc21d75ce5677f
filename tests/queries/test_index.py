"""An index has the trees that it was made of, whichever way they came."""

import gzip

import numpy as np
import pytest
from bracketed import tree_of
from hypothesis import given
from hypothesis import strategies as st
from oracles.lexical_heads import lexical_heads
from oracles.strategies import trees
from paths import SAMPLE

from spacy_lpcfg.queries import TreeIndex, TreeNode, reading
from spacy_lpcfg.trees import HeadRules, Tree, TreebankError, parse_trees, read_trees


def trees_of(index: TreeIndex) -> list[Tree]:
    return [TreeNode(index, int(root)).tree for root in index.roots[:-1]]


@given(st.lists(trees(), max_size=4))
def test_index_has_the_trees(trees):
    index = TreeIndex.from_trees(trees)
    assert trees_of(index) == trees
    assert len(index) == len(trees)
    nodes = [TreeNode(index, i) for i in range(len(index.label))]
    assert [node.label for node in nodes if not node.is_word] == [node.label for tree in trees for node in tree.nodes()]
    roots = [TreeNode(index, int(number)) for number in index.roots[:-1]]
    of_roots = [(root.root, root.tree_number, root.start, root.end, root.words) for root in roots]
    assert of_roots == [(root, i, 0, len(trees[i]), trees[i].words) for i, root in enumerate(roots)]


@given(st.lists(trees(), min_size=1, max_size=3), st.sampled_from(["left", "right"]))
def test_index_heads_are_those_of_the_rules(trees, side):
    rules = HeadRules(side=side)
    index = TreeIndex.from_trees(trees, rules)
    heads = [TreeNode(index, i) for i in index.nodes("__ !< __ >># _ROOT_").tolist()]
    assert [word.start for word in heads] == [lexical_heads(tree, rules)[0] for tree in trees]


@pytest.mark.parametrize("size", [2**22, 100])
def test_index_reads_files_as_others_do(tmp_path, monkeypatch, size):
    monkeypatch.setattr(reading, "_BLOCK", size)
    text = (SAMPLE / "dev.mrg").read_text("utf-8")
    rooted = "".join(f"( {tree} )\n\n" for tree in parse_trees(text))
    odd = text.replace(" (", "\n\x0b(").replace("the", "th\u00a0\u2028e").encode()
    files = {"a.mrg": text.encode(), "b.mrg": b"\xef\xbb\xbf" + rooted.encode(), "d.mrg": odd, "e.mrg": b""}
    files["c.mrg.gz"] = gzip.compress(text.encode())
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert trees_of(TreeIndex.read(tmp_path / name)) == list(read_trees(tmp_path / name))
    assert len(TreeIndex.read(tmp_path)) == 400
    with pytest.raises(FileNotFoundError):
        TreeIndex.read(tmp_path / "absent.mrg")


def test_index_reads_regular_files_without_making_trees(monkeypatch):
    monkeypatch.setattr(reading, "read_trees", None)
    assert len(TreeIndex.read(SAMPLE / "dev.mrg")) == 100


BROKEN = [
    "(S (NP a)) )", "(S (NP a)", "(S ())", "(S)", "(S (NP a b))", "(S (NP a) b)", "(S a (NP b))", "word (S (A a))",
    "(S (A a)) word", "(S ((A a)))", "((A a))", "((ID 7) (S (A a)))", "( (METADATA (ID x)) (S (A a)))", "(ID 7)",
    "( (S (A a)) (X (B b)))", "()", "(( (A a)))", "(A a)(B b) ( (C c))", "(S (ID x))",
    "(S (NP (NN dog)) (X N_S))", "(S (CODE(SYM SpeakerA1)) (NN dog))",
]  # fmt: skip


@pytest.mark.parametrize("text", [*BROKEN, "(S (A \ufffd\ufffd))"])
def test_index_reads_what_is_strange_as_others_do(new_file, text):
    path = new_file(
        "strange.mrg", b"(S (A a))\n" + text.encode("utf-8").replace("\ufffd".encode(), b"\xff") + b"\n(S (A a))\n"
    )

    def read(reader) -> tuple[list[Tree] | str, list[str]]:
        errors: list[TreebankError] = []
        try:
            return reader(errors.append), list(map(str, errors))
        except TreebankError as error:
            return str(error), []

    expected, errors = read(lambda on_error: list(read_trees(path, on_error=on_error)))
    assert read(lambda on_error: trees_of(TreeIndex.read(path, on_error=on_error))) == (expected, errors)
    if errors:
        with pytest.raises(TreebankError, match=r"strange.mrg:\d"):
            TreeIndex.read(path)


@pytest.mark.slow
def test_index_of_a_deep_tree():
    tree = Tree("X", word="x")
    for _ in range(2**16 + 10):
        tree = Tree("A", [tree])
    index = TreeIndex.from_trees([tree, tree])
    assert trees_of(index) == [tree, tree]
    assert len(index.nodes("A <<: x")) == 2 * (2**16 + 10)


def test_index_matches_have_the_least_probability_of_their_nodes():
    trees = list(parse_trees("(S (NP (PRP it)) (VP (VBZ works)))\n(A (B b))\n(S (NP (PRP she)) (VP (VBZ works)))"))
    scores = [([0.9, 0.5, 0.7], [0.4, 0.8]), (None, [0.2]), ([np.nan, 0.6, 0.3], None)]
    index = TreeIndex.from_trees(trees, scores=scores)

    def found(pattern: str) -> list[float | None]:
        return [match.probability for match in index.search(pattern)]

    assert found("S") == [0.9, None]
    assert found("S < NP=n") == [0.5, 0.6]
    assert found("S < NP < VP") == [0.9, None]
    assert found("S << PRP=p < VP=v") == [0.4, 0.3]
    assert found("A << b=w") == [None]
    assert found("B") == [0.2]
    assert [match.probability for match in TreeIndex.from_trees(trees).search("S")] == [None, None]


def test_index_matches_have_the_variables_of_the_first_match():
    (tree,) = parse_trees("(S (NP-1 a) (NP-2 b) (VP (NP-2 c)))")
    matches = [*TreeIndex.from_trees([tree]).search("S < /NP-(.)/#1%v < (VP=x < /NP-(.)/#1%v)")]
    assert [(match.variables, [*match.names]) for match in matches] == [({"v": "2"}, ["x"])]
    assert [match.variables for match in TreeIndex.from_trees([tree]).search("S < /-(.)/#1%v")] == [{"v": "1"}]
    assert [match.variables for match in TreeIndex.from_trees([tree]).search("VP")] == [{}]


def test_index_below_root_has_a_root_over_each_tree():
    texts = ["(S (NP (NN ROOT)) (VP (VBD fell)))", "( (S (NP (NN rain)) (VP (VBD fell))))", "(ROOT (S (VP (VB Go))))"]
    index = TreeIndex.from_trees(map(tree_of, texts))
    assert [match.node.tree_number for match in index.search("S > ROOT")] == [2]
    rooted = index.below_root()
    assert [match.node.tree_number for match in rooted.search("S > ROOT")] == [0, 1, 2]
    assert [match.node.tree_number for match in rooted.search("NN >> ROOT")] == [0, 1]
    assert rooted.below_root() is rooted
