import pytest
import spacy
from commands import run
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import HeadRules, Tree, head_rules, normalize, parse_trees, read_trees
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH, lexical_heads, rules_of_language, rules_of_tags
from spacy_lpcfg.trees.transforms import binarize, collapse_unaries

ENGLISH_CATEGORIES = st.sampled_from(["S", "NP", "VP", "PP", "SBAR", "ADJP", "QP", "X", "UNKNOWN"])
ENGLISH_TAGS = st.sampled_from(["NN", "VBD", "IN", "DT", "CD", "JJ", "POS", ",", "-LRB-"])


ENGLISH_NODES = """
S: NP *VP . / S: *S , CC S . / VP: *MD RB VP / VP: ADVP *VBD NP / NP: DT NNP *NN / NP: DT *NN CC NN
NP: NN , *NN , CC NN / NP: *NN CC NN CC NN / NP: NP *POS / NP: *NP , SBAR / NP: DT *JJ / NP: -LRB- *FW -RRB-
PP: ADVP *IN NP / SBAR: *WHNP S / SINV: `` S '' *VBD NP / QP: RB *$ CD CD / UCP: *ADJP CC NP / UCP: *ADJP .
FRAG: NP *PP . / ROOT: NP *S / UNKNOWN: A *UNKNOWN UNKNOWN / UNKNOWN: , *A B / UNKNOWN: *, . / NP: , *. / NP: *CC
"""
"""Nodes with a star before their head."""


def marked(nodes: str) -> list[str]:
    return [node for line in nodes.strip().splitlines() for node in line.split(" / ")]


def check_head(rules: HeadRules, node: str) -> None:
    label, children = node.split(": ", 1)
    (head,) = [i for i, child in enumerate(children.split()) if child[0] == "*"]
    assert rules.head(label, [child.removeprefix("*") for child in children.split()]) == head


@pytest.mark.parametrize("node", marked(ENGLISH_NODES))
def test_heads_of_english_nodes(node):
    check_head(ENGLISH, node)


OTHER_LABELS = r"""
NP-SBJ-1: DT *NN / S=2: NP-SBJ=3 *VP-TPC . / S|VP: *VBD NP / S: NP|PRP *VP|VBD / ADVP\|PRT: *RB RP / S: NP *@S
@S->_NP: *VP . / PP: *@PP->_NP NP / NP: DT *@NP
"""
"""The children of a chain are those of its last node, and chains count as categories, not as tags."""


@pytest.mark.parametrize("node", marked(OTHER_LABELS))
def test_heads_of_labels_with_functions_chains_and_new_nodes(node):
    check_head(ENGLISH, node)


def test_heads_of_languages_are_those_of_their_tables():
    assert head_rules("en") is ENGLISH
    assert head_rules("ca") is head_rules("is") is rules_of_language("is") is DEFAULT == head_rules("general")
    assert head_rules("ja") is head_rules("head-final")
    assert HeadRules(side="right").head("NP", ["N", "P", "."]) == 1


TABLES = {
    "corpussearch": """
NP-SBJ: D-N ADJ-N *N-N CP-REL / NP-OB1: NP-POS *N+D-A / NP: Q^N^PL PRO$^N *N^N^SG / IP-SUB: NP-SBJ NP-OB1 *GE+VBDI^3^SG
IP-MAT: CONJ NP-SBJ *MDPI ADVP VB . / IP-INF: TO *VB NP / PP: ADV *P NP / CP-REL: WNP *C IP-SUB / CONJP: *CONJ NP
""",
    "head-final": """
PP-OB1: NP *P / NP: IP-REL *N PU / IP-MAT: PP NP *VB AXD PU / NUMCLP: NUM *CL / FOO: A *B ,
""",
    "general": """
NP: lo_et *NNO PP / NP-SB: ART ADJA *NN / PP: *APPR ART NN / S: NP-SB $, *VVFIN / IP: NP-SUBJ *VP / FOO: , *A B
sn: *espec.ms grup.nom / S: sn-SUJ *S Fp / S: $, $( *VVFIN
""",
}


@pytest.mark.parametrize(("table", "node"), [(table, node) for table in TABLES for node in marked(TABLES[table])])
def test_heads_of_tables(table, node):
    check_head(head_rules(table), node)


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


def test_heads_of_unknown_tables_and_of_no_children_are_refused():
    tables = "english, corpussearch, head-final, general, dependencies"
    with pytest.raises(ValueError, match=f"one of {tables}, but got 'englisch'"):
        head_rules("englisch")
    with pytest.raises(FileNotFoundError):
        head_rules("none.heads")
    with pytest.raises(ValueError, match="'NP' has none"):
        ENGLISH.head("NP", [])


def test_heads_are_chosen_for_learners_by_name_or_file(tmp_path):
    train, rules = tmp_path / "train.mrg", tmp_path / "own.heads"
    train.write_text("(S (NP (D the) (N cat)) (V slept))\n" * 4, "utf-8")
    rules.write_text("side: right\n", "utf-8")
    model = tmp_path / "model"
    run("learn", "lpcfg", train, "--method", "pcfg", "--set", f"heads={rules}", "-o", model)
    assert spacy.load(model).get_pipe("lpcfg_parser").learner == TreebankPCFG(lang=str(rules.resolve()))
    assert make_learner("pivot", heads="corpussearch", settings={"evidence": False}).lang == "corpussearch"
    assert make_learner("em", lang="is", heads="general").lang == "general"
    refused = run("learn", "lpcfg", train, "--set", "heads=corpusearch", "-o", tmp_path / "other", code=2)
    assert "corpusearch" in refused.stderr


def test_lexical_heads_of_a_sentence():
    (tree,) = parse_trees("(ROOT (S (NP (NP (DT The) (NN cat)) (PP (IN of) (NP (PRP me)))) (VP (VBD slept)) (. .)))")
    heads = " ".join(f"{node.label}:{tree.words[i]}" for node, i in zip(tree.nodes(), lexical_heads(tree), strict=True))
    assert heads == ("ROOT:slept S:slept NP:cat NP:cat DT:The NN:cat PP:of IN:of NP:me PRP:me VP:slept VBD:slept .:.")


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
