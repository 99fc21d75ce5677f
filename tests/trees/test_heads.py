from __future__ import annotations

import pytest
import spacy
from commands import run
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.components.named_learner import make_learner
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import HeadRules, Tree, head_rules, normalize, parse_trees, read_trees
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH, lexical_heads, rules_of_language, rules_of_tags
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries

ENGLISH_CATEGORIES = st.sampled_from(["S", "NP", "VP", "PP", "SBAR", "ADJP", "QP", "X", "UNKNOWN"])
ENGLISH_TAGS = st.sampled_from(["NN", "VBD", "IN", "DT", "CD", "JJ", "POS", ",", "-LRB-"])


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "S , CC S .", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "ADVP VBD NP", 1),
        ("NP", "DT NNP NN", 2),
        ("NP", "DT NN CC NN", 1),
        ("NP", "NN , NN , CC NN", 2),
        ("NP", "NN CC NN CC NN", 0),
        ("NP", "NP POS", 1),
        ("NP", "NP , SBAR", 0),
        ("NP", "DT JJ", 1),
        ("NP", "-LRB- FW -RRB-", 1),
        ("PP", "ADVP IN NP", 1),
        ("SBAR", "WHNP S", 0),
        ("SINV", "`` S '' VBD NP", 3),
        ("QP", "RB $ CD CD", 1),
        ("UCP", "ADJP CC NP", 0),
        ("UCP", "ADJP .", 0),
        ("FRAG", "NP PP .", 1),
        ("ROOT", "NP S", 1),
        ("UNKNOWN", "A UNKNOWN UNKNOWN", 1),
        ("UNKNOWN", ", A B", 1),
        ("UNKNOWN", ", .", 0),
        ("NP", ", .", 1),
        ("NP", "CC", 0),
    ],
)
def test_heads_of_english_nodes(label, children, head):
    assert ENGLISH.head(label, children.split()) == head


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP-SBJ-1", ["DT", "NN"], 1),
        ("S=2", ["NP-SBJ=3", "VP-TPC", "."], 1),
        ("S|VP", ["VBD", "NP"], 0),  # the children are those of the VP
        ("S", ["NP|PRP", "VP|VBD"], 1),  # as categories, not as tags
        (r"ADVP\|PRT", ["RB", "RP"], 0),
        ("S", ["NP", "@S"], 1),
        ("@S->_NP", ["VP", "."], 0),
        ("PP", ["@PP->_NP", "NP"], 0),
        ("NP", ["DT", "@NP"], 1),
    ],
)
def test_heads_of_labels_with_functions_chains_and_new_nodes(label, children, head):
    assert ENGLISH.head(label, children) == head


def test_heads_of_other_languages():
    assert head_rules("en") is ENGLISH
    assert head_rules("ca") is DEFAULT
    assert DEFAULT.head("sn", ["espec.ms", "grup.nom"]) == 0
    assert DEFAULT.head("S", ["sn-SUJ", "S", "Fp"]) == 1
    assert DEFAULT.head("S", ["$,", "$(", "VVFIN"]) == 2
    assert HeadRules(side="right").head("NP", ["N", "P", "."]) == 1


@pytest.mark.parametrize(
    ("table", "label", "children", "head"),
    [
        ("corpussearch", "NP-SBJ", "D-N ADJ-N N-N CP-REL", 2),
        ("corpussearch", "NP-OB1", "NP-POS N+D-A", 1),
        ("corpussearch", "NP", "Q^N^PL PRO$^N N^N^SG", 2),
        ("corpussearch", "IP-SUB", "NP-SBJ NP-OB1 GE+VBDI^3^SG", 2),
        ("corpussearch", "IP-MAT", "CONJ NP-SBJ MDPI ADVP VB .", 2),
        ("corpussearch", "IP-INF", "TO VB NP", 1),
        ("corpussearch", "PP", "ADV P NP", 1),
        ("corpussearch", "CP-REL", "WNP C IP-SUB", 1),
        ("corpussearch", "CONJP", "CONJ NP", 0),
        ("head-final", "PP-OB1", "NP P", 1),
        ("head-final", "NP", "IP-REL N PU", 1),
        ("head-final", "IP-MAT", "PP NP VB AXD PU", 2),
        ("head-final", "NUMCLP", "NUM CL", 1),
        ("head-final", "FOO", "A B ,", 1),
        ("general", "NP", "lo_et NNO PP", 1),
        ("general", "NP-SB", "ART ADJA NN", 2),
        ("general", "PP", "APPR ART NN", 0),
        ("general", "S", "NP-SB $, VVFIN", 2),
        ("general", "IP", "NP-SUBJ VP", 1),
        ("general", "FOO", ", A B", 1),
    ],
)
def test_heads_of_tables(table, label, children, head):
    assert head_rules(table).head(label, children.split()) == head


def test_heads_of_languages_are_those_of_their_tables():
    assert head_rules("ja") is head_rules("head-final")
    assert head_rules("is") is rules_of_language("is") is DEFAULT


def test_heads_are_read_from_files(tmp_path):
    path = tmp_path / "own.heads"
    path.write_text("# a comment\nside: right\ncoordinators: KON\ncut: _ ^\nNP CNP: left N*|X, right D A\n", "utf-8")
    rules = head_rules(str(path))
    assert (rules.side, rules.coordinators, rules.cut) == ("right", {"KON"}, "_^")
    assert [rules.head("NP", row.split()) for row in ("D X_a^b NN", "A D A", "N KON N", "X")] == [1, 1, 0, 0]
    assert rules.head("FOO", ["A", "B", "."]) == 1


@pytest.mark.parametrize("line", ["NP left N", "NP: middle N", "NP: left N right", ": left N", "NP:"])
def test_heads_of_broken_files_are_told_with_their_line(tmp_path, line):
    path = tmp_path / "own.heads"
    path.write_text(f"side: left\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"own\.heads:2: Expected categories, a colon, and sides"):
        head_rules(str(path))


def test_heads_of_unknown_tables_are_refused():
    with pytest.raises(
        ValueError, match=r"one of english, corpussearch, head-final, general, dependencies, but got 'englisch'"
    ):
        head_rules("englisch")
    with pytest.raises(FileNotFoundError):
        head_rules("none.heads")


def test_heads_are_chosen_for_learners_by_name_or_file(tmp_path):
    train, rules = tmp_path / "train.mrg", tmp_path / "own.heads"
    train.write_text("(S (NP (D the) (N cat)) (V slept))\n" * 4, "utf-8")
    rules.write_text("side: right\n", "utf-8")
    model = tmp_path / "model"
    run("learn", "lpcfg", train, "--method", "pcfg", "--set", f"heads={rules}", "-o", model)
    assert spacy.load(model).get_pipe("lpcfg_parser").learner == TreebankPCFG(lang=str(rules.resolve()))
    assert make_learner("pivot", heads="corpussearch", settings={"span_layer": False}).lang == "corpussearch"
    assert make_learner("balanced", lang="is", heads="general").learners[0].learner.lang == "general"
    refused = run("learn", "lpcfg", train, "--set", "heads=corpusearch", "-o", tmp_path / "other", code=2)
    assert "corpusearch" in refused.stderr


def test_heads_need_children():
    with pytest.raises(ValueError, match="'NP' has none"):
        ENGLISH.head("NP", [])


def test_lexical_heads_of_a_sentence():
    text = "(ROOT (S (NP (NP (DT The) (NN cat)) (PP (IN of) (NP (PRP me)))) (VP (VBD slept)) (. .)))"
    (tree,) = parse_trees(text)
    heads = [(node.label, tree.words[head]) for node, head in zip(tree.nodes(), lexical_heads(tree), strict=True)]
    assert heads == [
        ("ROOT", "slept"),
        ("S", "slept"),
        ("NP", "cat"),
        ("NP", "cat"),
        ("DT", "The"),
        ("NN", "cat"),
        ("PP", "of"),
        ("IN", "of"),
        ("NP", "me"),
        ("PRP", "me"),
        ("VP", "slept"),
        ("VBD", "slept"),
        (".", "."),
    ]


@given(trees(), st.sampled_from([ENGLISH, DEFAULT, HeadRules(side="right")]))
def test_lexical_heads_lie_inside_and_come_from_a_child(tree, rules):
    heads = lexical_heads(tree, rules)
    spans = iter(tree.spans())
    positions = iter(range(len(tree)))
    for node, head in zip(tree.nodes(), heads, strict=True):
        start, end, _ = (next(positions), 0, "") if node.is_leaf else next(spans)
        assert head == start if node.is_leaf else start <= head < end


@given(trees(ENGLISH_CATEGORIES, ENGLISH_TAGS), st.sampled_from(["left", "right"]), st.sampled_from([ENGLISH, DEFAULT]))
def test_lexical_heads_do_not_depend_on_transforms(tree, direction, rules):
    """True because no coordinator is among the tags."""
    expected = dict(zip(tree.spans(), inner_heads(tree, rules), strict=True))
    binary = binarize(collapse_unaries(tree), direction=direction)
    for (start, end, label), head in zip(binary.spans(), inner_heads(binary, rules), strict=True):
        if not label.startswith("@"):
            assert expected[start, end, label.rpartition("|")[2]] == head


def inner_heads(tree: Tree, rules: HeadRules) -> list[int]:
    heads = zip(tree.nodes(), lexical_heads(tree, rules), strict=True)
    return [head for node, head in heads if not node.is_leaf]


def test_lexical_heads_depth_is_bounded_by_memory_only():
    tree = Tree("NN", word="x")
    for _ in range(5_000):
        tree = Tree("VP", [Tree("VB", word="y"), tree])
    assert lexical_heads(tree)[0] == 0
    assert lexical_heads(tree, HeadRules())[0] == 4_999


def test_lexical_heads_of_a_treebank_are_verbs_of_sentences(shared_data):
    n_sentences = n_verbs = 0
    for tree in map(normalize, read_trees(shared_data / "wsj_sample" / "dev.mrg")):
        if tree is not None and tree.label == "S":
            n_sentences += 1
            n_verbs += tree.tags[lexical_heads(tree)[0]][:1] in "VMT"
    assert n_verbs > 0.97 * n_sentences


def test_rules_of_trees_follow_their_tags():
    assert rules_of_tags(["DET", "NOUN", "."], "en") is not ENGLISH
    assert rules_of_tags(["DT", "NN", "."], "en") is ENGLISH
    assert rules_of_tags(["-LRB-", ".", "``"], "en") is ENGLISH  # tags that both have
    assert rules_of_tags([], "en") is ENGLISH
