"""The scripts that make treebanks of what others publish, on folders made up here."""

from __future__ import annotations

import gzip
import re
import runpy
import zipfile
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import spacy
from encoders import make_encoder, write_hub
from paths import SAMPLE
from scripts_running import SCRIPTS, run
from serving import serving
from spacy.util import load_config

from spacy_lpcfg.evidence.pretrained.file import PretrainedEncoder
from spacy_lpcfg.trees import read_trees

SPLITS = """# Splits

The following splits are used.

## dev

  * GUM_news_one
  * GUM_reddit_two

## test

  * GUM_news_three

## train

  * GUM_bio_four
  * GUM_court_five
"""
TREE = "(ROOT\n  (S\n    (NP-SBJ (PRP It))\n    (VP (VBZ {0}))\n    (. .)))\n\n"


@pytest.fixture
def gum(tmp_path):
    gum = tmp_path / "gum"
    (gum / "const").mkdir(parents=True)
    (gum / "splits.md").write_text(SPLITS, encoding="utf-8")
    for name, n in (("news_one", 1), ("reddit_two", 2), ("news_three", 3), ("bio_four", 4), ("court_five", 5)):
        trees = "".join(TREE.format(f"{name}{i}") for i in range(n))
        (gum / "const" / f"GUM_{name}.ptb").write_text(trees, encoding="utf-8")
    return gum


def test_scripts_gum_takes_the_official_parts(gum, tmp_path):
    output = run("gum.py", gum, tmp_path / "out" / "gum")
    assert output.splitlines() == ["train: 9 trees, 27 tokens", "dev: 1 trees, 3 tokens", "test: 3 trees, 9 tokens"]
    train, dev, test = (
        (tmp_path / "out" / "gum" / f"{part}.mrg").read_text("utf-8") for part in ("train", "dev", "test")
    )
    assert dev == "(ROOT (S (NP-SBJ (PRP It)) (VP (VBZ news_one0)) (. .)))\n"
    assert re.findall(r"VBZ (\w+)\d\)", train) == ["bio_four"] * 4 + ["court_five"] * 5
    assert re.findall(r"VBZ (\w+)\d\)", test) == ["news_three"] * 3


def test_scripts_gum_takes_only_genres_whose_texts_may_be_sold(gum, tmp_path):
    (gum / "splits.md").write_text(SPLITS + "  * GUM_fiction_six\n  * GUM_whow_seven\n", encoding="utf-8")
    for name in ("fiction_six", "whow_seven"):
        (gum / "const" / f"GUM_{name}.ptb").write_text(TREE.format(name), encoding="utf-8")
    assert run("gum.py", gum, tmp_path / "out").startswith("train: 11 trees")
    assert run("gum.py", gum, tmp_path / "out", "--genres", "free").startswith("train: 9 trees")
    assert "fiction" not in (tmp_path / "out" / "train.mrg").read_text("utf-8")


SAGA = "( (IP-MAT (NP-SBJ (PRO-N {0}-ég)) (VBPI sjá) (. .-.)) (ID {0},.{1}))\n\n"


def words_of(path):
    return [tree.words[0] for tree in read_trees(path)]


def test_scripts_treebanks_gives_whole_documents_to_each_part(tmp_path):
    with zipfile.ZipFile(tmp_path / "icepahc.zip", "w") as archive:
        for name in map(str, range(20)):
            archive.writestr(f"x-1/finished/{name}.psd", "".join(SAGA.format(name, i) for i in range(5)))
        archive.writestr("x-1/additions/no.psd", SAGA.format("no", 0))
    output = run("treebanks.py", "split", "icepahc", tmp_path, tmp_path / "out", "--most", 32)
    assert output.splitlines()[:3] == [
        "test: 4 of 10 trees, 12 tokens",
        "dev: 4 of 10 trees, 12 tokens",
        "train: 32 of 80 trees, 96 tokens",
    ]
    run("treebanks.py", "split", "icepahc", tmp_path, tmp_path / "whole")
    parts = [words_of(tmp_path / "whole" / f"{part}.mrg") for part in ("train", "dev", "test")]
    assert list(map(len, parts)) == [80, 10, 10]
    assert all(part.count(word) == 5 for part in parts for word in part)
    assert not any("no" in part for part in parts)
    assert words_of(tmp_path / "out" / "test.mrg") != words_of(tmp_path / "whole" / "test.mrg")[:4]
    run("treebanks.py", "split", "icepahc", tmp_path, tmp_path / "other", "--seed", 1)
    assert words_of(tmp_path / "other" / "test.mrg") != parts[2]
    config = load_config(tmp_path / "whole" / "config.cfg").interpolate()
    assert config["nlp"]["lang"] == config["components"]["lpcfg_parser"]["learner"]["lang"] == "is"
    assert config["corpora"]["train"]["path"] == str(tmp_path / "whole" / "train.mrg")


def test_scripts_treebanks_keeps_a_treebank_s_own_parts_and_draws_the_others(tmp_path):
    for folder, n in (("train", 20), ("test", 3)):
        (tmp_path / "greynir" / folder).mkdir(parents=True)
        for i in range(n):
            tree = f"( (S0 (P (NP (fn_et_p1 {folder}{i})) (so_gm_p1 sé)))) \n\n"
            (tmp_path / "greynir" / folder / f"{i}.gld").write_text(tree, encoding="utf-8")
    run("treebanks.py", "split", "greynir", tmp_path, tmp_path / "out")
    assert words_of(tmp_path / "out" / "test.mrg") == ["test0", "test1", "test2"]
    assert len(words_of(tmp_path / "out" / "dev.mrg")) == 2
    assert load_config(tmp_path / "out" / "config.cfg").interpolate()["corpora"]["train"]["coarse_tags"]
    assert all(
        word.startswith("train") for part in ("train", "dev") for word in words_of(tmp_path / "out" / f"{part}.mrg")
    )


def test_scripts_treebanks_cuts_few_files_into_runs_and_says_what_is_broken(tmp_path):
    (tmp_path / "helipad").mkdir()
    trees = "".join(SAGA.format(i // 100, i) for i in range(2500)) + "( (IP-MAT (NP-SBJ (PRO-N a)) b))\n"
    (tmp_path / "helipad" / "one.psd").write_text(trees, encoding="utf-8")
    output = run("treebanks.py", "split", "helipad", tmp_path, tmp_path / "out")
    assert output.count("Left out: ") == 1
    for part, n in (("test", 3), ("dev", 3), ("train", 19)):
        words = words_of(tmp_path / "out" / f"{part}.mrg")
        assert set(Counter(words).values()) == {100}
        assert len(words) == 100 * n


def test_scripts_treebanks_leaves_out_texts_that_not_everyone_may_use(tmp_path):
    terms = {
        "a": "Public domain",
        "b": "Creative Commons Attribution-ShareAlike License 3.0",
        "c": "Creative Commons Share-Alike Attribution Non-Commercial License.",
        "d": "fair use",
    }
    for folder in ("treebank", "metadata"):
        (tmp_path / "keyaki" / folder).mkdir(parents=True)
    for name, own in terms.items():
        (tmp_path / "keyaki" / "metadata" / f"{name}.txt").write_text(
            f"title: x\nterms of use: {own}\n", encoding="utf-8"
        )
        tree = f"( (IP-MAT (PP-SBJ (NP (N {name})) (P-ROLE が)) (VB 走る) (PU 。)) (ID 1_{name}))\n\n"
        (tmp_path / "keyaki" / "treebank" / f"{name}.psd").write_text(150 * tree, encoding="utf-8")
    run("treebanks.py", "split", "keyaki", tmp_path, tmp_path / "out")
    kept = [word for part in ("train", "dev", "test") for word in words_of(tmp_path / "out" / f"{part}.mrg")]
    assert Counter(kept) == {"a": 150, "b": 150}


def test_scripts_penn_sample_takes_files_by_number(tmp_path):
    with zipfile.ZipFile(tmp_path / "treebank.zip", "w") as archive:
        for number in (199, 2, 169, 149, 170, 150, 1):
            archive.writestr(f"treebank/combined/wsj_{number:04}.mrg", f"( (X (CD {number})) )\n")
            archive.writestr(f"treebank/parsed/wsj_{number:04}.prd", "( (X) )\n")
    run("penn_sample.py", tmp_path / "treebank.zip", tmp_path / "penn")
    parts = {part: (tmp_path / "penn" / f"{part}.mrg").read_text("utf-8") for part in ("train", "dev", "test")}
    assert parts == {
        part: "".join(f"( (X (CD {number})) )\n" for number in numbers)
        for part, numbers in (("train", (1, 2, 149)), ("dev", (150, 169)), ("test", (170, 199)))
    }


def test_scripts_brown_writes_a_sentence_a_line_in_the_order_of_the_texts(tmp_path):
    with zipfile.ZipFile(tmp_path / "brown.zip", "w") as archive:
        archive.writestr("brown/cr09", "\n\tOf/in  1/2/cd ./.\n")
        archive.writestr("brown/ca01", "\n\n\tThe/at\tjury/nn said/vbd ./.\n\n\n\tIt/pps ended/vbd ./. \n")
        archive.writestr("brown/README", "no/nn text/nn\n")
    run("brown.py", tmp_path / "brown.zip", tmp_path / "corpus" / "brown.txt")
    written = (tmp_path / "corpus" / "brown.txt").read_text("utf-8")
    assert written == "The/at jury/nn said/vbd ./.\nIt/pps ended/vbd ./.\nOf/in 1/2/cd ./.\n"


@pytest.mark.parametrize(("script", "message"), [("penn_sample.py", "has no trees"), ("brown.py", "has no sentences")])
def test_scripts_refuse_other_files(script, message, tmp_path):
    (tmp_path / "some.zip").write_text("no zip", encoding="utf-8")
    assert "expected the zip file" in run(script, tmp_path / "some.zip", tmp_path / "out", code=2)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("brown/README", "nothing")
    assert message in run(script, tmp_path / "empty.zip", tmp_path / "out", code=2)
    assert not (tmp_path / "out").exists()


def test_scripts_masc_cleans_trees_and_keeps_documents_of_each_genre_aside(tmp_path):
    dev = runpy.run_path(str(SCRIPTS / "masc.py"))["DEV"]
    trees = {name: "( (S (NP (PRP It)) (VP (VBZ works))) )" for name in (*dev, "wsj_0001", "other")}
    trees["other"] = """
        ( (S (EDITED (NP (PRP I))) (NP (NML (NN post) (HYPH -) (NN war)) (NNS years)) (CODE x)
             (VP (VBD came) (PP (TO to) (NP (DT an) (NN end))))) )
        ( (S (NP (PRP It)) (VP (VBZ isRSQUOt))) )"""
    with zipfile.ZipFile(tmp_path / "masc.zip", "w") as archive:
        for name, text in trees.items():
            archive.writestr(f"repository/Propbank/{name}.mrg", text)
    output = run("masc.py", tmp_path / "masc.zip", tmp_path / "out")
    assert output.splitlines() == [
        "train: 1 trees, 8 tokens of 1 documents",
        f"dev: {len(dev)} trees, {2 * len(dev)} tokens of {len(dev)} documents",
    ]
    assert (tmp_path / "out" / "train.mrg").read_text("utf-8") == (
        "(ROOT (S (NP (NN post) (: -) (NN war) (NNS years)) (VP (VBD came) (PP (IN to) (NP (DT an) (NN end))))))\n"
    )
    (tmp_path / "none").mkdir()
    assert "MASC's files of trees" in run("masc.py", tmp_path / "none", tmp_path / "out", code=2)


CROSSING = "(ROOT (S (NP (DT The)) (VP (NN ferry) (VBD left) (NP (DT the) (NN harbour))) (. .)))"
CORRECT = "(ROOT (S (NP (DT The) (NN ferry)) (VP (VBD left) (NP (DT the) (NN harbour))) (. .)))"
DEPENDENCIES = """1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_
2\tferry\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tleft\t_\tVERB\tVBD\t_\t0\troot\t_\t_
4\tthe\t_\tDET\tDT\t_\t5\tdet\t_\t_
5\tharbour\t_\tNOUN\tNN\t_\t3\tobj\t_\t_
6\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""


def test_scripts_consistent_gum_parses_again_what_contradicts_dependencies(sample_grammar, tmp_path):
    gum = tmp_path / "gum"
    for folder in ("const", "dep"):
        (gum / folder).mkdir(parents=True)
    (gum / "splits.md").write_text(SPLITS, encoding="utf-8")
    for name, tree in (("bio_four", CROSSING), ("court_five", CORRECT)):
        (gum / "const" / f"GUM_{name}.ptb").write_text(tree, encoding="utf-8")
        (gum / "dep" / f"GUM_{name}.conllu").write_text(DEPENDENCIES, encoding="utf-8")
    assert "2 trees" not in run("consistent_gum.py", "halves", gum, tmp_path / "out")
    assert (tmp_path / "out" / "even.mrg").read_text("utf-8") == CROSSING + "\n"
    assert (tmp_path / "out" / "odd.mrg").read_text("utf-8") == CORRECT + "\n"
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser").learned = sample_grammar
    nlp.to_disk(tmp_path / "model")
    models = tmp_path / "model", tmp_path / "model"
    output = run("consistent_gum.py", "mend", gum, tmp_path / "out", *models, "--like", SAMPLE / "train.mrg")
    assert "1 trees contradict their dependencies; 1 of them were replaced" in output
    assert (tmp_path / "out" / "train.mrg").read_text("utf-8") == 2 * (CORRECT + "\n")
    assert "EVEN and ODD" in run("consistent_gum.py", "mend", gum, tmp_path / "out", code=2)


PLAIN = """
(S (NP (DT The) (NN clock)) (VP (VBD stopped) (PP (IN in) (NP (DT the) (NN hall)))) (. .))
(S (NP (DT the) (NN plumber)) (VP (VBD said) (SBAR (S (NP (PRP it)) (VP (VBD worked))))) (. .))
(S (NP (PRP She)) (VP (VBZ is) (PP (IN at) (NP (NN home)))) (. .))
(S (NP (PRP we)) (VP (VBD had) (VP (VBN known) (PP (IN of) (NP (PRP it))))) (. .))
(S (NP (DT A) (NN clock)) (VP (VBD stood) (PP (IN in) (NP (DT the) (NN corner)))) (. .))
(S (NP (DT The) (NNS police)) (VP (VBP find) (NP (DT a) (JJ lost) (NN clock))) (. .))
(S (NP (PRP We)) (VP (MD will) (VP (VB find) (NP (PRP it)))) (. .))
(S (NP (PRP They)) (VP (VBD came) (PP (IN in) (NP (NNS boats)))) (. .))
(S (NP (DT The) (NN door)) (VP (VBD was) (ADJP (JJ green))) (. .))
(S (NP (PRP He)) (VP (VBD wound) (NP (DT the) (NN clock))) (. .))
(S (NP (PRP She)) (VP (VBD sold) (NP (DT the) (NN key))) (. .))
(S (NP (DT The) (NN plumber)) (VP (VBD left)) (. .))
(S (NP (DT The) (NN key)) (VP (VBD was) (VP (VBN found))) (. .))
"""
REWRITTEN = {
    "quoted": r"\(SINV \(`` .+\(, ,\) \('' .\) \(VP \(VBD \w+\)\) \(NP \(DT the\) \(NN plumber\)\) \(\. \.\)\)",
    "spoken": r"\(S(INV)? \(`` .\) \(SBARQ .+ \(\. \?\)\) \('' .\) .*\(VBD asked\)",
    "parted": r"\(PRN \(, ,\) .*\(, ,\)",
    "tagged": r"\(SQ \(S \(NP \(PRP She\)\) .+ \(, ,\) \(SQ \(VBZ is\) \(RB n't\) \(NP \(PRP she\)\)\) \(\. \?\)\)",
    "had": r"\(SBAR \(SINV \(VBD Had\) \(NP \(PRP we\)\) \(VP \(VBN known\)",
    "so": r"\(SINV \(ADVP \(RB \w+\)\) \(VP \(VBZ is\)\) \(NP \(PRP she\)\) \(\. \.\)\)",
    "placed": r"\(SINV \(PP \(IN In\) \(NP .+ corner\)\)\) \(VP \(VBD stood\)\) \(NP \(DT a\) \(NN clock\)\)",
    "headline": r"\(S \(NP \(NNS Police\)\) \(VP \(VBP Find\) \(NP \(JJ Lost\) \(NN Clock\)\)\)\)",
    "listed": r"\(VP \(VBD \w+\) \(PP \(PP \(IN in\) .+ \(PP \(IN in\) .+ \(CC \w+\) \(PP \(IN in\)",
    "related": r"\(S \(NP \(NP \(DT The\) \(NN clock\)\) \(SBAR \(WHNP \(W\w+ \w+\)\) \(S \(VP ",
    "asked": r"\(SBARQ \(WHNP .+\) \(SQ \(VP \(VBD stood\) .+\)\) \(\. \?\)\)",
    "told": r"\(ROOT \(S \(VP \(VB Find\) \(NP \(PRP it\)\)\) \(\. .\)\)\)",
    "short": r"\(S \(NP \(DT The\) \(NN clock\)\) \(VP \(VBD stopped\)",
    "what": r"\(FRAG .*\(NP \(WDT [Ww]hat\) \(DT a\) \(JJ lost\) \(NN clock\)\) \(\. !\)\)",
    "small": r"\(VP \(VBD? \w+\) \(S \(NP \(DT the\) \(NN door\)\) \(ADJP \(JJ green\)\)\)\)",
    "joined": r"\(S \(S \(NP .+\) \([,:] [,;]\) \(S \(NP .+ \(\. \.\)\)",
    "gapped": r"\(S \(S \(NP \(PRP He\)\) \(VP .+ \(CC and\) \(S \(NP [^V]+\) \(NP [^V]+ \(\. \.\)",
    "more": r"\(SBAR \(X \(DT The\) \(\w+ \w+\)\) .+ \(, ,\) \(X \(DT the\) ",
    "believed": r"\(SBARQ \(WHNP .+\) \(SQ \(VB. \w+\) \(NP \(PRP \w+\)\) \(VP \(VB \w+\) \(SBAR \(S \(VP ",
    "by_then": r"\(PP \(IN By\) \(NP \(NP \(DT the\) \(NN time\)\) \(SBAR \(S ",
    "facts": r"\(S \(NP \(DT The\) \(NN \w+\) \(SBAR \(IN that\) \(S .+ \(\. \.\)\)\)",
    "done": r"\(VP \(VBD? \w+\) \(S \(NP \(DT the\) \(NN key\)\) \(VP \(VBN found\)\)\)\)",
    "seen": r"\(VP \(VBD? \w+\) \(S \(NP \(PRP us\)\) \(VP \(VB find\) ",
    "left_out": r"\(, ,\) \(CC \w+\) \(S \(NP [^V]+\) \(VP \((VB.|MD) \w+\)( \(RB n't\))?\)\) \(\. \.\)",
    "verbed": r"\(VP \(VB (?!find)\w+\) \(NP \(PRP it\)\)",
    "pressed": r"\(S \(VP \(VB \w+\) \(NP \(NNS? \w+\)\) \(S \(VP \(TO to\) \(VP \(VB find\)",
    "often": r"(\(ADVP \(RB \w+\)|\(NP \(NP \(\w+ \w+\) \(NNS times\)\)) \(NP \(DT \w+\) \(NN \w+\)\)\)",
    "doubled": r"\(VP \(ADVP \(RBR \w+\) \(IN than\)\) \(VBD \w+\)",
    "never": r"\(SINV \(ADVP \(RB \w+\)( \(RB \w+\))?\) \((MD will|VBD had)\) \(NP \(PRP we\)\) \(VP ",
    "timed": r"\(SBAR \((NP|ADVP) .+ \(IN (before|after)\) \(S ",
    "shared": r"\(VP \(VBD (sold|wound)\) \(CC \w+\) \(VBD (sold|wound)\) \(NP ",
}


def test_scripts_rewritten_trees_have_every_construction(tmp_path):
    question = "(SBARQ (WHADVP (WRB Where)) (SQ (VBZ is) (NP (PRP it))) (. ?))\n"
    (tmp_path / "plain.mrg").write_text(3 * PLAIN + 40 * question, encoding="utf-8")
    output = run("rewritten_trees.py", tmp_path / "out.mrg", tmp_path / "plain.mrg", "--most", 30)
    lines = (tmp_path / "out.mrg").read_text("utf-8").splitlines()
    numbers = {name: int(n) for n, name in re.findall(r"(\d+) (\w+)", output)}
    assert numbers.keys() == REWRITTEN.keys()
    assert len(lines) == sum(numbers.values())
    assert len(list(read_trees(tmp_path / "out.mrg"))) == len(lines)
    for name, pattern in REWRITTEN.items():
        assert any(re.search(pattern, line) for line in lines), name
    again = run("rewritten_trees.py", tmp_path / "again.mrg", tmp_path / "plain.mrg", "--most", 30)
    assert (again, (tmp_path / "again.mrg").read_text("utf-8").splitlines()) == (output, lines)


def test_scripts_universal_fetches_a_treebank_whose_parts_are_kept_whole(tmp_path):
    name = "UD_Tamil-TTB"
    pinned = runpy.run_path(str(SCRIPTS / "universal.py"))["UNIVERSAL"][name]
    folder = tmp_path / "source" / name / pinned.commit
    folder.mkdir(parents=True)
    rows = "1\tமழை\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tபெய்தது\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    (folder / "ta_ttb-ud-train.conllu").write_text(250 * rows, "utf-8")
    (folder / "ta_ttb-ud-test.conllu.gz").write_bytes(gzip.compress((2 * rows).encode()))
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "source")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        source = f"http://127.0.0.1:{server.server_port}"
        assert run("universal.py", name, tmp_path / "assets" / name, "--source", source).startswith(
            f"{name}: 2 files\n"
        )
    run("treebanks.py", "split", name, tmp_path / "assets", tmp_path / "out")
    parts = {part: list(read_trees(tmp_path / "out" / f"{part}.mrg")) for part in ("train", "dev", "test")}
    assert len(parts["train"]) + len(parts["dev"]) == 250
    assert len(parts["test"]) == 2
    assert str(parts["test"][0]) == "(S (NP (NOUN மழை)) (VP (VERB பெய்தது)))"
    config = load_config(tmp_path / "out" / "config.cfg", interpolate=False)
    assert config["vars"]["learner"] == "pivot"
    assert config["components"]["lpcfg_parser"]["learner"]["heads"] == "dependencies"
    assert config["components"]["lpcfg_parser"]["learner"]["encoder"] == "auto"


def test_scripts_universal_keeps_nothing_if_a_server_fails(tmp_path):
    class Failing(SimpleHTTPRequestHandler):
        def do_GET(self):
            if "dev" in self.path:
                self.send_error(503)
            else:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"\n")

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Failing)) as server:
        source = f"http://127.0.0.1:{server.server_port}"
        said = run("universal.py", "UD_Tamil-TTB", tmp_path / "assets", "--source", source, code=1)
    assert "503" in said
    assert "try again" in said
    assert not (tmp_path / "assets").exists()


def test_scripts_encoders_fetches_what_has_the_checksum_only(tmp_path):
    (tmp_path / "mirror").mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / "mirror" / name).write_text("{}")
    fetch = ("encoders.py", "fetch", "multilingual-e5-small", tmp_path / "out", "--source", tmp_path / "mirror")
    assert "tokenizer.json with the SHA-256 0b44a9d7" in run(*fetch, code=1)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["config.json"]
    (tmp_path / "mirror" / "tokenizer.json").unlink()
    assert "No such file" in run(*fetch, code=1)
    assert run("encoders.py", "fetch", "auto", tmp_path / "none") == ""
    assert not (tmp_path / "none").exists()


def test_scripts_encoders_makes_a_file_of_a_folder(tmp_path, monkeypatch):
    make_encoder()  # skips where a library is missing
    write_hub(tmp_path / "hub", "multilingual-e5")
    (tmp_path / "train.mrg").write_text("(S (NP (DT the) (NN dog)) (VP (VBD barked)))\n", encoding="utf-8")
    monkeypatch.syspath_prepend(SCRIPTS)
    make = runpy.run_path(str(SCRIPTS / "encoders.py"))["make"]
    make("multilingual-e5-small", tmp_path / "hub", tmp_path, tmp_path / "training" / "x.encoder", epochs=0)
    encoder = PretrainedEncoder.from_disk(tmp_path / "training" / "x.encoder").encoder
    assert encoder.card["vocabulary"].endswith(" of 36 pieces, by train.mrg")
