"""Hypothesis strategies: random labels, words and trees."""

from hypothesis import strategies as st

from spacy_lpcfg.trees import Tree

SPACE_OR_BRACKET = " \t\n\r\f\v()"

# What treebanks write, beside what nobody would.
CATEGORIES = ["S", "NP", "VP", "NP-SBJ-1", "NP=2", "ADVP|PRT", "S.fp", "grup.nom", "sn-SUJ"]
TAGS = ["NN", "PRP$", "-LRB-", "``", ",", "$kat", "NPR-N", "NN|SYM"]
SPECIAL = st.text(alphabet="|\\-=_>.AB", min_size=1, max_size=4)


def words() -> st.SearchStrategy[str]:
    """Words that a bracketed file can hold."""
    characters = st.characters(exclude_characters=SPACE_OR_BRACKET, exclude_categories=["Cs"])
    return st.text(alphabet=characters, min_size=1, max_size=6)


def labels(usual: list[str] = CATEGORIES) -> st.SearchStrategy[str]:
    """Labels: usual ones, and strange ones with the characters that transforms give a meaning."""
    return (st.sampled_from(usual) | SPECIAL | words()).filter(lambda label: label[0] != "@")


def trees(
    categories: st.SearchStrategy[str] | None = None,
    tags: st.SearchStrategy[str] | None = None,
    *,
    max_leaves: int = 12,
) -> st.SearchStrategy[Tree]:
    """Trees with n-ary nodes and unary chains, down to a single leaf.

    categories, tags (strategies of str): The labels of inner nodes and of leaves; `labels()` if
        None.
    max_leaves (int): About the most words that a tree has.
    """
    category = labels() if categories is None else categories
    tag = labels(TAGS) if tags is None else tags
    leaf = st.builds(lambda tag, word: Tree(tag, word=word), tag, words())
    return st.recursive(
        leaf, lambda nodes: st.builds(Tree, category, st.lists(nodes, min_size=1, max_size=4)), max_leaves=max_leaves
    )


def sentences_with_space(trees: st.SearchStrategy[Tree]) -> st.SearchStrategy[list[str | Tree]]:
    """Sentences of a Doc, as lists of whitespace tokens with a tree among them, or none."""
    space = st.lists(st.sampled_from(["\n", " ", "\t", "\u00a0", "\u3000"]), max_size=2)
    words = st.lists(trees, max_size=1)
    return st.builds(lambda before, inside, after: [*before, *inside, *after], space, words, space).filter(bool)
