import pytest
import spacy
from commands import run

from spacy_lpcfg.components.training.named_learner import make_learner
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import HeadRules, head_rules
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH, rules_of_language, rules_of_tags

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
    "dependencies": """
VP: AUX *VERB NP / VP: *VERB CCONJ VERB NP / NP: DET ADJ *NOUN PP / NP: PRON *NOUN PROPN PROPN / PP: ADP *NP
SBAR: WHNP *S / S: NP AUX *VP . / S: NP *NP / ADJP: ADV *ADJ / S: NP *PP . / PP: ADVP ADP *NP / QP: *NUM NUM
NP: *NP PRON PP / NP: NP *NUM / NP: NP *ADJ / NP: *NP ADJP / VP: VP *VERB / S: S , NP *ADJP / S: *S CCONJ S
PP: *NP ADP VERB SCONJ / VP: *NP AUX VERB / VP: *VERB SCONJ VERB / VP: SCONJ *VERB
""",
}


@pytest.mark.parametrize(("table", "node"), [(table, node) for table in TABLES for node in marked(TABLES[table])])
def test_heads_of_tables(table, node):
    check_head(head_rules(table), node)


def test_heads_are_read_from_files(new_file):
    path = new_file(
        "own.heads",
        "# a comment\nside: right\ncoordinators: KON\nnext: KON\nfixed: P, V\ncut: _ ^\nNP CNP: left N*|X, right D A\n",
    )
    rules = head_rules(str(path))
    assert (rules.side, rules.coordinators, rules.next, rules.cut) == ("right", {"KON"}, {"KON"}, "_^")
    assert rules.fixed == ({"P"}, {"V"})
    assert [rules.head("NP", row.split()) for row in ("D X_a^b NN", "A D A", "N KON N", "X")] == [1, 1, 0, 0]
    assert rules.head("FOO", ["A", "B", "."]) == 1


@pytest.mark.parametrize("line", ["NP left N", "NP: middle N", "NP: left N right", ": left N", "NP:"])
def test_heads_of_broken_files_are_told_with_their_line(new_file, line):
    path = new_file("own.heads", f"side: left\n{line}\n")
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
    run("learn", "parser", train, "--method", "pcfg", "--set", f"heads={rules}", "-o", model)
    assert spacy.load(model).get_pipe("lpcfg_parser").learner == TreebankPCFG(lang=str(rules.resolve()))
    assert make_learner("pivot", heads="corpussearch", settings={"evidence": False}).lang == "corpussearch"
    assert make_learner("em", lang="is", heads="general").lang == "general"
    refused = run("learn", "parser", train, "--set", "heads=corpusearch", "-o", tmp_path / "other", code=2)
    assert "corpusearch" in refused.stderr


def test_rules_of_trees_follow_their_tags():
    assert rules_of_tags(["DET", "NOUN", "."], "en") is not ENGLISH
    assert rules_of_tags(["DT", "NN", "."], "en") is ENGLISH
    assert rules_of_tags(["-LRB-", ".", "``"], "en") is ENGLISH  # tags that both have
    assert rules_of_tags([], "en") is ENGLISH
