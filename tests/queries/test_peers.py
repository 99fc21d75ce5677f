"""The same nodes as NLTK's tgrep finds, for what both have."""

from random import Random

import pytest

from spacy_lpcfg.queries import TreeIndex, TreeNode
from spacy_lpcfg.trees import Tree, to_nltk


def random_tree(random: Random, depth: int = 4) -> Tree:
    """A tree that has no word twice: NLTK takes equal subtrees for one."""
    words = iter(range(1000))

    def grow(depth: int) -> Tree:
        if depth == 0 or random.random() < 0.3:
            return Tree(random.choice("ABC"), word=f"w{next(words)}")
        return Tree(random.choice("ABC"), [grow(depth - 1) for _ in range(random.choice([1, 1, 2, 3]))])

    return grow(depth)


TREES = [random_tree(Random(seed)) for seed in range(40)]


def ours(tree: Tree, pattern: str) -> list[str]:
    index = TreeIndex.from_trees([tree])
    nodes = [TreeNode(index, int(i)) for i in index.nodes(pattern)]
    return [str(node.tree) for node in nodes if not node.is_word]


SHARED = [
    "<", ">", "<,", ">,", "<1", ">1", "<2", ">2", "<-", ">-", "<-1", ">-1", "<-2", ">-2", "<:", ">:", "<<", ">>", "<<,",
    ">>,", "<<:", ">>:", ".", ",", "..", ",,", "$", "$.", "$,", "$..", "$,,", "<<`", ">>`",
]  # fmt: skip
"""Relations of both; the last two end in an apostrophe there."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("relation", SHARED)
def test_peers_tgrep_of_nltk(relation):
    pytest.importorskip("pyparsing")
    tgrep = pytest.importorskip("nltk.tgrep")
    from nltk.tree import ParentedTree

    for form in ("A {} B", "A !{} B", "/[AB]/ {} (B < C)", "A [{} B | {} C]"):
        pattern = form.replace("{}", relation)
        compiled = tgrep.tgrep_compile(pattern.replace("`", "'"))
        for tree in TREES:
            (found,) = tgrep.tgrep_nodes(compiled, [ParentedTree.convert(to_nltk(tree))])
            assert ours(tree, pattern) == [" ".join(str(node).split()) for node in found], (pattern, str(tree))
