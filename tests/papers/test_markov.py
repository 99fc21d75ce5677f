"""Ancestors in the names of categories, for the Markovised PCFG of Cohen et al. (2013)."""

from benchmarks.papers.markov import with_parents, without_parents
from spacy_lpcfg.trees import parse_trees


def test_categories_have_their_parents_names_and_lose_them_again():
    (tree,) = parse_trees("(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NP (NN fish)) (PP (IN at) (NP (NN sea))))))")
    wanted = "(S (NP^S (DT the) (NN cat)) (VP^S (VBD saw) (NP^VP (NP^NP (NN fish)) (PP^NP (IN at) (NP^PP (NN sea))))))"
    assert str(with_parents(tree)) == wanted
    assert without_parents(with_parents(tree)) == tree
