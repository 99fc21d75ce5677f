"""Dependencies by heads, and CoNLL-U."""

from hypothesis import given
from oracles.lexical_heads import lexical_heads
from oracles.strategies import trees

from spacy_lpcfg.trees import HeadRules, Tree, conllu, dependencies, head_rules, parse_trees
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH

(SALES,) = parse_trees(
    "(ROOT (S (NP-SBJ (NP (NNS Sales)) (PP (IN of) (NP (NN tea)))) (VP (MD may) (VP (VB rise) (NP (CD 3\\/4)))) (. .)))"
)


def slow(tree: Tree, rules: HeadRules) -> list[tuple[int, str]]:
    """The head of each word, and the label of the largest node that it is the head of, node by node."""
    nodes, heads = [*tree.nodes()], lexical_heads(tree, rules)
    number = {id(node): i for i, node in enumerate(nodes)}
    above = {id(child): node for node in nodes for child in node.children}
    found = {}
    for node, word in zip(nodes, heads, strict=True):
        parent = above.get(id(node))
        if parent is None or heads[number[id(parent)]] != word:
            found[word] = (NO_HEAD if parent is None else heads[number[id(parent)]], node.label)
    return [found[word] for word in sorted(found)]


@given(trees())
def test_dependencies_are_those_of_the_heads_of_nodes(tree):
    for rules in (ENGLISH, DEFAULT, HeadRules(side="right")):
        found = dependencies(tree, rules)
        assert [(each.head, each.phrase) for each in found] == slow(tree, rules)
        assert [each.head for each in found].count(NO_HEAD) == 1


def test_dependencies_have_the_labels_of_both_nodes():
    labels = ["S>NP-SBJ", "NP-SBJ>PP", "PP>NP", "root", "VP>VP", "VP>NP", "S>."]
    assert [each.label for each in dependencies(SALES)] == labels
    assert [each.head for each in dependencies(SALES)] == [3, 0, 1, NO_HEAD, 3, 4, 3]


def test_dependencies_of_conjunctions_are_those_of_universal_dependencies():
    """On the next conjunct, if they follow the head; on the head at the beginning of a sentence."""
    (tree,) = parse_trees(
        "(S (CCONJ But) (NP (NP (NOUN tea)) (CCONJ and) (CCONJ or) (, ,) (NP (NOUN salt))) (VP (VERB rose)))"
    )
    heads = [each.head for each in dependencies(tree, head_rules("dependencies"))]
    assert heads == [6, 6, 5, 5, 1, 1, NO_HEAD]


def test_dependencies_of_fixed_expressions_are_on_their_first_word():
    """As in Universal Dependencies: Japanese "ni yotte" has three words, and "de aru" two."""
    (tree,) = parse_trees(
        "(S (PP (NP (NOUN 法)) (ADP に) (VERB よっ) (SCONJ て)) (VP (VP (NP (NOUN 罪)) (AUX で) (VERB あっ)) (AUX た)))"
    )
    heads = [each.head for each in dependencies(tree, head_rules("dependencies"))]
    assert heads == [4, 0, 1, 1, NO_HEAD, 4, 5, 4]
    (crossing,) = parse_trees("(NP (NOUN a) (ADP b) (ADP c) (VERB d))")
    assert [each.head for each in dependencies(crossing, head_rules("dependencies"))] == [NO_HEAD, 0, 1, 1]


def test_dependencies_in_conllu():
    rows = [line.split("\t") for line in conllu(SALES).splitlines()[1:]]
    assert conllu(SALES).startswith(
        "# text = Sales of tea may rise 3/4 .\n1\tSales\t_\tNOUN\tNNS\t_\t4\tS>NP-SBJ\t_\t_\n"
    )
    assert {len(row) for row in rows} == {10}
    assert [row[0] for row in rows] == list("1234567")
    assert [row[6] for row in rows] == list("4120454")
    assert [row[3] for row in rows] == ["NOUN", "ADP", "NOUN", "AUX", "VERB", "NUM", "PUNCT"]
    (german,) = parse_trees("(S (PPER Es) (VVFIN regnet) ($. .))")
    assert [line.split("\t")[3:5] for line in conllu(german).splitlines()[1:]] == [
        ["_", "PPER"],
        ["_", "VVFIN"],
        ["_", "$."],
    ]
    assert rows[5][1] == "3/4"
