"""Files that people have: what is read of small files of each format, and what is counted as left out or moved."""

import pickle
from collections import Counter

import pytest
from commands import run, stderr_of

from spacy_lpcfg.trees import Tree, TreebankError, clean, normalize, parse_trees
from spacy_lpcfg.trees.formats.table import looks_like
from spacy_lpcfg.trees.reading import read_dialect
from spacy_lpcfg.trees.tags import with_coarse_tags
from spacy_lpcfg.trees.transforms import normalize_rooted, remove_empty

CONLL = """\
#begin document (bc/cctv/00/cctv_0000); part 000
bc/cctv/00/cctv_0000   0   0      We   PRP   (TOP(S(NP*)      -   -   -   Ann   *   (ARG0*)   (1)
bc/cctv/00/cctv_0000   0   1    left   VBD        (VP*)       -   -   -   Ann   *   (V*)      -
bc/cctv/00/cctv_0000   0   2       (   -LRB-      (PRN*       -   -   -   Ann   *   *         -
bc/cctv/00/cctv_0000   0   3       )   -RRB-         *)))     -   -   -   Ann   *   *         -

bc/cctv/00/cctv_0000   0   0    Rain   NN   (TOP(NP*))   -   -   -   -   *   -
#end document
"""
CTB = """\
<DOC>
<DOCID> CHTB_001.fid </DOCID>
<S ID=1>
( (IP (NP-SBJ (NR 上海))
      (VP (VV 发展)) ) )
</S>
<S ID=2>
( (NP (NN 经济)) )
</S>
</DOC>
"""
SEJONG = """\
; 책상의 (빨간) 다리
(NP_SBJ\t(NP_MOD 책상/NNG + 의/JKG)
\t(NP_SBJ\t(VNP_MOD (/SS + 빨갛/VA + ㄴ/ETM + )/SS)
\t\t(NP_SBJ\t다리/NNG)))
; 비
(NP 비/NNG + 가/JKS)
"""
DISCBRACKET = "(S (NP (ART 0=Ein) (NN 1=Zug) (S (PRELS 4=der) (VVFIN 5=pfiff))) (VVFIN 2=kam) (PTKVZ 3=an))\n"
SWITCHBOARD = r"""*x*x*x*x*x*x*
*x*  Copyright (C) 1995 University of Pennsylvania  *x*
*x*x*x*x*x*x*

( (CODE (SYM SpeakerA1) (. .) ))
( (S
    (EDITED
      (RM (-DFL- \[) )
      (NP-SBJ-UNF (PRP I) )
      (IP (-DFL- \+) ))
    (NP-SBJ (PRP I) )
    (RS (-DFL- \]) )
    (VP (VBP agree) ) (. .) (-DFL- E_S) ))
"""
ALPINO = """\
<?xml version="1.0" encoding="UTF-8"?>
<alpino_ds version="1.3">
  <node begin="0" cat="top" end="4" id="0" rel="top">
    <node begin="0" cat="smain" end="3" id="1" rel="--">
      <node begin="0" end="1" id="2" index="1" pt="vnw" rel="su" word="Hij"/>
      <node begin="1" end="2" id="3" pt="ww" rel="hd" word="heeft"/>
      <node begin="0" cat="ppart" end="3" id="4" rel="vc">
        <node begin="0" end="1" id="5" index="1" rel="su"/>
        <node begin="2" end="3" id="6" pt="ww" rel="hd" word="geslapen"/>
      </node>
    </node>
    <node begin="3" end="4" id="7" pt="let" rel="--" word="."/>
  </node>
  <sentence sentid="cdb.1">Hij heeft geslapen .</sentence>
</alpino_ds>
"""
FORMATS = {  # a file, its dialect, its trees, the IDs of their sentences, and what is counted
    "OntoNotes": (CONLL, "conll2012",
     "(TOP (S (NP (PRP We)) (VP (VBD left)) (PRN (-LRB- -LRB-) (-RRB- -RRB-)))) (TOP (NP (NN Rain)))",
     ["bc/cctv/00/cctv_0000:000:1:Ann", "bc/cctv/00/cctv_0000:000:2"], {}),
    "columns of three": ("We PRP (S(NP*)\nleft VBD (VP*))\n", "conll2012", "(S (NP (PRP We)) (VP (VBD left)))", [""],
     {}),
    "columns with comments": ("# sent 1\nWe PRP (S(NP*)\n# no row\n# # (VP*))\n# 2\n\n# 3\n# # (X*)\n", "conll2012",
     "(S (NP (PRP We)) (VP (# #))) (X (# #))", ["", ""], {}),
    "Chinese Treebank": (CTB, "penn", "( (IP (NP-SBJ (NR 上海)) (VP (VV 发展)))) ( (NP (NN 经济)))", ["1", "2"],
     {"lines of markup": 7}),
    "Sejong": (SEJONG, "sejong",
     "(NP-SBJ (NP-MOD (NNG+JKG 책상의)) (NP-SBJ (VNP-MOD (SS+VA+ETM+SS -LRB-빨간-RRB-)) (NP-SBJ (NNG 다리))))"
     "(NP (NNG+JKS 비))", ["", ""], {}),
    "Sejong without texts": ("(NP 책상/NNG + 의/JKG)\n", "sejong", "(NP (NNG+JKG 책상의))", [""],
     {"words spelled as their morphemes": 1}),
    "disco-dop": (DISCBRACKET, "discbracket",
     "( (S (NP (ART Ein) (NN Zug)) (VVFIN kam) (PTKVZ an) (S (PRELS der) (VVFIN pfiff))))", [""],
     {"discontinuous trees raised": 1}),
    "disco-dop's punctuation": ("(ROOT (S (PRELS 0=der) (VVFIN 2=pfiff)) ($( 1=#LRB#))\n".replace("$(", "$["),
     "discbracket", "( (S (PRELS der) ($[ -LRB-) (VVFIN pfiff)))", [""], {"marks of punctuation lowered": 1}),
    "SPMRL": ("(SENT (NP (NC##lem=chat|cpos=N## chat)) (VN##x=y## (V##lem=a## miaule)))\n", "penn",
     "(SENT (NP (NC chat)) (VN (V miaule)))", [""], {"labels' features": 3}),
    "Switchboard": (SWITCHBOARD, "penn",
     "( (S (EDITED (NP-SBJ-UNF (PRP I))) (NP-SBJ (PRP I)) (VP (VBP agree)) (. .)))", [""],
     {"lines of headers": 3, "codes": 1, "marks of disfluency": 4}),
    "a header in brackets": ("(TOP (*x*x*x*x*x*))\n(TOP (NP (NN Rain)))\n", "penn", "(TOP (NP (NN Rain)))", [""],
     {"lines of headers": 1}),
    "functions after stars": ("(S (NP*SB (PRP It)) (VP (VBD left)))\n", "penn",
     "(S (NP-SB (PRP It)) (VP (VBD left)))", [""], {"functions after * read as after -": 1}),
    "functions after underscores": ("(S (NP_SBJ (X_Y It)) (VP (VBD left)))\n", "penn",
     "(S (NP-SBJ (X_Y It)) (VP (VBD left)))", [""], {"functions after _ read as after -": 1}),
    "functions after colons": ("(S (NP (PRP It)) (VP:PRD (VBD left)))\n", "penn",
     "(S (NP (PRP It)) (VP-PRD (VBD left)))", [""], {"functions after : read as after -": 1}),
    "functions after hyphens beside others": ("(S (NP-SBJ_1 (A b)) (NP_X (A b)))", "penn",
     "(S (NP-SBJ_1 (A b)) (NP_X (A b)))", [""], {}),
    "square brackets": ("[S [NP It] [VP [V [rained]] [PP on us (all)] [NP [X ha]]]]\n", "square",
     "(S (NP It) (VP (V rained) (PP (X on) (X us) (X -LRB-all-RRB-)) (NP (X ha))))", [""],
     {"words without a tag, which is now X": 3}),
    "NLTK's escapes": (r"(NP (SYM :\)) (SYM \())", "penn", "(NP (SYM :-RRB-) (SYM -LRB-))", [""], {}),
    "Alpino": (ALPINO, "alpino", "( (SMAIN (vnw Hij) (ww heeft) (PPART-VC (ww geslapen))) (let .))", ["cdb.1"],
     {"empty categories": 1}),
    "Sinica": ("#1:1.[0] S(agent:NP(Head:Nhaa:我)|Head:VC2:看|goal:NP(Head:Nab:書))#。(PERIODCATEGORY)\n", "sinica",
     "( (S (NP-agent (Nhaa 我)) (VC2 看) (NP-goal (Nab 書))) (PERIODCATEGORY 。))", ["1:1.[0]"], {}),
}  # fmt: skip


def read(text: str, **settings) -> list:
    return [*read_dialect(text.splitlines(keepends=True), "a.txt", **settings)]


@pytest.mark.parametrize("name", FORMATS)
def test_formats_of_others_are_recognised_and_read_and_what_is_left_out_is_counted(name):
    text, dialect, trees, ids, counts = FORMATS[name]
    dropped: Counter[str] = Counter()
    assert looks_like(text) == dialect
    found = read(text, dropped=dropped)
    assert found == [*parse_trees(trees)]
    assert [tree.sent_id for tree in found] == ids
    assert dropped == counts


def test_columns_of_a_document_end_where_the_next_begins():
    document = CONLL.replace("\n#end document", "")
    assert [tree.sent_id for tree in read(document + document.replace("_0000); part 000", "_0001); part 000"))] == [
        "bc/cctv/00/cctv_0000:000:1:Ann",
        "bc/cctv/00/cctv_0000:000:2",
        "bc/cctv/00/cctv_0001:000:1:Ann",
        "bc/cctv/00/cctv_0001:000:2",
    ]


def test_formats_of_others_are_not_recognised_by_single_words():
    for word in ("AC/DC", "0=1", "a##b##", "[S", "<S"):
        assert looks_like(f"(S (NP (NNP {word}) (NN news)) (VP (VBD rose)) (. .))\n") == "penn"
    for text in ("see the (*) note", "AC/DC rose", "[Music] it rose", "; a remark", "#1 hit (a: b)", "<S> rose"):
        assert looks_like(f"{text}\n") is None


def test_formats_of_others_have_morphemes_as_leaves():
    (tree, _) = read(SEJONG, dialect="sejong-morphemes")
    assert str(tree.children[0]) == "(NP-MOD (NNG 책상) (JKG 의))"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("We PRP (S(NP*)\nleft VBD (VP*)\n", 1, "1 of its nodes are still open"),
        ("We PRP (S(NP*))\n\nWe PRP (S(NP*)\nleft\n", 3, "Expected a word, its tag and its part of the tree"),
        (DISCBRACKET.replace("1=", "0="), 1, "Expected each position once, but 0 has two words"),
        (DISCBRACKET.replace("5=", "9="), 1, "Expected words at all positions up to 9, but got 6"),
        (DISCBRACKET.replace("5=", ""), 1, "Expected a position before each word"),
        ("[S [NP It] [VP rained]\n", 1, "1 of its nodes are still open"),
        ("; 비\n\n(NP 비/NNG + 가)\n", 3, "Expected morphemes such as"),
        ("#1 S(a:NP(Head:N:b)\n", 1, "1 of its nodes are still open"),
        (ALPINO.replace('begin="1"', 'begin="x"'), 2, "Expected a number as the begin of a word, but got 'x'"),
    ],
)
def test_formats_of_others_tell_of_what_they_cannot_read(text, line, message):
    with pytest.raises(TreebankError, match=message) as error:
        read(text)
    assert error.value.line == line


def test_formats_of_others_are_converted_from_other_encodings_with_the_ids_of_sentences(tmp_path):
    path, out = tmp_path / "a.fid", tmp_path / "a.conllu"
    path.write_bytes(CTB.encode("gb18030"))
    assert "Expected UTF-8, but got the byte 0xc9. Convert the file" in run("convert", path, "-o", out, code=1).stderr
    told = run("convert", path, "-o", out, "--encoding", "gb18030").stderr
    assert "read as penn: 7 lines of markup left out" in told
    assert "# sent_id = 2\n# text = 经济\n" in out.read_text("utf-8")
    refused = run("convert", path, "-o", out, "--encoding", "utf-16", code=2)
    assert "Expected an encoding that keeps ASCII" in stderr_of(refused)


def test_formats_of_others_are_searched_as_they_are_read(new_file):
    path = new_file("a.mrg", "(S (NP_SBJ (PRP It)) (VP (VBD left)))\n")
    found = run("search", "NP-SBJ", path, "--format", "brackets")
    assert found.stdout == "1\t(NP-SBJ (PRP It))\n"
    assert "read as penn: 1 functions after _ read as after -" in found.stderr


def test_formats_of_others_keep_ids_through_changes_of_trees():
    tree = Tree("", [Tree("NP-SBJ", [Tree("NN-X", word="rain")])]).with_id("a.1")
    for changed in (clean(tree), normalize(tree), normalize_rooted(tree), with_coarse_tags(tree), remove_empty(tree)):
        assert changed.sent_id == "a.1"
    assert pickle.loads(pickle.dumps(tree)).sent_id == "a.1"
    assert tree == tree.with_id("b")
    assert next(parse_trees("( (NP (NN rain)) (ID a.1))")).sent_id == "a.1"


def test_formats_of_others_name_broken_trees_that_are_not_closed_and_all_of_them(tmp_path):
    path, out = tmp_path / "a.mrg", tmp_path / "b.mrg"
    broken = "( (S (NP (NN a)) (VP (VB b)))\n"
    path.write_text(f"(S (A b))\n{broken}(S (A c))\n{broken}(S (A d))\n", encoding="utf-8")
    not_closed = "the tree of line {} is not closed where line {} begins another"
    assert not_closed.format(2, 3) in run("convert", path, "-o", out, code=1).stderr
    told = run("convert", path, "-o", out, "--skip-bad").stderr
    assert not_closed.format(2, 3) in told
    assert not_closed.format(4, 5) in told
    assert out.read_text() == "(S (A b))\n(S (A c))\n(S (A d))\n"
