"""Brackets over several lines: the layout of the Penn Treebank, and the same tree when it is read."""

from pipelines import SAMPLE

from spacy_lpcfg.trees import Tree, parse_trees, read_trees
from spacy_lpcfg.trees.indented import indented

EXAMPLE = """\
(ROOT
  (S
    (NP (PRP$ My) (NN dog))
    (ADVP (RB also))
    (VP (VBZ likes)
      (S
        (VP (VBG eating)
          (NP (NN bread) (CC and)
            (NN sausage)))))
    (. .)))"""


def test_example():
    (tree,) = parse_trees(EXAMPLE)
    assert indented(tree) == EXAMPLE
    assert indented(Tree("NN", word="dog")) == "(NN dog)"
    assert indented(Tree("S", [Tree("SYM", word="\\")])) == "(S (SYM \\ ))"


def test_trees_of_the_sample_come_back():
    trees = list(read_trees(SAMPLE / "dev.mrg"))
    assert list(parse_trees("\n".join(map(indented, trees)))) == trees
