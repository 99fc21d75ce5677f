"""The head word of each node of a tree, node by node."""

from spacy_lpcfg.trees import HeadRules, Tree
from spacy_lpcfg.trees.heads import ENGLISH


def lexical_heads(tree: Tree, rules: HeadRules = ENGLISH) -> list[int]:
    """Find the position of the head word of each node, in the order of `tree.nodes()`.

    A node `@X` of a binarized tree counts as its own head child.
    """
    heads: dict[int, int] = {}
    n_words = 0

    def visit(node: Tree, below: list[tuple[int, str]]) -> tuple[int, str]:
        nonlocal n_words
        head, label = n_words, node.label
        if node.is_leaf:
            n_words += 1
        else:
            head, label = below[rules.head(node.label, [name for _, name in below])]
        heads[id(node)] = head
        return head, label if node.label.startswith("@") else node.label

    tree.fold(visit)
    return [heads[id(node)] for node in tree.nodes()]
