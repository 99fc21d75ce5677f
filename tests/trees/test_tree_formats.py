"""Dialects of treebanks: what is read of small files of each, which of them a file looks like, and what is refused."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
import spacy
from commands import run, stderr_of
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.components.cli.shared.runs import Run
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import Tree, TreebankError, TreeFiles, normalize, parse_trees, read_trees
from spacy_lpcfg.trees.formats import DIALECTS, FORMATS
from spacy_lpcfg.trees.formats.graphs import ROOT, Graph, Phrase, Word, make_continuous
from spacy_lpcfg.trees.reading import dialect_of, read_dialect
from spacy_lpcfg.trees.transforms import remove_empty

ICELANDIC = """\
( (IP-MAT (CODE <P_3>) (NP-SBJ (PRO-N Vér-ég)) (BEPI erum-vera) (NP-PRD *ICH*-1)
\t(PP (P á-á) (NP (N-D heim$-heimur) (D-D $inum-hinn) (CP-REL (WNP-1 0) (C er-er)
\t   (IP-SUB (NP-SBJ *T*-1) (VBPI sér-sjá))))) (, ,-,) (NP-1 (NUM 0-0) (NPR21-N Jón-jón) (NPR22-N Ás-ás)) (. .-.))
  (ID 1150.HOMILIUBOK.REL-SER,.1))
( (CODE (CODE <heading>) (NP (N-N Þjónusta-þjónusta)) (CODE </heading>)) (ID 1150.HOMILIUBOK.REL-SER,.2))
( (CODE <P_4>) (ID 1150.HOMILIUBOK.REL-SER,.3))
( (IP-MAT (VBDI quat$-kwethan) (NP-SBJ (PRO $hie-he))) (ID 1150.HOMILIUBOK.REL-SER,.4))
"""
OF_ICELANDIC = """\
( (IP-MAT (NP-SBJ (PRO-N Vér)) (BEPI erum) (PP (P á) (NP (N+D-D heiminum) (CP-REL (C er) (IP-SUB (VBPI sér))))) (, ,)\
 (NP-1 (NUM 0) (NPR-N Jón) (NPR-N Ás)) (. .)))
( (NP (N-N Þjónusta)))
( (IP-MAT (VBDI quat) (NP-SBJ (PRO hie))))
"""
ENGLISH = """\
/*
a heading of CorpusSearch's output
*/
( (IP-MAT (NP-SBJ (PRO I)) (VBD went) (ADVP-TMP (ADV to-day)) (. .)) (ID CMX,1.1))
( (IP-MAT (NP-SBJ (PRO I)) (NEG not?) (. .-.)) (ID CMX,1.2))
"""
OF_ENGLISH = """\
( (IP-MAT (NP-SBJ (PRO I)) (VBD went) (ADVP-TMP (ADV to-day)) (. .)))
( (IP-MAT (NP-SBJ (PRO I)) (NEG not?) (. .)))
"""
JAPANESE = """\
( (IP-MAT (PP (NP;{AKIRA} (NPR 良平)) (P は)) (NP-SBJ *) (NP;*OB1* (N PC-6082)) (NP-OB1 *を*) (VB 見) (AXD た) (PU 。))
  (ID 4_aozora_Akutagawa-1922;JP))
( (FRAG (NP (N ⛔⛔))) (ID 5_news;JP))
"""
OF_JAPANESE = "( (IP-MAT (PP (NP (NPR 良平)) (P は)) (NP-OB1 (N PC-6082)) (VB 見) (AXD た) (PU 。)))\n"
GREYNIR = """\
( (META (ID-CORPUS 0bf8e149.62)
        (URL https://www.visir.is/default.aspx?PageID=4)
        (COMMENT ))
  (S0 (S-MAIN (IP (NP-SUBJ (person_nf Siggu Kling (lemma Sigga Kling))) (ADVP (ao í gær (lemma í gær) (exp_seg í-gær)))
     (VP (so_0 sefur (lemma sofa))))) (grm . (lemma .))))
"""
OF_GREYNIR = """\
( (S-MAIN (IP (NP-SUBJ (person_nf Siggu) (person_nf Kling)) (ADVP (ao í) (ao gær)) (VP (so_0 sefur)))) (grm .))
"""
# "Das Buch hat , glaube ich , der Mann gelesen ( gern ) ." with VP = Das Buch ... gelesen
NEGRA = """\
%% a comment
#FORMAT 3
#BOT ORIGIN
0 x y
#EOT ORIGIN
#BOS 1 2 1098266456 1 %% @SB2AV@
Das\t\tART\tDef\tNK\t500
Buch\t\tNN\tAcc\tNK\t500
hat\t\tVAFIN\t3\tHD\t502
,\t\t$,\t--\t--\t0
Anna\t\tNE\t--\tSB\t502
(\t\t$(\t--\t--\t0
gern\t\tADV\t--\tMO\t501
gelesen\t\tVVPP\t--\tHD\t501
.\t\t$.\t--\t--\t0
#500\t\tNP\t--\tOA\t501
#501\t\tVP\t--\tOC\t502
#502\t\tS\t--\t--\t0
#EOS 1
"""
OF_NEGRA = """\
( (S (NP-OA (ART Das) (NN Buch)) (VAFIN hat) ($, ,) (NE Anna) ($[ -LRB-) (VP-OC (ADV gern) (VVPP gelesen))) ($. .))
"""
TIGER = """\
<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<corpus id="x"><body>
<s id="s1"><graph root="s1_VROOT" discontinuous="true"><terminals>
 <t id="s1_1" word="B&#252;cher" pos="NN"/><t id="s1_2" word="las" pos="VVFIN"/>
 <t id="s1_3" word="\u00fcber" pos="PTKVZ"/>
 <t id="s1_4" word="&amp;" pos="$("/></terminals><nonterminals>
 <nt id="s1_500" cat="VP"><edge label="OA" idref="s1_1"/><edge label="HD" idref="s1_3"/></nt>
 <nt id="s1_501" cat="S"><edge label="OC" idref="s1_500"/><edge label="HD" idref="s1_2"/></nt>
 <nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_501"/><edge label="--" idref="s1_4"/></nt>
</nonterminals></graph></s>
</body></corpus>
"""
OF_TIGER = "( (S (NN Bücher) (VVFIN las) (VP-OC (PTKVZ über))) ($[ &))\n"
SAMPLES = {
    "icelandic.psd": ("corpussearch", ICELANDIC, OF_ICELANDIC),
    "english.tree": ("corpussearch", ENGLISH, OF_ENGLISH),
    "japanese.psd": ("keyaki", JAPANESE, OF_JAPANESE),
    "greynir.gld": ("greynir", GREYNIR, OF_GREYNIR),
    "german.export": ("negra", NEGRA, OF_NEGRA),
    "german.xml": ("tiger", TIGER, OF_TIGER),
    "penn.mrg": ("penn", "( (S (NP-SBJ (-NONE- *)) (VP (VB Go))))\n", "( (S (NP-SBJ (-NONE- *)) (VP (VB Go))))\n"),
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="iso-8859-1" if "ISO-8859-1" in text else "utf-8")
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_dialects_are_guessed_and_read_plain_and_from_gzip_and_from_folders(tmp_path, name):
    dialect, text, brackets = SAMPLES[name]
    path, expected = written(tmp_path, name, text), list(parse_trees(brackets))
    assert dialect_of(path) == dialect
    assert list(read_trees(path)) == list(read_trees(path, dialect=dialect)) == expected
    zipped = tmp_path / "folder" / f"{name}.gz"
    zipped.parent.mkdir()
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    for said in (None, dialect):
        files = TreeFiles.of(zipped.parent, dialect=said)
        assert (files.dialect, list(files)) == (dialect, expected)


def test_dialects_count_what_they_leave_out(tmp_path):
    counts = {}
    for name, (_, text, _) in SAMPLES.items():
        counts[name] = Counter()
        list(read_trees(written(tmp_path, name, text), dropped=counts[name]))
    assert counts["icelandic.psd"] == {
        "codes": 4,
        "lemmas": 15,
        "empty categories": 3,
        "trees without words": 1,
        "cut words joined": 1,
        "cut words of two phrases kept apart": 1,
    }
    assert counts["japanese.psd"] == {"empty categories": 2, "trees of withheld words": 1}
    assert counts["greynir.gld"] == {"lemmas and notes": 5, "words of leaves of several split": 4}
    assert counts["german.export"] == {"discontinuous trees raised": 1, "marks of punctuation lowered": 2}
    assert counts["penn.mrg"] == {}


def test_dialects_of_files_that_end_as_the_penn_treebanks_do_are_penn_and_other_xml_is_none(tmp_path):
    """Files that this package writes may have labels of other treebanks, but never their codes and lemmas."""
    path = written(tmp_path, "parsed.mrg", "(IP-MAT (NP-SBJ (N 0)) (VB x-y))\n")
    assert dialect_of(path) == "penn"
    assert [tree.words for tree in read_trees(path)] == [["0", "x-y"]]
    (tmp_path / "xml").mkdir()
    written(tmp_path / "xml", "pom.xml", "<?xml version='1.0'?>\n<project/>\n")
    path = written(tmp_path / "xml", "german.xml", TIGER)
    with pytest.warns(UserWarning, match=r"Skipped 1 file that no dialect recognises, such as .*pom\.xml: to read all"):
        assert TreeFiles.of(path.parent).paths == (str(path),)
    assert run("convert", path.parent, "-o", tmp_path / "xml.mrg").stderr.count("Warning: Skipped 1 file") == 1


def test_dialects_are_learned_from_by_files_as_by_trees(tmp_path):
    for i in range(2):
        written(tmp_path, f"{i}.psd", ICELANDIC)
    dropped: dict[str, Counter[str]] = {}
    files = TreeFiles.of(tmp_path, on_dropped=dropped.__setitem__)
    expected = TreebankPCFG().fit([*parse_trees(OF_ICELANDIC * 2)])
    assert TreebankPCFG().fit(files).to_bytes() == expected.to_bytes()
    assert [dropped[path]["codes"] for path in files.paths] == [4, 4]


def test_dialects_that_commands_do_not_know_are_refused_with_those_that_they_know(tmp_path):
    path = written(tmp_path, "a.psd", ICELANDIC)
    message = stderr_of(run("convert", path, "-o", tmp_path / "a.mrg", "--dialect", "ppche", code=2))
    assert f"--dialect: Expected one of the dialects {', '.join(DIALECTS)}, but got 'ppche'" in message


# What is refused ---------------------------------------------------------------------------------

CHAIN = "".join(f"#{500 + i}\tNP\t--\t--\t{501 + i if i < 1_000 else 0}\n" for i in range(1_001))
REFUSED = {
    "too deep": ("a.export", None, f"#BOS 1\na\tB\t--\tX\t500\n{CHAIN}#EOS 1\n", 1, "at most 1,000 levels"),
    "another family": ("a.mrg", "tiger", "(S (VB Go))\n", 1, "Expected TIGER-XML, but this looks like brackets"),
    "another leaf": ("a.psd", "penn", GREYNIR, 1, "Expected brackets as in the Penn .* looks like GreynirCorpus"),
    "no words": ("a.psd", None, "( (CODE <P_3>) (ID A,1))\n", 1, "Expected trees with words, but all 1 have only"),
    "encoding": ("a.xml", None, TIGER.replace("ISO-8859-1", "klingon"), 1, "declares 'klingon'. Convert the file"),
    "space in a word": ("a.xml", None, TIGER.replace('"las"', '"l as"'), 3, "without spaces, but got 'l as'"),
    "broken element": ("a.xml", None, TIGER.replace("</terminals>", ""), 10, "no XML: mismatched tag. Mend it"),
    "no end": ("a.xml", None, TIGER.replace("</s>", ""), 3, "Expected </s> after"),
    "no parent": ("a.export", None, NEGRA.replace("\t500\nBuch", "\t507\nBuch"), 6, "Expected a phrase '507'"),
    "circle": ("a.export", None, NEGRA.replace("--\t--\t0\n#EOS", "--\t--\t501\n#EOS"), 6, "is above itself"),
    "space in a label": ("a.export", None, NEGRA.replace("--\tOA", "--\tO A"), 6, "and brackets, but got 'NP-O A'"),
    "columns": ("a.export", None, NEGRA.replace("Anna\t\tNE\t--", "Anna"), 11, "Expected word, tag, morphology"),
    "no beginning": ("a.export", None, "#FORMAT 3\nDas\t\tART\tDef\tNK\t500\n#BOS 1\n", 2, "Expected #BOS"),
    "no end of sentence": ("a.export", None, NEGRA.replace("#EOS 1", ""), 6, "Expected #EOS"),
    "empty sentence": ("a.export", None, "#BOS 1\n#EOS 1\n", 1, "Expected words in the sentence"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_dialects_tell_of_what_they_cannot_read(tmp_path, case):
    name, dialect, text, line, message = REFUSED[case]
    path = written(tmp_path, name, text)
    with pytest.raises(TreebankError, match=message) as error:
        list(read_trees(path, dialect=dialect))
    assert (error.value.path, error.value.line) == (str(path), line)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("case", ["space in a word", "broken element", "no parent", "columns", "circle"])
def test_dialects_skip_broken_sentences(tmp_path, case):
    name, _, text, _, _ = REFUSED[case]
    good = (SAMPLES["german.xml"] if name == "a.xml" else SAMPLES["german.export"])[1]
    path = written(tmp_path, name, text + good.split("\n", 2 if name == "a.xml" else 1)[-1])
    errors: list[TreebankError] = []
    assert len(list(read_trees(path, on_error=errors.append))) == 1
    assert len(errors) == 1


def test_dialects_that_are_mixed_are_refused(tmp_path):
    first, second = written(tmp_path, "a.psd", ICELANDIC), written(tmp_path, "b.psd", JAPANESE)
    with pytest.raises(TreebankError, match="Expected files of one dialect") as error:
        TreeFiles.of(tmp_path)
    assert error.value.path == str(second)
    assert str(first) in error.value.message
    assert TreeFiles.of(tmp_path, dialect="keyaki").dialect == "keyaki"


BRACKETS = ["(", ")", "A", "x-y", "0", "*", "$", "x$", "$y", "(CODE x)", "(ID a)", "(lemma ", "(META ", "{", ";", "⛔"]
WORD, PHRASE = "a\tB\t--\tX Y\t500\n", "#500\tNP\t--\t--\t0\n"
LINES = ["#BOS 1\n", "#EOS 1\n", "#FORMAT 4\n", WORD, PHRASE, "%%", "#BOT", "#EOT\n"]
NODES = ["<t id='1' word='w' pos='P'/>", "<nt id='2' cat='N'>", "<edge idref='1'/>", "</nt>"]
OTHERS = ["(A 0=b)", "1=", "[", "]", "##x##", "(-DFL- x)", "CODE", "\\)", "a/B", " + ", "; a\n", "#1 ", "|", "*x*"]
ALPINO = [
    "<alpino_ds>",
    "</alpino_ds>",
    "<node begin='0' word='w' pt='P'/>",
    "<node cat='A'>",
    "</node>",
    "<S ID=1>\n",
    "a B (S*)\n",
]
PIECES = st.sampled_from(
    [" ", "\n", "\t", "&", "\u2028", "<s>", "</s>", *BRACKETS, *LINES, *NODES, *OTHERS, "a B (S*)\n", *ALPINO]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(list(DIALECTS)))
def test_dialects_read_any_text_or_tell_what_is_wrong(text, dialect):
    """And what they read can be written, and scored."""
    errors: list[TreebankError] = []
    try:
        trees = [*read_dialect(text.splitlines(keepends=True), "x", dialect=dialect, on_error=errors.append)]
    except TreebankError as error:
        errors.append(error)
        trees = []
    assert all("\n" not in str(error) for error in errors)
    for tree in map(normalize, trees):
        assert tree is None or [*parse_trees(str(tree))] == [tree]


# Raising -----------------------------------------------------------------------------------------


@st.composite
def graphs(draw) -> Graph:
    """Sentences whose words and phrases hang anywhere, but in no circle."""
    n_phrases, n_words = draw(st.integers(0, 5)), draw(st.integers(1, 8))
    edge = st.sampled_from(["HD", "OA", "--"])
    names = [ROOT, *map(str, range(500, 500 + n_phrases))]
    phrases = {
        name: Phrase(f"X{name}", draw(st.sampled_from(names[: i + 1])), draw(edge)) for i, name in enumerate(names[1:])
    }
    word = st.sampled_from(["a", "b", ",", "-"])
    words = [Word(draw(word), "T", draw(st.sampled_from(names)), draw(edge)) for _ in range(n_words)]
    return Graph(words, phrases)


def slowly_raised(graph: Graph) -> Tree:
    """The definition: while a phrase has a gap, the lowest such gives what is not with its head to its parent."""
    parents = {name: phrase.parent for name, phrase in graph.phrases.items()}
    edges = {name: phrase.edge for name, phrase in graph.phrases.items()}
    for i, word in enumerate(graph.words):
        parents[i], edges[i] = word.parent, word.edge

    def words_of(name) -> set[int]:
        return {name} if isinstance(name, int) else set().union(*(words_of(c) for c in parents if parents[c] == name))

    def above(name) -> list[str]:
        return [] if name == ROOT else [parents[name], *above(parents[name])]

    def blocks(words: set[int]) -> list[set[int]]:
        starts = [i for i in sorted(words) if i - 1 not in words]
        return [{j for j in words if all(k in words for k in range(i, j + 1)) and j >= i} for i in starts]

    def is_mark(i: int) -> bool:
        return graph.words[i].word in ",-" and graph.words[i].parent == ROOT

    places = range(len(graph.words))
    for i in filter(is_mark, places):
        left = [j for j in places if j < i and not is_mark(j)][-1:]
        right = [j for j in places if j > i and not is_mark(j)][:1]
        if left and right:
            parents[i] = next(name for name in above(left[0]) if name in above(right[0]))
    while True:
        gaps = [name for name in graph.phrases if len(blocks(words_of(name))) > 1]
        if not gaps:
            break
        lowest = max(gaps, key=lambda name: len(above(name)))
        below = [child for child in parents if parents[child] == lowest and words_of(child)]
        heads = sorted((min(words_of(c)), c) for c in below if edges[c] == "HD")
        kept = max(blocks(words_of(lowest)), key=lambda block: (len(block), -min(block)))
        if heads:
            kept = next(block for block in blocks(words_of(lowest)) if heads[0][0] in block)
        for child in below:
            if not words_of(child) <= kept:
                parents[child] = parents[lowest]

    def build(name) -> Tree:
        if isinstance(name, int):
            return Tree("T", word=graph.words[name].word)
        below = sorted((c for c in parents if parents[c] == name and words_of(c)), key=lambda c: min(words_of(c)))
        label = "" if name == ROOT else f"X{name}" + (f"-{edges[name]}" if edges[name] != "--" else "")
        return Tree(label, map(build, below))

    return build(ROOT)


@given(graphs())
def test_raising_is_what_its_definition_says(graph):
    assert make_continuous(graph).tree == slowly_raised(graph)


# Commands ----------------------------------------------------------------------------------------


def test_dialects_are_converted_to_plain_trees(tmp_path):
    path, out = written(tmp_path, "a.psd", ICELANDIC), tmp_path / "out.mrg"
    told = run("convert", path, "-o", out).stderr
    assert told.startswith("read as corpussearch, which the trees look like: 3 empty categories, 4 codes, 15 lemmas, 1")
    assert len(told.splitlines()) == 1
    assert out.read_text("utf-8").splitlines()[1] == "(NP (N-N Þjónusta))"
    assert run("convert", path, "-o", tmp_path / "said.mrg", "--dialect", "corpussearch").stderr.startswith(
        "read as corpussearch: "
    )
    assert run("convert", tmp_path / "said.mrg", "-o", tmp_path / "again.mrg").stderr == ""


def test_dialects_are_learned_from_parsed_and_evaluated(tmp_path):
    folder, model = tmp_path / "trees", tmp_path / "model"
    folder.mkdir()
    path = written(folder, "a.psd", JAPANESE)
    found = run("learn", "parser", folder, "--dev", path, "--method", "pcfg", "--lang", "xx", "-o", model)
    assert found.stderr.count("read as keyaki, which the trees look like: 2 empty categories") == 2
    assert "dev F1 100.00 on 1 tree" in found.stdout
    parsed = run("parse", model, path, "--dialect", "keyaki")
    assert parsed.stdout.startswith("(IP (PP (NP (NPR 良平)) (P は))")
    assert "read as keyaki: 2 empty" in parsed.stderr
    out = written(tmp_path, "parsed.mrg", parsed.stdout)
    assert '"evalb_f": 100.0' in run("evaluate", path, out, "--json").stdout
    assert '"evalb_f": 100.0' in run("evaluate", model, path, "--json").stdout


@pytest.mark.parametrize("name", ["german.export", "german.xml", "penn.mrg"])
def test_dialects_may_differ_between_gold_and_test_trees(tmp_path, name):
    test = written(tmp_path, name, SAMPLES[name][1])
    gold = written(tmp_path, "gold.mrg", SAMPLES[name][2].replace("\n", " "))
    assert json.loads(run("evaluate", gold, test, "--json").stdout)["evalb_f"] == 100


@pytest.mark.parametrize("name", SAMPLES)
def test_dialects_are_told_from_tagged_words_for_bracketers(tmp_path, name):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spectral_bracketer")
    for content, kind in ((SAMPLES[name][1], "trees"), ("Das/ART Buch/NN\n", "tagged")):
        assert Run.of(nlp, pipe, str(written(tmp_path, name, content)), None).source.kind == kind


@pytest.fixture(scope="module")
def icelandic(tmp_path_factory):
    """A folder with a text that holds trees of CorpusSearch, and a grammar and a bracketer learned from it."""
    folder = tmp_path_factory.mktemp("icelandic")
    text = "( (IP-MAT (NP-SBJ *pro*) (VBDI fór{0}-fara) (NP-OB1 (N-N skip{0}-skip) (ADJ-N ný-nýr))) (ID A,.{0}))\n"
    written(folder, "a.txt", "".join(text.format(i) for i in range(60)) * 3)
    said = ("--dialect", "corpussearch", "--lang", "is")
    told = run("learn", "parser", folder / "a.txt", *said, "--method", "pcfg", "-o", folder / "model").stderr
    assert [line for line in told.splitlines() if line.startswith("read as")] == [
        "read as corpussearch: 180 empty categories, 540 lemmas left out"
    ]
    told = run("learn", "bracketer", folder / "a.txt", *said, "-o", folder / "brackets").stderr
    assert "read as corpussearch\n" in told.replace("\r", "")
    return folder


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["search", "NP < N-N", "a.txt", "--counts"], "180"),
        (["complexity", "a.txt", "--unit", "sentence"], "a.txt\t1\t180\t"),
        (["render", "a.txt", "--format", "forest"], "skip1"),
        (["render", "model", "a.txt", "--format", "forest"], "skip1"),
        (["parse", "model", "a.txt"], "skip1"),
        (["surprisal", "model", "a.txt"], "skip1"),
        (["sample", "model", "a.txt", "-n", "1"], "skip1"),
        (["calibrate", "model", "a.txt"], "probability"),
        (["evaluate", "model", "a.txt"], "F1"),
        (["parse", "brackets", "a.txt"], "skip1"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_dialects_are_those_that_commands_are_told(icelandic, monkeypatch, command, found):
    monkeypatch.chdir(icelandic)
    done = run(*command, "--dialect", "corpussearch")
    assert found in done.stdout
    assert "read as corpussearch: 180 empty categories" in done.stderr
    assert "*pro*" not in done.stdout


def test_dialects_of_xml_are_parsed_with_elements_over_several_lines(icelandic, tmp_path):
    path = written(tmp_path, "a.xml", TIGER.replace('" pos=', '"\npos='))
    assert "Bücher" in run("parse", icelandic / "model", path).stdout


def test_dialects_are_of_trees_alone(icelandic):
    refused = run("parse", icelandic / "model", "It", "--input", "text", "--dialect", "keyaki", code=2)
    assert "text has no dialect, only trees have" in stderr_of(refused)


def test_dialects_of_tagged_text_are_guessed(tmp_path):
    for name, (dialect, text, expected) in SAMPLES.items():
        path = written(tmp_path, name, text)
        wanted = [TaggedSentence.of(remove_empty(tree)) for tree in parse_trees(expected)]
        assert [*read_tagged(path)] == [*read_tagged(path, dialect=dialect)] == wanted, name
    lines = written(tmp_path, "lines.txt", "<s>/SYM #BOS/SYM 1/CD\n")
    assert [each.tags for each in read_tagged(lines)] == [("SYM", "SYM", "CD")]


def test_dialects_of_exports_tell_lemmas_by_the_lines():
    """As in samples of TIGER and Alpino, which do not say #FORMAT 4, and where heads are `hd`."""
    rows = [line for line in NEGRA.splitlines() if not line.startswith("#FORMAT")]
    with_lemmas = [line.replace("\t\t", "\tx\t", 1).replace("HD", "hd") if "\t" in line else line for line in rows]
    found = [*read_dialect([f"{line}\n" for line in with_lemmas], "a.export")]
    assert found == [*parse_trees(OF_NEGRA)]


def test_dialects_of_exports_have_lines_of_comments():
    lines = NEGRA.replace("Buch", "%% Das\nBuch").splitlines(keepends=True)
    assert [*read_dialect(lines, "a.export")] == [*parse_trees(OF_NEGRA)]


# The table ---------------------------------------------------------------------------------------


def test_formats_that_are_written_are_written_by_convert_and_those_that_are_read_again_have_the_same_trees(tmp_path):
    path = written(tmp_path, "a.mrg", "(S (NP (PRP We)) (VP (VBD stayed)))\n")
    for form in FORMATS.values():
        if form.write is None:
            continue
        out = tmp_path / f"{form.name}{form.suffixes[0]}"
        run("convert", path, "-o", out, "--format", form.name)
        assert out.read_text("utf-8") == "".join(f"{line}\n" for line in form.write(read_trees(path), "en"))
        if form.read is not None and form.name != "conllu":  # written without parts of speech, which its phrases need
            assert [*read_trees(out, dialect=form.name)] == [*read_trees(path)]


def test_formats_have_what_the_table_says_of_them():
    for name, form in FORMATS.items():
        assert name == form.name
        assert {*form.in_folders} <= {*form.suffixes}
        assert (form.read is None) == (form.recognises is None)
        assert form.read or form.write or form.read_sentences
