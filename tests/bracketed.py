"""A tree written as brackets."""

from spacy_lpcfg.trees import Tree, parse_trees


def tree_of(text: str) -> Tree:
    (tree,) = parse_trees(text)
    return tree
